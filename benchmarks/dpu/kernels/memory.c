/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Five kernels whose data is in MRAM, written once for transfers and for a cache: with DIRECT, for
 * a chip with a cache, pointers lead to MRAM, and nothing is copied. KERNEL is the name of one.
 *
 * search   of `queries` numbers among `n` sorted ones; each step reads SEARCH_BYTES, and compares
 * gemv     `n` rows of COLUMNS numbers times a vector, which is read again for each row; both by
 *          ROW_BYTES, which may be more than they have
 * unique   what differs from the number before it, one after the other; tasklets pass on how many
 *          there are so far
 * add      of two vectors
 * sum      of a vector
 */
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <stdint.h>

#define MOST (1 << 17)
#define COLUMNS 64
#ifndef BLOCK_BYTES
#define BLOCK_BYTES 1024
#endif
#ifndef SEARCH_BYTES
#define SEARCH_BYTES 256
#endif
#ifndef ROW_BYTES
#define ROW_BYTES 256
#endif

__mram_noinit int64_t numbers[MOST], made[MOST];
__mram_noinit int64_t searched[MOST / 8], found[MOST / 8];
__mram_noinit int32_t matrix[2 * MOST], vector[COLUMNS];
__host uint32_t n, queries, count;
__host int64_t total;

static struct {
    int64_t first[BLOCK_BYTES / 8], second[BLOCK_BYTES / 8];
} __dma_aligned blocks[NR_TASKLETS];

/* BYTES of MRAM, in MRAM itself or in a buffer. */
static inline const void *get(const __mram_ptr void *from, void *buffer, uint32_t bytes)
{
#ifdef DIRECT
    return from;
#else
    mram_read(from, buffer, bytes);
    return buffer;
#endif
}

/* Where what belongs to TO in MRAM is written: there, or into a buffer, which put() copies. */
static inline void *place(__mram_ptr void *to, void *buffer)
{
#ifdef DIRECT
    return to;
#else
    return buffer;
#endif
}

static inline void put(const void *buffer, __mram_ptr void *to, uint32_t bytes)
{
#ifndef DIRECT
    mram_write(buffer, to, bytes);
#endif
}

/* Index of the last number up to KEY. */
static uint32_t index_of(int64_t key, int64_t *buffer)
{
    const uint32_t step = SEARCH_BYTES / 8;
    uint32_t low = 0, high = n / step;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        const int64_t *block = get(&numbers[middle * step], buffer, SEARCH_BYTES);
        if (block[0] <= key && key <= block[step - 1]) {
            low = middle;
            break;
        }
        if (block[0] <= key)
            low = middle;
        else
            high = middle;
    }

    const int64_t *block = get(&numbers[low * step], buffer, SEARCH_BYTES);
    uint32_t first = 0, end = step;
    while (end - first > 1) {
        uint32_t middle = (first + end) / 2;
        if (block[middle] <= key)
            first = middle;
        else
            end = middle;
    }
    return low * step + first;
}

static void search(void)
{
    const uint32_t part = 32;
    int64_t *buffer = blocks[me()].first, keys[32] __dma_aligned, places[32] __dma_aligned;

    for (uint32_t at = me() * part; at < queries; at += NR_TASKLETS * part) {
        const int64_t *wanted = get(&searched[at], keys, sizeof keys);
        int64_t *answers = place(&found[at], places);
        for (uint32_t i = 0; i < part; i++)
            answers[i] = index_of(wanted[i], buffer);
        put(answers, &found[at], sizeof places);
    }
}

static void gemv(void)
{
    int32_t *rows = (int32_t *)blocks[me()].first, *factors = (int32_t *)blocks[me()].second;

    for (uint32_t at = 2 * me(); at < n; at += 2 * NR_TASKLETS) {
        int64_t pair[2] __dma_aligned, *sums = place(&made[at], pair);
        for (uint32_t row = 0; row < 2; row++) {
            const int32_t *x = get(vector, factors, ROW_BYTES);
            const int32_t *a = get(&matrix[(at + row) * COLUMNS], rows, ROW_BYTES);
            int32_t sum = 0;
            for (uint32_t i = 0; i < COLUMNS; i++)
                sum += a[i] * x[i];
            sums[row] = sum;
        }
        put(sums, &made[at], 16);
    }
}

static uint32_t kept_so_far;
static int64_t last_so_far;

/* Tasklets take blocks in turns; what a block keeps goes behind what those before it kept. */
static void unique(void)
{
    const uint32_t part = BLOCK_BYTES / 8;
    int64_t *first = blocks[me()].first, *second = blocks[me()].second;

    if (me() == 0) {
        kept_so_far = 0;
        last_so_far = INT64_MIN;
    }
    for (uint32_t at = me() * part; at < n; at += NR_TASKLETS * part) {
        const int64_t *block = get(&numbers[at], first, BLOCK_BYTES);
        uint32_t kept = 0, differs = 0;
        for (uint32_t i = 1; i < part; i++)
            differs += block[i] != block[i - 1];

        if (NR_TASKLETS > 1 && at != 0)
            handshake_wait_for((me() + NR_TASKLETS - 1) % NR_TASKLETS);
        int64_t before = last_so_far;
        uint32_t to = kept_so_far;
        last_so_far = block[part - 1];
        kept_so_far = to + differs + (block[0] != before);
        if (at + part >= n)
            count = kept_so_far;
        else if (NR_TASKLETS > 1)
            handshake_notify();

        int64_t *out = place(&made[to], second);
        for (uint32_t i = 0; i < part; i++) {
            if (block[i] != before)
                out[kept++] = block[i];
            before = block[i];
        }
        if (kept != 0)
            put(out, &made[to], 8 * kept);
    }
}

static void add(void)
{
    const uint32_t part = BLOCK_BYTES / 4;
    int32_t *first = (int32_t *)blocks[me()].first, *second = (int32_t *)blocks[me()].second;
    int32_t __mram_ptr *sums = (int32_t __mram_ptr *)made;

    for (uint32_t at = me() * part; at < n; at += NR_TASKLETS * part) {
        const int32_t *x = get(&matrix[at], first, BLOCK_BYTES);
        const int32_t *y = get(&matrix[MOST + at], second, BLOCK_BYTES);
        int32_t *out = place(&sums[at], second);
        for (uint32_t i = 0; i < part; i++)
            out[i] = x[i] + y[i];
        put(out, &sums[at], BLOCK_BYTES);
    }
}

BARRIER_INIT(all, NR_TASKLETS);
static int64_t sums[NR_TASKLETS];

static void sum(void)
{
    const uint32_t part = BLOCK_BYTES / 8;
    int64_t own = 0;

    for (uint32_t at = me() * part; at < n; at += NR_TASKLETS * part) {
        const int64_t *x = get(&numbers[at], blocks[me()].first, BLOCK_BYTES);
        for (uint32_t i = 0; i < part; i++)
            own += x[i];
    }
    sums[me()] = own;
    barrier_wait(&all);
    if (me() != 0)
        return;
    total = 0;
    for (uint32_t i = 0; i < NR_TASKLETS; i++)
        total += sums[i];
}

int main(void)
{
    KERNEL();
    return 0;
}
