/* SPDX-License-Identifier: BSD-3-Clause */
/* b += a over MRAM, block by block. */
#include "kernel.h"

#define BLOCK 64
HOST uint32_t count;
IN_MRAM int32_t a[4096];
IN_MRAM int32_t b[4096];
static ALIGNED int32_t left[NR_TASKLETS][BLOCK], right[NR_TASKLETS][BLOCK];

int main(void)
{
    uint32_t id = me();
    for (uint32_t start = id * BLOCK; start < count; start += NR_TASKLETS * BLOCK) {
        read_mram((uint32_t)(a + start), left[id], sizeof left[id]);
        read_mram((uint32_t)(b + start), right[id], sizeof right[id]);
        for (uint32_t i = 0; i < BLOCK; i++)
            right[id][i] += left[id][i];
        write_mram(right[id], (uint32_t)(b + start), sizeof right[id]);
    }
    return 0;
}
