/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes of a few words, for keys that ranks compute alike without a word to each other. */
#ifndef ACCL_HASH_H
#define ACCL_HASH_H

#include <stdint.h>

static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#endif
