/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buddy_alloc.c: blocks whose sizes are powers of two, split and joined in halves.
 *
 * A byte for each unit of 16 bytes says what starts there: nothing, a free block of an order, or
 * an allocated one. So blocks need no headers. Free ones of an order are in a list that runs
 * through the blocks themselves.
 */
#include <alloc.h>
#include <atomic_bit.h>
#include <buddy_alloc.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UNIT_BITS 4
#define ORDERS 12 /* 16 << 11 is 32768 */
#define ALLOCATED 0x80u

struct free_block {
    struct free_block *next;
    struct free_block *previous;
};

ATOMIC_BIT_INIT(__buddy_lock);

static uint8_t *area;
static uint8_t *starts; /* 0, or order + 1, and ALLOCATED */
static uint32_t area_size;
static uint32_t highest; /* the order of the whole area */
static struct free_block *lists[ORDERS];

static uint32_t unit_of(const void *block)
{
    return (uint32_t)((const uint8_t *)block - area) >> UNIT_BITS;
}

static void insert(void *memory, uint32_t order)
{
    struct free_block *block = memory;

    block->previous = NULL;
    block->next = lists[order];
    if (block->next != NULL)
        block->next->previous = block;
    lists[order] = block;
    starts[unit_of(block)] = (uint8_t)(order + 1);
}

static void take_out(struct free_block *block, uint32_t order)
{
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        lists[order] = block->next;
    if (block->next != NULL)
        block->next->previous = block->previous;
    starts[unit_of(block)] = 0;
}

static void empty(void)
{
    memset(starts, 0, area_size >> UNIT_BITS);
    memset(lists, 0, sizeof(lists));
    insert(area, highest);
}

void buddy_init(size_t size_of_heap)
{
    uint32_t order = 0;

    while (order + 1 < ORDERS && (2u << UNIT_BITS) << order <= size_of_heap)
        order++;
    ATOMIC_BIT_ACQUIRE(__buddy_lock);
    highest = order;
    area_size = (1u << UNIT_BITS) << order;
    area = mem_alloc(area_size);
    starts = mem_alloc(area_size >> UNIT_BITS);
    empty();
    ATOMIC_BIT_RELEASE(__buddy_lock);
}

void buddy_reset(void)
{
    ATOMIC_BIT_ACQUIRE(__buddy_lock);
    if (area != NULL)
        empty();
    ATOMIC_BIT_RELEASE(__buddy_lock);
}

/* The order of blocks for SIZE bytes, 1 or more. */
static uint32_t order_for(size_t size)
{
    uint32_t units = (uint32_t)(size - 1) >> UNIT_BITS;

    return units == 0 ? 0 : 32 - (uint32_t)__builtin_clz(units);
}

static void *allocate(size_t size)
{
    uint32_t wanted, order;
    struct free_block *block;

    if (size == 0 || size > area_size) {
        errno = EINVAL;
        return NULL;
    }
    wanted = order_for(size);
    for (order = wanted; order <= highest && lists[order] == NULL; order++)
        ;
    if (order > highest) {
        errno = ENOMEM;
        return NULL;
    }
    block = lists[order];
    take_out(block, order);
    while (order != wanted) {
        order--;
        insert((uint8_t *)block + ((1u << UNIT_BITS) << order), order);
    }
    starts[unit_of(block)] = (uint8_t)(ALLOCATED | (order + 1));
    return block;
}

/* The allocated block around POINTER, and its order; NULL and errno if there is none. */
static uint8_t *find(const void *pointer, uint32_t *order)
{
    uint32_t offset = (uint32_t)((const uint8_t *)pointer - area);

    if (area != NULL && offset < area_size && ((uintptr_t)pointer & 7) == 0) {
        for (*order = 0; *order <= highest; ++*order) {
            uint32_t unit = (offset >> UNIT_BITS) & ~((1u << *order) - 1);

            if (starts[unit] == (ALLOCATED | (*order + 1)))
                return area + (unit << UNIT_BITS);
        }
    }
    errno = EINVAL;
    return NULL;
}

static void release(void *pointer)
{
    uint32_t order;
    uint8_t *block = find(pointer, &order);

    if (block == NULL)
        return;
    starts[unit_of(block)] = 0;
    for (; order < highest; order++) {
        uint32_t size = (1u << UNIT_BITS) << order;
        uint8_t *buddy = area + ((uint32_t)(block - area) ^ size);

        if (starts[unit_of(buddy)] != order + 1)
            break;
        take_out((struct free_block *)(void *)buddy, order);
        if (buddy < block)
            block = buddy;
    }
    insert(block, order);
}

void *buddy_alloc(size_t size)
{
    void *block;

    ATOMIC_BIT_ACQUIRE(__buddy_lock);
    block = allocate(size);
    ATOMIC_BIT_RELEASE(__buddy_lock);
    return block;
}

void buddy_free(void *pointer)
{
    if (pointer == NULL)
        return;
    ATOMIC_BIT_ACQUIRE(__buddy_lock);
    release(pointer);
    ATOMIC_BIT_RELEASE(__buddy_lock);
}

static void *reallocate(void *pointer, size_t size)
{
    uint32_t order, held;
    uint8_t *block = find(pointer, &order);
    void *other;

    if (block == NULL)
        return NULL;
    if (size <= area_size && order_for(size) == order)
        return block;
    other = allocate(size);
    if (other == NULL)
        return NULL;
    held = (1u << UNIT_BITS) << order;
    memcpy(other, block, size < held ? size : held);
    release(block);
    return other;
}

void *buddy_realloc(void *ptr, size_t size)
{
    void *block = ptr;

    if (ptr == NULL)
        return buddy_alloc(size);
    ATOMIC_BIT_ACQUIRE(__buddy_lock);
    if (size == 0)
        release(ptr);
    else
        block = reallocate(ptr, size);
    ATOMIC_BIT_RELEASE(__buddy_lock);
    return block;
}
