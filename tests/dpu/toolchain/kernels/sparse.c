/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse matrix, compressed by rows, times a vector; sums of 64 bits and their remainders. */
#include "kernel.h"

#define ROWS 60
#define ENTRIES 400
HOST uint32_t starts[ROWS + 1], columns[ENTRIES];
HOST int32_t values[ENTRIES], vector[ROWS];
HOST int64_t result[ROWS];
HOST int32_t quotients[ROWS], remainders[ROWS];

int main(void)
{
    for (uint32_t r = me(); r < ROWS; r += NR_TASKLETS) {
        int64_t sum = 0;
        for (uint32_t e = starts[r]; e < starts[r + 1]; e++)
            sum += (int64_t)values[e] * vector[columns[e]];
        result[r] = sum;
        int32_t divisor = vector[r] ? vector[r] : 7;
        quotients[r] = values[r] / divisor;
        remainders[r] = values[r] % divisor;
    }
    return 0;
}
