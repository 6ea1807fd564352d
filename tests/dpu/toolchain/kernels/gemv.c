/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix times a vector; products of 32 bits. */
#include "kernel.h"

#define COLUMNS 64
#define ROWS 48
IN_MRAM int32_t matrix[ROWS][COLUMNS];
HOST int32_t vector[COLUMNS], result[ROWS];
static ALIGNED int32_t row[NR_TASKLETS][COLUMNS];

int main(void)
{
    uint32_t id = me();
    for (uint32_t r = id; r < ROWS; r += NR_TASKLETS) {
        read_mram((uint32_t)&matrix[r], row[id], sizeof row[id]);
        uint32_t sum = 0;
        for (uint32_t c = 0; c < COLUMNS; c++)
            sum += (uint32_t)row[id][c] * (uint32_t)vector[c];
        result[r] = (int32_t)sum;
    }
    return 0;
}
