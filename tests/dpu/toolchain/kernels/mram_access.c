/* SPDX-License-Identifier: BSD-3-Clause */
/* Data in MRAM used as if it were in WRAM, in every size. */
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <stdbool.h>
#include <stdint.h>

struct record {
    uint8_t tag;
    int16_t rank;
    uint32_t count;
    int64_t total;
    float weight;
    double mean;
    uint8_t name[5];
};
struct __attribute__((packed)) dense {
    uint8_t first;
    uint32_t second;
    uint64_t third;
};
BARRIER_INIT(all, NR_TASKLETS);

__mram_noinit uint8_t bytes[96];
__mram_noinit int16_t halves[48];
__mram_noinit uint32_t words[48];
__mram_noinit uint64_t doubles[48];
__mram_noinit struct record records[4];
__mram_noinit struct dense dense[3];
__mram_noinit volatile bool flag;
typedef uint32_t __mram_ptr *word_pointer;
__mram_noinit word_pointer where;
__mram uint32_t initial[4] = {10, 20, 30, 40};

__host struct record copy;
__host uint32_t sum, found[NR_TASKLETS], flags, bits;
__host uint64_t long_sum;
__host struct dense dense_copy;
static struct record model = {1, -2, 3, -4, 5.5f, 6.25, {7, 8, 9, 10, 11}};

static uint32_t __attribute__((noinline)) total(const uint32_t __mram_ptr *from, uint32_t count)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < count; i++)
        result += from[i];
    return result;
}

static void single(void)
{
    for (uint32_t i = 0; i < 48; i++) {
        halves[i] = (int16_t)(-3 * (int32_t)i);
        words[i] = i << 20;
        doubles[i] = (uint64_t)i << 40 | i;
    }
    sum = total(words, 48) + total(initial, 4) + (uint32_t)halves[7];
    long_sum = doubles[5] + doubles[47];
    records[0] = model;
    records[1] = records[0];
    records[1].count++;
    records[1].rank--;
    records[1].total -= 1;
    records[1].weight *= 2;
    records[1].mean += 0.5;
    records[1].name[4] = 99;
    copy = records[1];
    flag = true;
    flags = flag;
    flag = false;
    flags |= (uint32_t)flag << 1 | 4;
    where = &words[3];
    *where = 77;
    bits = words[3];
    dense[1].first = 1;
    dense[1].second = 0x12345678;
    dense[1].third = 0x1122334455667788;
    dense[1].third += dense[1].second;
    dense_copy = dense[1];
}

int main(void)
{
    uint32_t id = me();
    /* Bytes of one word from several tasklets. */
    for (uint32_t i = id; i < sizeof bytes; i += NR_TASKLETS)
        bytes[i] = (uint8_t)(i + 1);
    barrier_wait(&all);
    for (uint32_t i = 0; i < sizeof bytes; i++)
        found[id] += bytes[i];
    if (id == 0)
        single();
    return 0;
}
