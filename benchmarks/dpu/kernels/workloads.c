/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dozen kernels, of which WORKLOAD names one. Tasklets work on data of their own, so that they
 * take different branches, and so do DPUs with different seeds. With HOST it is a program for the
 * host, which computes the same.
 */
#include <stdint.h>

#define WORDS 256
#define BLOCK 64

#ifdef HOST
#include <stdio.h>
#include <stdlib.h>
#define __host
static uint32_t tasklet, mram[NR_TASKLETS][WORDS];
static uint32_t rounds, seed, sums[NR_TASKLETS];
#define read_block(at, to) __builtin_memcpy(to, &mram[tasklet][at], 4 * BLOCK)
#define write_block(from, at) __builtin_memcpy(&mram[tasklet][at], from, 4 * BLOCK)
#else
#include <defs.h>
#include <mram.h>
__host uint32_t rounds, seed, sums[NR_TASKLETS];
__mram_noinit uint32_t mram[NR_TASKLETS][WORDS];
#define read_block(at, to) mram_read(&mram[me()][at], to, 4 * BLOCK)
#define write_block(from, at) mram_write(from, &mram[me()][at], 4 * BLOCK)
#endif

struct space {
    uint32_t words[WORDS];
    uint32_t more[WORDS];
};
static struct space __attribute__((aligned(8))) spaces[NR_TASKLETS];

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void fill(struct space *s, uint32_t *state)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        s->words[i] = next(state);
        s->more[i] = s->words[i] >> 24;
    }
}

static uint32_t vector_add(struct space *s, uint32_t turn)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < WORDS; at += BLOCK) {
        read_block(at, s->more);
        for (uint32_t i = 0; i < BLOCK; i++)
            s->more[i] += s->words[at + i];
        write_block(s->more, at);
        sum += s->more[turn % BLOCK];
    }
    return sum;
}

static uint32_t reduction(struct space *s, uint32_t turn)
{
    const int64_t *numbers = (const int64_t *)(const void *)s->words;
    int64_t sum = turn, low = INT64_MAX, high = INT64_MIN;
    for (uint32_t i = 0; i < WORDS / 2; i++) {
        sum += numbers[i];
        low = numbers[i] < low ? numbers[i] : low;
        high = numbers[i] > high ? numbers[i] : high;
    }
    return (uint32_t)(sum ^ low ^ high >> 32);
}

static uint32_t histogram(struct space *s, uint32_t turn)
{
    const uint8_t *bytes = (const uint8_t *)s->words;
    for (uint32_t i = 0; i < WORDS; i++)
        s->more[bytes[i + (turn & 511)]]++;
    return s->more[turn & 255];
}

static uint32_t scan(struct space *s, uint32_t turn)
{
    uint32_t sum = turn;
    for (uint32_t i = 0; i < WORDS; i++) {
        sum += s->words[i];
        s->more[i] = sum;
    }
    return sum;
}

static uint32_t choose(struct space *s, uint32_t turn)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        if ((s->words[i] >> (turn & 31) & 1) != 0)
            s->more[kept++] = s->words[i];
    return kept;
}

static uint32_t gemv(struct space *s, uint32_t turn)
{
    uint32_t sum = 0;
    for (uint32_t row = 0; row < WORDS; row += 16)
        for (uint32_t i = 0; i < 16; i++)
            sum += s->words[row + i] * s->more[(i + turn) & 255];
    return sum;
}

static int later(uint32_t a, uint32_t b)
{
    return a > b;
}

/* Sorts a half; the next turn finds it in another order. */
static uint32_t sort(struct space *s, uint32_t turn)
{
    uint32_t *w = s->words + (turn & 1) * (WORDS / 2), seed = turn + w[3] + 1;
    for (uint32_t gap = WORDS / 4; gap != 0; gap /= 2)
        for (uint32_t i = gap; i < WORDS / 2; i++) {
            uint32_t value = w[i], j = i;
            for (; j >= gap && later(w[j - gap], value); j -= gap)
                w[j] = w[j - gap];
            w[j] = value;
        }
    uint32_t middle = w[WORDS / 4];
    for (uint32_t i = 0; i < WORDS / 2; i++)
        w[i] ^= next(&seed);
    return middle;
}

static uint32_t search(struct space *s, uint32_t turn)
{
    uint32_t found = 0, key = turn;
    for (uint32_t i = 0; i < WORDS; i++)
        s->more[i] = i << 24;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t low = 0, high = WORDS;
        next(&key);
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (s->more[middle] < (key ^ s->words[i]))
                low = middle + 1;
            else
                high = middle;
        }
        found += low;
    }
    return found;
}

static uint32_t transpose(struct space *s, uint32_t turn)
{
    const uint16_t *from = (const uint16_t *)(const void *)s->words;
    uint16_t *to = (uint16_t *)(void *)s->more;
    for (uint32_t r = 0; r < 16; r++)
        for (uint32_t c = 0; c < 16; c++)
            to[c * 16 + r] = from[r * 16 + c];
    return to[turn & 255];
}

static uint32_t match(struct space *s, uint32_t turn)
{
    const uint8_t *text = (const uint8_t *)s->words;
    uint32_t found = 0;
    for (uint32_t i = 0; i + 4 < sizeof s->words; i++) {
        uint32_t length = 0;
        while (length < 4 && (text[i + length] & 3) == ((turn >> length) & 3))
            length++;
        found += length;
    }
    return found;
}

static uint32_t sparse(struct space *s, uint32_t turn)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        if ((s->words[i] & 3) != 0)
            sum += (int64_t)(int32_t)s->words[i] * (int32_t)s->more[(s->words[i] >> 8) & 255];
    return (uint32_t)sum ^ (uint32_t)(sum >> 32) ^ turn;
}

static uint32_t checksum(struct space *s, uint32_t turn)
{
    uint32_t crc = ~turn;
    for (uint32_t i = 0; i < WORDS; i++) {
        crc ^= s->words[i];
        for (uint32_t bit = 0; bit < 8; bit++)
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return crc;
}

static uint32_t divide(struct space *s, uint32_t turn)
{
    uint32_t sum = turn;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t a = s->words[i], b = s->words[i + 64] >> (a & 31);
        while (b != 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        sum += a;
    }
    return sum;
}

static uint32_t real(struct space *s, uint32_t turn)
{
    float sum = (float)turn;
    for (uint32_t i = 0; i < 64; i++)
        sum = sum * 0.5f + (float)(s->words[i] >> 8);
    return (uint32_t)(sum / 1024.0f);
}

static uint32_t run(uint32_t id)
{
    struct space *s = &spaces[id];
    uint32_t state = 2463534242u + 97 * id + 40503 * seed, sum = 0;
    fill(s, &state);
    for (uint32_t at = 0; at < WORDS; at += BLOCK)
        write_block(s->words + at, at);
    for (uint32_t turn = 0; turn < rounds; turn++)
        sum = sum * 31 + WORKLOAD(s, turn + id);
    return sum;
}

#ifdef HOST
int main(int argc, char **argv)
{
    rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    for (tasklet = 0; tasklet < NR_TASKLETS; tasklet++) {
        sums[tasklet] = run(tasklet);
        printf("%u ", sums[tasklet]);
    }
    return 0;
}
#else
int main(void)
{
    uint32_t id = me();
    sums[id] = run(id);
    return 0;
}
#endif
