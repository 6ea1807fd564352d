/* SPDX-License-Identifier: BSD-3-Clause */
/* sha256.h: SHA-256 (FIPS 180-4), for names and checks of cached files. No allocation, no state but
 * the structure's. */
#ifndef OFFCHIP_COMMON_SHA256_H
#define OFFCHIP_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"

#define SHA256_SIZE 32

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
};

void sha256_begin(struct sha256 *hash) OFFCHIP_SYMBOL(sha256_begin);
void sha256_add(struct sha256 *hash, const void *data, size_t size) OFFCHIP_SYMBOL(sha256_add);
void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_SIZE]) OFFCHIP_SYMBOL(sha256_end);

#endif
