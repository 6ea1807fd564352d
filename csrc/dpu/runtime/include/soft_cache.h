/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_cache.h: what the compiler makes of `*p` where p points into MRAM.
 *
 * Each tasklet has 8 bytes of WRAM, through which the word with the data goes. Nothing is kept
 * between two accesses, so that tasklets, and DMA of the same tasklet, see the same MRAM. Data is
 * aligned to its size.
 */
#ifndef DPU_RUNTIME_SOFT_CACHE_H
#define DPU_RUNTIME_SOFT_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t __mram_load8(uintptr_t address);
uint32_t __mram_load16(uintptr_t address);
uint32_t __mram_load32(uintptr_t address);
uint64_t __mram_load64(uintptr_t address);
/* The bytes around are written back as they were, undivided from other stores of this kind. */
void __mram_store8(uintptr_t address, uint32_t value);
void __mram_store16(uintptr_t address, uint32_t value);
void __mram_store32(uintptr_t address, uint32_t value);
void __mram_store64(uintptr_t address, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
