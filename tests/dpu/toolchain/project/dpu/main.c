/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: adds squares of what is in MRAM, by all tasklets. */
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>
#include <stdio.h>

#include "common.h"

#define BLOCK 64

uint64_t scaled_square(uint32_t value, uint32_t factor);

__host struct arguments ARGUMENTS;
__host uint64_t total;
__mram_noinit uint32_t input[ELEMENTS];

static uint64_t partial[NR_TASKLETS];
BARRIER_INIT(all_done, NR_TASKLETS);

int main(void)
{
    uint32_t *block;
    uint64_t sum = 0;

    if (me() == 0) {
        mem_reset();
    }
    barrier_wait(&all_done);
    block = mem_alloc(BLOCK * sizeof(uint32_t));
    for (uint32_t i = me() * BLOCK; i < ARGUMENTS.elements; i += BLOCK * NR_TASKLETS) {
        mram_read(&input[i], block, BLOCK * sizeof(uint32_t));
        for (uint32_t j = 0; j < BLOCK; j++) {
            sum += scaled_square(block[j], ARGUMENTS.factor);
        }
    }
    partial[me()] = sum;
    barrier_wait(&all_done);
    if (me() == 0) {
        total = 0;
        for (unsigned int i = 0; i < NR_TASKLETS; i++) {
            total += partial[i];
        }
        printf("%u tasklets: %lu\n", NR_TASKLETS, (unsigned long)total);
    }
    return 0;
}
