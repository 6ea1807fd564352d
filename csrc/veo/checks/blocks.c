/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/checks/blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/range_alloc.h"
#include "veo/checks/shadow.h"

/* Address space; pages are taken when they are touched. */
#define HEAP ((uint64_t)1 << 38)
/* Hidden bytes before and behind a block, at least. */
#define MARGIN 64
#define MARGIN_MAX 4096
/* Freed blocks that are kept: bytes and number. */
#define KEPT_BYTES ((uint64_t)256 << 20)
#define KEPT_MAX 4096

/* The mutex guards what follows it. Blocks are sorted by address. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range_alloc *ranges;
static uint64_t base;
static struct ve_block **blocks;
static size_t count, capacity;
static struct ve_block *kept[KEPT_MAX]; /* freed ones, from the oldest at `oldest` on */
static size_t oldest, kept_count;
static uint64_t kept_bytes;
static bool is_defined; /* no block is fresh */

static bool start(void)
{
    if (ranges != NULL)
        return true;
    void *pages = mmap(NULL, HEAP, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return false;

    ranges = range_alloc_new((uint64_t)(uintptr_t)pages, HEAP);
    if (ranges == NULL)
        munmap(pages, HEAP);
    else
        base = (uint64_t)(uintptr_t)pages;
    return ranges != NULL;
}

/* How many blocks start at or before an address. */
static size_t place_of(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct ve_block *block)
{
    if (count == capacity) {
        size_t wanted = capacity != 0 ? 2 * capacity : 256;
        struct ve_block **more = realloc(blocks, wanted * sizeof(struct ve_block *));
        if (more == NULL)
            return false;
        blocks = more;
        capacity = wanted;
    }

    size_t at = place_of(block->address);
    memmove(blocks + at + 1, blocks + at, (count - at) * sizeof(struct ve_block *));
    blocks[at] = block;
    count++;
    return true;
}

static void forget(struct ve_block *block)
{
    size_t at = place_of(block->address) - 1;
    memmove(blocks + at, blocks + at + 1, (count - at - 1) * sizeof(struct ve_block *));
    count--;
    range_alloc_put(ranges, block->start, NULL);
    free(block);
}

static uint64_t margin_of(uint64_t size)
{
    uint64_t margin = (size / 4 + MARGIN - 1) & ~(uint64_t)(MARGIN - 1);
    return margin < MARGIN ? MARGIN : margin > MARGIN_MAX ? MARGIN_MAX : margin;
}

static struct ve_block *take(uint64_t size, uint64_t align, const struct ve_block_place *place)
{
    uint64_t margin = margin_of(size) > align ? margin_of(size) : align;
    if (size > HEAP / 2 || align > HEAP / 2 || !start())
        return NULL;
    struct ve_block *block = malloc(sizeof *block);
    uint64_t range = block != NULL ? range_alloc_get(ranges, size + 2 * margin + align) : 0;
    if (range == 0) {
        free(block);
        return NULL;
    }

    uint64_t address = (range + margin + align - 1) & ~(align - 1);
    *block = (struct ve_block){.address = address, .size = size, .start = range};
    block->allocated = *place;
    if (!insert(block)) {
        range_alloc_put(ranges, range, NULL);
        free(block);
        return NULL;
    }
    ve_shadow_hide(range, range_alloc_length(ranges, range));
    ve_shadow_fresh(address, size);
    is_defined = false;
    return block;
}

uint64_t ve_blocks_take(uint64_t size, uint64_t align, const struct ve_block_place *place)
{
    pthread_mutex_lock(&lock);
    const struct ve_block *block = take(size, align, place);
    uint64_t address = block != NULL ? block->address : 0;
    pthread_mutex_unlock(&lock);
    return address;
}

static struct ve_block *starting_at(uint64_t address)
{
    size_t at = place_of(address);
    return at != 0 && blocks[at - 1]->address == address ? blocks[at - 1] : NULL;
}

/* Makes room for another freed block. */
static void keep(struct ve_block *block)
{
    while (kept_count == KEPT_MAX || (kept_count != 0 && kept_bytes + block->size > KEPT_BYTES)) {
        struct ve_block *old = kept[oldest];
        oldest = (oldest + 1) % KEPT_MAX;
        kept_count--;
        kept_bytes -= old->size;
        forget(old);
    }
    kept[(oldest + kept_count++) % KEPT_MAX] = block;
    kept_bytes += block->size;
}

enum ve_blocks_result ve_blocks_free(uint64_t address, const struct ve_block_place *place)
{
    enum ve_blocks_result result = VE_BLOCKS_FREED;
    pthread_mutex_lock(&lock);
    struct ve_block *block = starting_at(address);
    if (base == 0 || address < base || address >= base + HEAP)
        result = VE_BLOCKS_OTHER;
    else if (block == NULL)
        result = VE_BLOCKS_NO_START;
    else if (block->is_freed)
        result = VE_BLOCKS_TWICE;

    if (result == VE_BLOCKS_FREED) {
        block->is_freed = true;
        block->freed = *place;
        ve_shadow_hide(block->address, block->size);
        keep(block);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

bool ve_blocks_size(uint64_t address, uint64_t *size)
{
    pthread_mutex_lock(&lock);
    const struct ve_block *block = starting_at(address);
    bool found = block != NULL && !block->is_freed;
    *size = found ? block->size : 0;
    pthread_mutex_unlock(&lock);
    return found;
}

bool ve_blocks_contain(uint64_t address)
{
    pthread_mutex_lock(&lock);
    bool contains = base != 0 && address >= base && address < base + HEAP;
    pthread_mutex_unlock(&lock);
    return contains;
}

bool ve_blocks_nearest(uint64_t address, struct ve_block *found)
{
    pthread_mutex_lock(&lock);
    size_t at = place_of(address);
    const struct ve_block *before = at != 0 ? blocks[at - 1] : NULL;
    const struct ve_block *behind = at != count ? blocks[at] : NULL;
    const struct ve_block *nearest = before;
    if (before == NULL || (behind != NULL && address >= before->address + before->size &&
                           behind->address - address < address - (before->address + before->size)))
        nearest = behind;
    bool is_near = base != 0 && address >= base && address < base + HEAP && nearest != NULL;
    if (is_near)
        *found = *nearest;
    pthread_mutex_unlock(&lock);
    return is_near;
}

void ve_blocks_define(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !is_defined; i++)
        if (!blocks[i]->is_freed)
            ve_shadow_define(blocks[i]->address, blocks[i]->size);
    is_defined = true;
    pthread_mutex_unlock(&lock);
}
