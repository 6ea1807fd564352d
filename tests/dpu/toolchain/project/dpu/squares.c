/* SPDX-License-Identifier: BSD-3-Clause */
/* squares.c: a part of the DPU's program that is in an archive. */
#include <stdint.h>

uint64_t scaled_square(uint32_t value, uint32_t factor);

uint64_t scaled_square(uint32_t value, uint32_t factor)
{
    return (uint64_t)value * value * factor;
}
