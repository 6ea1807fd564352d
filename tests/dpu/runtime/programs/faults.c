/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends in the fault that the statement makes. */
#include <alloc.h>
#include <assert.h>
#include <defs.h>
#include <mram_unaligned.h>
#include <profiling.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

STDOUT_BUFFER_INIT(64);
PROFILING_INIT(section);

__host volatile uint64_t zero, sink;
__dma_aligned uint8_t bytes[32];

int main(void)
{
    STATEMENT;
    return 0;
}
