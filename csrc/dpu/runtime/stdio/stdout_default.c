/* SPDX-License-Identifier: BSD-3-Clause */
/* stdout_default.c: the buffer of a program that does not choose one with STDOUT_BUFFER_INIT. */
#include <stdio.h>

#define SIZE (1 << 20)

/*
 * Not kept by itself: where printing is only in functions that nothing calls, MRAM has no buffer,
 * and DPU_MRAM_HEAP_POINTER is the same as in a program that never mentions printing. Programs that
 * are loaded one after the other count on it to find each other's data.
 */
unsigned char __dma_aligned __mram_ptr __section(".bss..mram.noinit.stdout") __stdout_buffer[SIZE];
const unsigned int __stdout_buffer_size = SIZE;
