/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasklets that use the same words without locks: what comes of it depends on the order alone. */
#include "kernel.h"

#define TURNS 150
HOST uint32_t counters[4], seen[NR_TASKLETS], times[NR_TASKLETS];
HOST uint8_t bytes[NR_TASKLETS];
HOST uint64_t pairs[NR_TASKLETS];
static volatile uint32_t alone[NR_TASKLETS][16];
IN_MRAM uint64_t cells[NR_TASKLETS][4];
static BIT unsigned char bit;

INLINE uint32_t now(void)
{
    uint32_t time;
    __asm__ volatile(".insn r 0x0b, 6, 4, %0, x0, x0" : "=r"(time));
    return time;
}

int main(void)
{
    uint32_t id = me(), sum = 0;
    volatile uint32_t *common = counters;
    volatile uint8_t *near = bytes;
    volatile uint64_t *two = pairs;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        /* A long time alone, not the same for all. */
        for (uint32_t i = 0; i < 20 + 3 * id; i++) {
            alone[id][i & 15] += i ^ turn;
            sum = sum * 31 + alone[id][(i + 1) & 15];
        }
        if (turn % 8 == id % 8)
            common[turn & 3] += sum & 255;
        if (turn % 16 == 3)
            sum += near[(id + 1) % NR_TASKLETS] + (uint32_t)two[(id + 3) % NR_TASKLETS];
        near[id] += (uint8_t)sum;
        two[id] += sum;
        if (turn % 32 == id) {
            lock(&bit);
            common[3] ^= sum;
            unlock(&bit);
            write_mram(&pairs[id], (uint32_t)&cells[id][turn & 3], 8);
        }
        times[id] += now() & 15;
    }
    seen[id] = sum;
    return 0;
}
