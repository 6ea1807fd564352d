/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: what the tests of the debuggers debug. */
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

BARRIER_INIT(all_tasklets, NR_TASKLETS);

struct point {
    int32_t x, y;
    struct point *next;
    unsigned low : 3, high : 5;
};
typedef enum { RED, GREEN = 5 } colour_t;
union word {
    uint32_t whole;
    uint8_t bytes[4];
};

__host uint32_t count = 8;
__host struct point points[NR_TASKLETS];
__host union word word = {0x04030201};
__host colour_t colour = RED;
__host int64_t totals[NR_TASKLETS];
__host float ratio = 0.5f;
__host char name[8] = "kernel";
__host int8_t matrix[2][3] = {{1, 2, 3}, {-4, -5, -6}};
__mram uint64_t numbers[64] = {10, 20, 30, 40};
__mram_ptr uint64_t *volatile far;

static __noinline int64_t sum(const uint64_t *block, uint32_t n)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += (int64_t)block[i]; /* the line of the loop */
    return total;
}

int main(void)
{
    uint32_t id = me();
    __dma_aligned uint64_t block[8];
    mram_read(numbers, block, sizeof block);
    far = numbers + 1;
    int64_t mine = sum(block, count) + id;
    points[id].x = (int32_t)id + 1;
    points[id].next = &points[0];
    points[id].low = 5;
    barrier_wait(&all_tasklets);
    totals[id] = mine; /* the line of the end */
    colour = GREEN;
    return 0;
}
