/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_histogram.c: the histogram of pixels of 12 bits in MRAM, in four steps from slow to fast that
 * docs/dpu_profile.md goes through. It takes what the kernels of PrIM's HST-L and HST-S take, so
 * that their hosts run it: DPU_INPUT_ARGUMENTS, pixels where the heap of MRAM begins, and behind
 * them room for the histogram. STEP chooses one:
 *
 * 1  all tasklets count in one histogram, under a mutex
 * 2  each tasklet has a histogram of its own, and in the end they are added up
 * 3  the number of bins is a power of two, so that a pixel's bin takes a shift and no product
 * 4  and eight pixels are counted without a jump
 */
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <stdint.h>

#define PIXEL_BITS 12
#define BLOCK 1024
#define LARGEST_TRANSFER 2048
#define HISTOGRAMS (STEP == 1 ? 1 : NR_TASKLETS)

__host struct {
    uint32_t size;   /* bytes of pixels */
    uint32_t behind; /* from the first pixel to the histogram: bytes */
    uint32_t bins;
    uint32_t kernel; /* 0: there is one */
} DPU_INPUT_ARGUMENTS;

static uint32_t *histograms[HISTOGRAMS];

BARRIER_INIT(all_here, NR_TASKLETS);
MUTEX_INIT(counts);

#if STEP <= 2
/* The first of 2 to the power of PIXEL_BITS values are in bin 0, and so on. */
static uint32_t bin_of(uint32_t pixel)
{
    return (pixel * DPU_INPUT_ARGUMENTS.bins) >> PIXEL_BITS;
}
#endif

#if STEP == 1
static void count(uint32_t *histogram, const uint32_t *pixels, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++) {
        uint32_t bin = bin_of(pixels[i]);
        mutex_lock(counts);
        histogram[bin]++;
        mutex_unlock(counts);
    }
}
#elif STEP == 2
static void count(uint32_t *histogram, const uint32_t *pixels, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        histogram[bin_of(pixels[i])]++;
}
#else
static void count(uint32_t *histogram, const uint32_t *pixels, uint32_t number)
{
    const uint32_t shift = PIXEL_BITS - __builtin_ctz(DPU_INPUT_ARGUMENTS.bins);
#if STEP == 4
#pragma unroll 8
#endif
    for (uint32_t i = 0; i < number; i++)
        histogram[pixels[i] >> shift]++;
}
#endif

/* Tasklets take blocks in turn. */
static void count_blocks(uint32_t *histogram)
{
    const uint32_t size = DPU_INPUT_ARGUMENTS.size;
    uint8_t __mram_ptr *pixels = DPU_MRAM_HEAP_POINTER;
    uint32_t *block = mem_alloc(BLOCK);
    for (uint32_t at = me() * BLOCK; at < size; at += NR_TASKLETS * BLOCK) {
        uint32_t part = size - at < BLOCK ? size - at : BLOCK;
        mram_read(pixels + at, block, part);
        count(histogram, block, part / sizeof *block);
    }
}

/* To the first one, each tasklet some bins. */
static void add_up(uint32_t bins)
{
    for (uint32_t bin = me(); bin < bins; bin += NR_TASKLETS)
        for (uint32_t i = 1; i < HISTOGRAMS; i++)
            histograms[0][bin] += histograms[i][bin];
}

static void write(const uint32_t *histogram, uint32_t size)
{
    uint8_t __mram_ptr *to =
        (uint8_t __mram_ptr *)DPU_MRAM_HEAP_POINTER + DPU_INPUT_ARGUMENTS.behind;
    for (uint32_t at = 0; at < size; at += LARGEST_TRANSFER) {
        uint32_t part = size - at < LARGEST_TRANSFER ? size - at : LARGEST_TRANSFER;
        mram_write((const uint8_t *)histogram + at, to + at, part);
    }
}

int main(void)
{
    const uint32_t bins = DPU_INPUT_ARGUMENTS.bins, mine = me() % HISTOGRAMS;
    if (me() == 0)
        mem_reset();
    barrier_wait(&all_here);

    if (me() == mine) {
        histograms[mine] = mem_alloc(bins * sizeof **histograms);
        for (uint32_t bin = 0; bin < bins; bin++)
            histograms[mine][bin] = 0;
    }
    barrier_wait(&all_here);

    count_blocks(histograms[mine]);
    barrier_wait(&all_here);

    add_up(bins);
    barrier_wait(&all_here);
    if (me() == 0)
        write(histograms[0], bins * sizeof **histograms);
    return 0;
}
