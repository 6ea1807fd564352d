/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_cache.c: MRAM accessed a datum at a time. */
#include <soft_cache.h>

#include <atomic_bit.h>
#include <dpuconst.h>
#include <mram.h>

ATOMIC_BIT_INIT(__soft_cache);

/* Read and written in any size. */
typedef uint16_t __attribute__((may_alias)) half_t;
typedef uint32_t __attribute__((may_alias)) word_t;

static uint64_t __dma_aligned __section(".data.sw_cache") lines[DPU_NR_THREADS];

__DPU_INLINE uint8_t *load_word(uintptr_t address)
{
    uint8_t *line = (uint8_t *)&lines[__dpu_me()];

    mram_read((const __mram_ptr void *)(address & ~(uintptr_t)7), line, 8);
    return line + (address & 7);
}

__DPU_INLINE void store_word(uintptr_t address)
{
    mram_write(&lines[__dpu_me()], (__mram_ptr void *)(address & ~(uintptr_t)7), 8);
}

uint32_t __mram_load8(uintptr_t address)
{
    return *load_word(address);
}

uint32_t __mram_load16(uintptr_t address)
{
    return *(const half_t *)(const void *)load_word(address);
}

uint32_t __mram_load32(uintptr_t address)
{
    return *(const word_t *)(const void *)load_word(address);
}

uint64_t __mram_load64(uintptr_t address)
{
    load_word(address);
    return lines[__dpu_me()];
}

void __mram_store8(uintptr_t address, uint32_t value)
{
    ATOMIC_BIT_ACQUIRE(__soft_cache);
    *load_word(address) = (uint8_t)value;
    store_word(address);
    ATOMIC_BIT_RELEASE(__soft_cache);
}

void __mram_store16(uintptr_t address, uint32_t value)
{
    ATOMIC_BIT_ACQUIRE(__soft_cache);
    *(half_t *)(void *)load_word(address) = (uint16_t)value;
    store_word(address);
    ATOMIC_BIT_RELEASE(__soft_cache);
}

void __mram_store32(uintptr_t address, uint32_t value)
{
    ATOMIC_BIT_ACQUIRE(__soft_cache);
    *(word_t *)(void *)load_word(address) = value;
    store_word(address);
    ATOMIC_BIT_RELEASE(__soft_cache);
}

void __mram_store64(uintptr_t address, uint64_t value)
{
    lines[__dpu_me()] = value;
    store_word(address);
}
