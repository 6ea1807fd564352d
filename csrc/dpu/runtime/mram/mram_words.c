/* SPDX-License-Identifier: BSD-3-Clause */
/* mram_words.c: words of MRAM that tasklets change one after another. */
#include <mram_unaligned.h>

VMUTEX_INIT(__mram_unaligned_access_virtual_locks, 1 << __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK, 1);

uint8_t __dma_aligned __mram_unaligned_access_buffer[DPU_NR_THREADS * 8];

static uint16_t lock_of(uintptr_t address)
{
    return (address >> 3) & ((1 << __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK) - 1);
}

uint8_t *__mram_word_get(uintptr_t address)
{
    uint8_t *word = &__mram_unaligned_access_buffer[me() * 8];

    vmutex_lock(&__mram_unaligned_access_virtual_locks, lock_of(address));
    mram_read((const __mram_ptr void *)(address & ~(uintptr_t)7), word, 8);
    return word;
}

void __mram_word_put(uintptr_t address)
{
    mram_write(&__mram_unaligned_access_buffer[me() * 8],
               (__mram_ptr void *)(address & ~(uintptr_t)7), 8);
    vmutex_unlock(&__mram_unaligned_access_virtual_locks, lock_of(address));
}
