/* SPDX-License-Identifier: BSD-3-Clause */
/* Every tasklet applies an operation to numbers in WRAM; TYPE and OPERATION are given. */
#include <defs.h>
#include <stdint.h>

__host uint32_t rounds;
__host TYPE scalar;
__host TYPE numbers[NR_TASKLETS][ELEMENTS];

int main(void)
{
    TYPE *own = numbers[me()], by = scalar;

    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < ELEMENTS; i++)
            own[i] = own[i] OPERATION by;
    return 0;
}
