/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c: the allocator of memory that is never freed. */
#include <alloc.h>
#include <dpufault.h>
#include <dpuruntime.h>

#include "heap.h"

ATOMIC_BIT_INIT(__heap_pointer);

/* The end of WRAM, by the linker: its size is of the chip that a program is built for. */
extern char __sys_heap_end[];

/* Kept from launch to launch, as the rest of WRAM is. */
volatile uint32_t __sys_heap_pointer = (uint32_t)__sys_heap_pointer_reset;

void *__heap_take(size_t size, size_t alignment)
{
    uint32_t start = (__sys_heap_pointer + alignment - 1) & (0u - alignment);

    if (start > (uint32_t)__sys_heap_end || size > (uint32_t)__sys_heap_end - start) {
        __dpu_fault(__FAULT_ALLOC_HEAP_FULL__);
    }
    __sys_heap_pointer = start + size;
    return (void *)start;
}

void *mem_alloc_nolock(size_t size)
{
    return __heap_take(size, 8);
}

void *mem_alloc(size_t size)
{
    void *memory;

    ATOMIC_BIT_ACQUIRE(__heap_pointer);
    memory = __heap_take(size, 8);
    ATOMIC_BIT_RELEASE(__heap_pointer);
    return memory;
}

void *mem_reset(void)
{
    uint32_t start = (uint32_t)__sys_heap_pointer_reset;

    ATOMIC_BIT_ACQUIRE(__heap_pointer);
    __sys_heap_pointer = start;
    ATOMIC_BIT_RELEASE(__heap_pointer);
    return (void *)start;
}
