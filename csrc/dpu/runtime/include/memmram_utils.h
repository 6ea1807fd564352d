/* SPDX-License-Identifier: BSD-3-Clause */
/* memmram_utils.h: sizes and alignments of transfers. */
#ifndef DPU_RUNTIME_MEMMRAM_UTILS_H
#define DPU_RUNTIME_MEMMRAM_UTILS_H

/* Alignment that DMA wants of addresses and sizes, and the bits of an address that it drops. */
#define DMA_ALIGNMENT 8
#define DMA_OFF_MASK (DMA_ALIGNMENT - 1)
/* The next multiple of DMA_ALIGNMENT. */
#define DMA_ALIGNED(x) ALIGN(x, DMA_ALIGNMENT)
/* The unit in which the run time's own functions copy. */
#define MRAM_CACHE_SIZE 8

/* The next multiple of A, a power of two; and the same with A - 1. */
#define ALIGN(x, a) ALIGN_MASK((x), (a) - 1)
#define ALIGN_MASK(x, mask) (((x) + (mask)) & ~(mask))

#define MIN(a, b) ((a) < (b) ? (a) : (b))

#endif
