/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks are kept three ways: in address order (to merge neighbours), free ones in two sets of
 * size classes (dirty and clean), allocated ones in a hash table by address.
 *
 * Dirty and clean neighbours stay apart, so that it is known which pages are worth releasing. The
 * price is that free space next to each other can be several blocks; a request that no single one
 * can serve is therefore tried on runs of neighbours before it fails.
 */
#include "common/range_alloc.h"

#include <stdlib.h>

/* Classes as in TLSF: a row a power of two, COLS classes in it; row 0 is exact (in units). */
#define UNIT_BITS 6
#define COL_BITS 5
#define COLS (1U << COL_BITS)
#define ROWS (64U - UNIT_BITS - COL_BITS + 1U)
/* So many blocks of the request's own class are tried before a larger one is split. */
#define QUICK_TRIES 8
#define SLAB_BLOCKS 64
#define FIRST_BUCKETS 64

_Static_assert(OFFCHIP_RANGE_ALIGN == 1U << UNIT_BITS, "a unit is the alignment");

enum state { CLEAN, DIRTY, TAKEN };

struct block {
    uint64_t addr, size;
    struct block *below, *above; /* neighbours in address order */
    struct block *prev, *next;   /* of the same class, or in the same bucket (next only) */
    enum state state;
};

struct bins {
    uint64_t bytes;
    uint64_t rows; /* bit r: row r has blocks */
    uint32_t cols[ROWS];
    struct block *head[ROWS][COLS];
};

struct slab {
    struct slab *next;
    struct block blocks[SLAB_BLOCKS];
};

struct range_alloc {
    struct block *lowest;
    struct bins free[2]; /* by state: CLEAN, DIRTY */
    struct block **buckets;
    size_t nbuckets; /* a power of two */
    size_t ntaken;
    uint64_t used, high_water, size;
    struct block *spare; /* records without a block, linked by next */
    struct slab *slabs;
};

/* --- records --- */

static struct block *record_get(struct range_alloc *ra)
{
    if (ra->spare == NULL) {
        struct slab *slab = malloc(sizeof *slab);
        if (slab == NULL)
            return NULL;

        slab->next = ra->slabs;
        ra->slabs = slab;
        for (size_t i = SLAB_BLOCKS; i-- > 0;) {
            slab->blocks[i].next = ra->spare;
            ra->spare = &slab->blocks[i];
        }
    }

    struct block *b = ra->spare;
    ra->spare = b->next;
    return b;
}

static void record_put(struct range_alloc *ra, struct block *b)
{
    b->next = ra->spare;
    ra->spare = b;
}

/* --- taken blocks by address --- */

static struct block **bucket_of(struct block **buckets, size_t nbuckets, uint64_t addr)
{
    uint64_t hash = (addr >> UNIT_BITS) * UINT64_C(0x9E3779B97F4A7C15);
    return &buckets[(size_t)(hash >> 32) & (nbuckets - 1)];
}

/* Growing is an optimisation: without memory the chains just get longer. */
static void map_grow(struct range_alloc *ra)
{
    if (ra->ntaken < ra->nbuckets || ra->nbuckets > SIZE_MAX / 4 / sizeof(struct block *))
        return;

    size_t n = ra->nbuckets * 2;
    struct block **buckets = calloc(n, sizeof *buckets);
    if (buckets == NULL)
        return;

    for (size_t i = 0; i < ra->nbuckets; i++) {
        for (struct block *b = ra->buckets[i], *next; b != NULL; b = next) {
            next = b->next;
            struct block **to = bucket_of(buckets, n, b->addr);
            b->next = *to;
            *to = b;
        }
    }

    free(ra->buckets);
    ra->buckets = buckets;
    ra->nbuckets = n;
}

static void map_add(struct range_alloc *ra, struct block *b)
{
    map_grow(ra);
    struct block **to = bucket_of(ra->buckets, ra->nbuckets, b->addr);
    b->prev = NULL;
    b->next = *to;
    *to = b;
    ra->ntaken++;
}

/* The link that leads to the block at ADDR; it holds NULL if there is none. */
static struct block **map_find(const struct range_alloc *ra, uint64_t addr)
{
    struct block **link = bucket_of(ra->buckets, ra->nbuckets, addr);
    while (*link != NULL && (*link)->addr != addr)
        link = &(*link)->next;
    return link;
}

/* --- free blocks by size --- */

static void class_of(uint64_t size, unsigned *row, unsigned *col)
{
    uint64_t units = size >> UNIT_BITS;
    if (units < COLS) {
        *row = 0;
        *col = (unsigned)units;
    } else {
        unsigned log = 63U - (unsigned)__builtin_clzll(units);
        *row = log - COL_BITS + 1;
        *col = (unsigned)(units >> (log - COL_BITS)) & (COLS - 1);
    }
}

static void bins_add(struct range_alloc *ra, struct block *b, enum state state)
{
    struct bins *bins = &ra->free[state];
    unsigned row, col;
    class_of(b->size, &row, &col);
    b->state = state;
    b->prev = NULL;
    b->next = bins->head[row][col];
    if (b->next != NULL)
        b->next->prev = b;
    bins->head[row][col] = b;
    bins->cols[row] |= 1U << col;
    bins->rows |= UINT64_C(1) << row;
    bins->bytes += b->size;
}

static void bins_remove(struct range_alloc *ra, struct block *b)
{
    struct bins *bins = &ra->free[b->state];
    unsigned row, col;
    class_of(b->size, &row, &col);
    if (b->next != NULL)
        b->next->prev = b->prev;
    if (b->prev != NULL) {
        b->prev->next = b->next;
    } else {
        bins->head[row][col] = b->next;
        if (b->next == NULL) {
            bins->cols[row] &= ~(1U << col);
            if (bins->cols[row] == 0)
                bins->rows &= ~(UINT64_C(1) << row);
        }
    }

    bins->bytes -= b->size;
}

/* A block of a class above (ROW, COL); all of those are larger. */
static struct block *bins_above(const struct bins *bins, unsigned row, unsigned col)
{
    uint32_t cols = col + 1 < COLS ? bins->cols[row] & (UINT32_MAX << (col + 1)) : 0;
    if (cols == 0) {
        uint64_t rows = bins->rows & (UINT64_MAX << (row + 1));
        if (rows == 0)
            return NULL;

        row = (unsigned)__builtin_ctzll(rows);
        cols = bins->cols[row];
    }

    return bins->head[row][__builtin_ctz(cols)];
}

static struct block *bins_find(const struct bins *bins, uint64_t size)
{
    if (bins->bytes < size)
        return NULL;

    unsigned row, col;
    class_of(size, &row, &col);
    struct block *own = bins->head[row][col];
    for (int tries = 0; own != NULL && tries < QUICK_TRIES; tries++, own = own->next)
        if (own->size >= size)
            return own;

    struct block *larger = bins_above(bins, row, col);
    if (larger != NULL)
        return larger;

    while (own != NULL && own->size < size)
        own = own->next;
    return own;
}

/* --- address order --- */

static void unlink_address(struct range_alloc *ra, struct block *b)
{
    if (b->below != NULL)
        b->below->above = b->above;
    else
        ra->lowest = b->above;
    if (b->above != NULL)
        b->above->below = b->below;
}

/* Makes B a free block of STATE, one with those neighbours that are in the same state. */
static void release(struct range_alloc *ra, struct block *b, enum state state)
{
    struct block *near = b->below;
    if (near != NULL && near->state == state) {
        bins_remove(ra, near);
        near->size += b->size;
        unlink_address(ra, b);
        record_put(ra, b);
        b = near;
    }

    near = b->above;
    if (near != NULL && near->state == state) {
        bins_remove(ra, near);
        b->size += near->size;
        unlink_address(ra, near);
        record_put(ra, near);
    }

    bins_add(ra, b, state);
}

/*
 * Takes SIZE bytes from the start of the free block B, and from its neighbours above if it is
 * shorter (they are free and long enough together). REST is a record for what is left over.
 */
static void carve(struct range_alloc *ra, struct block *b, uint64_t size, struct block *rest)
{
    enum state state = b->state;
    bins_remove(ra, b);
    while (b->size < size) {
        struct block *up = b->above;
        state = up->state;
        bins_remove(ra, up);
        b->size += up->size;
        unlink_address(ra, up);
        record_put(ra, up);
    }

    b->state = TAKEN;
    if (b->size == size) {
        record_put(ra, rest);
        return;
    }

    rest->addr = b->addr + size;
    rest->size = b->size - size;
    rest->below = b;
    rest->above = b->above;
    if (rest->above != NULL)
        rest->above->below = rest;
    b->above = rest;
    b->size = size;
    bins_add(ra, rest, state);
}

/* The lowest run of free neighbours that has SIZE bytes together. */
static struct block *find_run(const struct range_alloc *ra, uint64_t size)
{
    struct block *start = NULL;
    uint64_t total = 0;
    for (struct block *b = ra->lowest; b != NULL; b = b->above) {
        if (b->state == TAKEN) {
            start = NULL;
            total = 0;
            continue;
        }

        if (start == NULL)
            start = b;
        total += b->size;
        if (total >= size)
            return start;
    }

    return NULL;
}

/* --- interface --- */

struct range_alloc *range_alloc_new(uint64_t base, uint64_t size)
{
    /* 0 says "none", so it cannot be the address of a block. */
    if (base == 0 || base % OFFCHIP_RANGE_ALIGN != 0 || size % OFFCHIP_RANGE_ALIGN != 0 ||
        size > UINT64_MAX - base)
        return NULL;

    struct range_alloc *ra = calloc(1, sizeof *ra);
    if (ra == NULL)
        return NULL;

    ra->size = size;
    ra->high_water = base;
    ra->nbuckets = FIRST_BUCKETS;
    ra->buckets = calloc(ra->nbuckets, sizeof(struct block *));
    struct block *all = ra->buckets != NULL ? record_get(ra) : NULL;
    if (all == NULL) {
        range_alloc_delete(ra);
        return NULL;
    }

    if (size == 0) {
        record_put(ra, all);
        return ra;
    }

    all->addr = base;
    all->size = size;
    all->below = all->above = NULL;
    ra->lowest = all;
    bins_add(ra, all, CLEAN);
    return ra;
}

void range_alloc_delete(struct range_alloc *ra)
{
    if (ra == NULL)
        return;

    for (struct slab *slab = ra->slabs, *next; slab != NULL; slab = next) {
        next = slab->next;
        free(slab);
    }

    free(ra->buckets);
    free(ra);
}

uint64_t range_alloc_get(struct range_alloc *ra, uint64_t size)
{
    if (size == 0)
        size = 1;
    if (size > ra->size)
        return 0;

    /* Cannot wrap: size is at most ra->size, which is a multiple of the alignment. */
    size = (size + OFFCHIP_RANGE_ALIGN - 1) & ~(uint64_t)(OFFCHIP_RANGE_ALIGN - 1);

    struct block *b = bins_find(&ra->free[DIRTY], size);
    if (b == NULL)
        b = bins_find(&ra->free[CLEAN], size);
    if (b == NULL && size <= ra->free[DIRTY].bytes + ra->free[CLEAN].bytes)
        b = find_run(ra, size);
    if (b == NULL)
        return 0;

    struct block *rest = record_get(ra);
    if (rest == NULL)
        return 0;

    carve(ra, b, size, rest);
    map_add(ra, b);
    ra->used += size;
    if (ra->high_water < b->addr + size)
        ra->high_water = b->addr + size;
    return b->addr;
}

bool range_alloc_put(struct range_alloc *ra, uint64_t addr, uint64_t *size)
{
    if (size != NULL)
        *size = 0;
    struct block **link = map_find(ra, addr);
    struct block *b = *link;
    if (b == NULL)
        return false;

    *link = b->next;
    ra->ntaken--;
    ra->used -= b->size;
    if (size != NULL)
        *size = b->size;
    release(ra, b, DIRTY);
    return true;
}

uint64_t range_alloc_length(const struct range_alloc *ra, uint64_t addr)
{
    const struct block *b = *map_find(ra, addr);
    return b != NULL ? b->size : 0;
}

uint64_t range_alloc_used(const struct range_alloc *ra)
{
    return ra->used;
}

uint64_t range_alloc_high_water(const struct range_alloc *ra)
{
    return ra->high_water;
}

bool range_alloc_largest_dirty(const struct range_alloc *ra, uint64_t *addr, uint64_t *size)
{
    *addr = *size = 0;
    const struct bins *bins = &ra->free[DIRTY];
    if (bins->rows == 0)
        return false;

    unsigned row = 63U - (unsigned)__builtin_clzll(bins->rows);
    unsigned col = 31U - (unsigned)__builtin_clz(bins->cols[row]);
    for (const struct block *b = bins->head[row][col]; b != NULL; b = b->next) {
        if (b->size > *size) {
            *addr = b->addr;
            *size = b->size;
        }
    }

    return true;
}

/* The block is one of the largest as a rule, so the search starts there. */
void range_alloc_mark_clean(struct range_alloc *ra, uint64_t addr)
{
    struct bins *bins = &ra->free[DIRTY];
    for (unsigned row = ROWS; row-- > 0;) {
        for (unsigned col = bins->cols[row] != 0 ? COLS : 0; col-- > 0;) {
            for (struct block *b = bins->head[row][col]; b != NULL; b = b->next) {
                if (b->addr != addr)
                    continue;

                bins_remove(ra, b);
                release(ra, b, CLEAN);
                return;
            }
        }
    }
}

uint64_t range_alloc_dirty(const struct range_alloc *ra)
{
    return ra->free[DIRTY].bytes;
}
