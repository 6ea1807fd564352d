/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c: RESULT = TYPE OPERATION TYPE for each number of an array, to count instructions. */
#include <defs.h>
#include <stdint.h>

#define ELEMENTS 128
__host uint32_t rounds;
__host TYPE by[8 / sizeof(TYPE)]; /* all the same */
__host TYPE numbers[NR_TASKLETS][ELEMENTS];
__host RESULT results[NR_TASKLETS][ELEMENTS];

int main(void)
{
    TYPE *own = numbers[me()], scalar = by[0];
    RESULT *out = results[me()];

    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < ELEMENTS; i++)
            out[i] = own[i] OPERATION scalar;
    return 0;
}
