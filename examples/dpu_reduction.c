/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_reduction.c: the sum of the numbers in a block of MRAM, in five steps from slow to fast that
 * docs/dpu_profile.md goes through. STEP chooses one:
 *
 * 1  two numbers are read at a time, and each is added to one sum under a mutex, by 4 tasklets
 * 2  each tasklet has a sum of its own, and one of them adds these up
 * 3  the same by 16 tasklets
 * 4  and 256 numbers are read at a time
 * 5  and 16 of them are added without a jump
 */
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <stdint.h>

#define NUMBERS (64 * 1024)
#define SLICE (NUMBERS / NR_TASKLETS)
#define CHUNK (STEP >= 4 ? 256 : 2)

__mram_noinit uint32_t numbers[NUMBERS];
__host uint64_t total;

static uint64_t sums[NR_TASKLETS];
static __dma_aligned uint32_t chunks[NR_TASKLETS][CHUNK];

BARRIER_INIT(all_added, NR_TASKLETS);
MUTEX_INIT(total_lock);

#if STEP == 1
static void add(const uint32_t *chunk)
{
    for (uint32_t i = 0; i < CHUNK; i++) {
        mutex_lock(total_lock);
        total += chunk[i];
        mutex_unlock(total_lock);
    }
}
#else
static void add(const uint32_t *chunk)
{
    uint64_t sum = 0;
#if STEP >= 5
#pragma unroll 16
#endif
    for (uint32_t i = 0; i < CHUNK; i++)
        sum += chunk[i];
    sums[me()] += sum;
}
#endif

static void add_slice(void)
{
    const uint32_t first = me() * SLICE;
    for (uint32_t done = 0; done < SLICE; done += CHUNK) {
        mram_read(&numbers[first + done], chunks[me()], sizeof chunks[0]);
        add(chunks[me()]);
    }
}

/* A launch finds in WRAM what the one before has left there. */
static void begin(void)
{
    sums[me()] = 0;
    if (me() == 0)
        total = 0;
    barrier_wait(&all_added);
}

int main(void)
{
    begin();
    add_slice();
    barrier_wait(&all_added);
    for (uint32_t i = 0; me() == 0 && i < NR_TASKLETS; i++)
        total += sums[i];
    return 0;
}
