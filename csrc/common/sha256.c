/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, uint32_t n)
{
    return x >> n | x << (32 - n);
}

static uint32_t read_word(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], v[8];
    for (uint32_t i = 0; i < 16; i++)
        w[i] = read_word(block + 4 * (size_t)i);
    for (uint32_t i = 16; i < 64; i++) {
        uint32_t near = w[i - 2], far = w[i - 15];
        w[i] = w[i - 16] + (turn(far, 7) ^ turn(far, 18) ^ far >> 3) + w[i - 7] +
               (turn(near, 17) ^ turn(near, 19) ^ near >> 10);
    }

    memcpy(v, state, sizeof v);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t high = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
        uint32_t first = v[7] + high + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
        uint32_t low = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        uint32_t second = low + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }

    for (uint32_t i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_begin(struct sha256 *hash)
{
    *hash = (struct sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                  0x1f83d9ab, 0x5be0cd19},
    };
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size > 0) {
        size_t at = hash->size % 64, part = size < 64 - at ? size : 64 - at;
        memcpy(hash->block + at, from, part);
        hash->size += part;
        from += part;
        size -= part;
        if (hash->size % 64 == 0)
            add_block(hash->state, hash->block);
    }
}

void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_SIZE])
{
    uint64_t bits = hash->size * 8;
    uint8_t length[8];
    for (uint32_t i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));

    sha256_add(hash, "\x80", 1);
    while (hash->size % 64 != 56)
        sha256_add(hash, "", 1);
    sha256_add(hash, length, sizeof length);
    for (uint32_t i = 0; i < SHA256_SIZE; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
