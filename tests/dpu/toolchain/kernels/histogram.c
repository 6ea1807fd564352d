/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes counted by all tasklets in one table under a lock for every quarter of it. */
#include "kernel.h"

#define BLOCK 256
HOST uint32_t count;
HOST uint32_t bins[256];
IN_MRAM uint8_t a[16384];
static ALIGNED uint8_t block[NR_TASKLETS][BLOCK];
static BIT unsigned char bits[4];

int main(void)
{
    uint32_t id = me();
    for (uint32_t start = id * BLOCK; start < count; start += NR_TASKLETS * BLOCK) {
        read_mram((uint32_t)(a + start), block[id], BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint8_t value = block[id][i];
            lock(&bits[value >> 6]);
            bins[value]++;
            unlock(&bits[value >> 6]);
        }
    }
    return 0;
}
