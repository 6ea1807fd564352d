/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/zones.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "veo/run/checks.h"
#include "veo/worker/context.h"

struct block {
    uint64_t address, size;
};

/* The list as it was last read, by address; the mutex guards it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block list[WIRE_BLOCKS_MAX];
static size_t count;
static uint64_t seen = UINT64_MAX;

static int compare(const void *a, const void *b)
{
    const struct block *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

/* Reads the list again if it has changed. */
static void refresh(void)
{
    struct wire_blocks *blocks = veow_header->blocks;
    for (;;) {
        uint64_t changes = atomic_load_explicit(&blocks->changes, memory_order_acquire);
        if (changes == seen)
            return;
        if (changes % 2 != 0) {
            sched_yield();
            continue;
        }

        count = (size_t)atomic_load_explicit(&blocks->count, memory_order_acquire);
        count = count < WIRE_BLOCKS_MAX ? count : WIRE_BLOCKS_MAX;
        for (size_t i = 0; i < count; i++)
            list[i] =
                (struct block){atomic_load_explicit(&blocks->list[i].address, memory_order_acquire),
                               atomic_load_explicit(&blocks->list[i].size, memory_order_acquire)};
        if (atomic_load_explicit(&blocks->changes, memory_order_relaxed) == changes) {
            qsort(list, count, sizeof *list, compare);
            seen = changes;
            return;
        }
    }
}

/* How many blocks start at or before an address. */
static size_t place_of(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_shared(uint64_t address)
{
    uint64_t start = (uint64_t)(uintptr_t)veow_header;
    return address >= start && address < veow_header->heap + veow_header->heap_size;
}

static enum ve_zone find(uint64_t address, uint64_t size)
{
    if (!is_shared(address) || atomic_load(&veow_header->blocks->is_cut) != 0)
        return VE_ZONE_UNKNOWN;
    pthread_mutex_lock(&lock);
    refresh();
    size_t at = place_of(address);
    const struct block *block = at != 0 ? &list[at - 1] : NULL;
    bool inside = block != NULL && address - block->address < block->size &&
                  size <= block->size - (address - block->address);
    pthread_mutex_unlock(&lock);
    return inside ? VE_ZONE_INSIDE : VE_ZONE_OUTSIDE;
}

/* The block that an address is behind, or else the one that it is before. */
static bool find_nearest(uint64_t address, struct block *nearest)
{
    pthread_mutex_lock(&lock);
    refresh();
    size_t at = place_of(address);
    bool in_heap = address >= veow_header->heap;
    const struct block *before = at != 0 ? &list[at - 1] : NULL;
    const struct block *behind = at != count ? &list[at] : NULL;
    if (before != NULL && (before->address >= veow_header->heap) != in_heap)
        before = NULL;
    if (behind != NULL && (behind->address >= veow_header->heap) != in_heap)
        behind = NULL;
    const struct block *found = before;
    if (before == NULL || (behind != NULL && address >= before->address + before->size &&
                           behind->address - address < address - (before->address + before->size)))
        found = behind;
    if (found != NULL)
        *nearest = *found;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static void describe(struct text *text, uint64_t address)
{
    struct block block;
    bool in_heap = address >= veow_header->heap;
    if (!find_nearest(address, &block)) {
        text_add(text, in_heap ? ", in memory that the host has not allocated"
                               : ", in memory of the queues of requests");
        return;
    }

    bool starts_inside = address >= block.address && address < block.address + block.size;
    uint64_t distance = address < block.address ? block.address - address
                        : starts_inside         ? 0 /* it ends beyond */
                                                : address - block.address - block.size;
    text_add(text, ", %llu bytes %s a %s of %llu bytes%s", (unsigned long long)distance,
             address < block.address ? "before" : "after", in_heap ? "block" : "stack argument",
             (unsigned long long)block.size, in_heap ? " that the host allocated" : "");
}

void veow_zones_setup(void)
{
    static const struct verun_zones zones = {find, describe};
    verun_checks_set_status(&veow_header->check_status);
    if (veow_header->blocks != NULL)
        verun_checks_set_zones(&zones);
}
