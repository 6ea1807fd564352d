/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the odd numbers, in their order: counts, exclusive sum of the counts, then copies. */
#include "kernel.h"

#define EACH 64
HOST uint32_t kept;
HOST uint32_t values[EACH * NR_TASKLETS], chosen[EACH * NR_TASKLETS];
static uint32_t counts[NR_TASKLETS];
static BIT unsigned char bit;
static volatile uint32_t arrived;

int main(void)
{
    uint32_t id = me(), n = 0;
    const uint32_t *own = values + id * EACH;
    for (uint32_t i = 0; i < EACH; i++)
        n += own[i] & 1;
    counts[id] = n;
    barrier(&bit, &arrived);
    uint32_t place = 0;
    for (uint32_t t = 0; t < id; t++)
        place += counts[t];
    for (uint32_t i = 0; i < EACH; i++)
        if (own[i] & 1)
            chosen[place++] = own[i];
    if (id == NR_TASKLETS - 1)
        kept = place;
    return 0;
}
