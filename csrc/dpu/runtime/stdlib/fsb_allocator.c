/* SPDX-License-Identifier: BSD-3-Clause */
/* fsb_allocator.c: blocks of one size. */
#include <alloc.h>
#include <atomic_bit.h>
#include <dpufault.h>
#include <fsb_allocator.h>
#include <stdint.h>

ATOMIC_BIT_INIT(__fsb_lock);

fsb_allocator_t fsb_alloc(unsigned int block_size, unsigned int nb_of_blocks)
{
    uintptr_t size = block_size == 0 ? 8 : ((uintptr_t)block_size + 7) & ~(uintptr_t)7;
    uint64_t total = (uint64_t)size * nb_of_blocks + 8;
    uintptr_t start, block;
    void **list;

    if (block_size > 0xfffffff8u || total >= UINT32_MAX) {
        __dpu_fault(__FAULT_ALLOC_HEAP_FULL__);
    }
    list = mem_alloc((size_t)total);
    start = (uintptr_t)list + 8;
    list[0] = nb_of_blocks == 0 ? (void *)0 : (void *)start;
    block = start;
    for (unsigned int i = 1; i <= nb_of_blocks; i++) {
        *(void **)block = i == nb_of_blocks ? (void *)0 : (void *)(block + size);
        block += size;
    }
    return list;
}

void *fsb_get(fsb_allocator_t allocator)
{
    void **block;

    ATOMIC_BIT_ACQUIRE(__fsb_lock);
    block = *(void **volatile *)allocator;
    if (block != (void *)0)
        *allocator = *block;
    ATOMIC_BIT_RELEASE(__fsb_lock);
    return block;
}

void fsb_free(fsb_allocator_t allocator, void *ptr)
{
    ATOMIC_BIT_ACQUIRE(__fsb_lock);
    *(void **)ptr = *allocator;
    *allocator = ptr;
    ATOMIC_BIT_RELEASE(__fsb_lock);
}
