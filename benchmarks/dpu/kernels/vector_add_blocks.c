/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds vectors of MRAM in blocks of 1,024 bytes. An element takes ten instructions, as many as the
 * vendor's compiler makes of PrIM's VA.
 */
#include <defs.h>
#include <mram.h>
#include <stdint.h>

#define BLOCK 1024

__host uint32_t bytes;
__dma_aligned int32_t blocks[NR_TASKLETS][2][BLOCK / sizeof(int32_t)];

int main(void)
{
    int32_t *from = blocks[me()][0], *to = blocks[me()][1];
    uintptr_t first = (uintptr_t)DPU_MRAM_HEAP_POINTER, second = first + bytes;

    for (uint32_t at = me() * BLOCK; at < bytes; at += BLOCK * NR_TASKLETS) {
        mram_read((__mram_ptr void *)(first + at), from, BLOCK);
        mram_read((__mram_ptr void *)(second + at), to, BLOCK);
        int32_t *a = from, *b = to, x, y;
        uint32_t left = BLOCK / sizeof(int32_t);
        __asm__ volatile("1: lw %[x], %[a], 0; lw %[y], %[b], 0; add %[y], %[y], %[x]\n"
                         "sw %[b], 0, %[y]; move %[x], %[a]; move %[y], %[b]; add %[a], %[x], 4\n"
                         "add %[b], %[y], 4; sub %[left], %[left], 1; jneq %[left], 0, 1b"
                         : [a] "+r"(a), [b] "+r"(b), [x] "=&r"(x), [y] "=&r"(y), [left] "+r"(left)
                         :
                         : "memory");
        mram_write(to, (__mram_ptr void *)(second + at), BLOCK);
    }
    return 0;
}
