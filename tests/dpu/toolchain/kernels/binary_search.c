/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up 64-bit keys in a sorted table in MRAM. */
#include "kernel.h"

#define KEYS 64
IN_MRAM int64_t table[2048];
HOST int64_t keys[KEYS];
HOST int32_t places[KEYS];

static int32_t find(int64_t key)
{
    ALIGNED int64_t value;
    int32_t low = 0, high = 2047;
    while (low <= high) {
        int32_t middle = (low + high) / 2;
        read_mram((uint32_t)(table + middle), &value, sizeof value);
        if (value == key)
            return middle;
        if (value < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int main(void)
{
    for (uint32_t k = me(); k < KEYS; k += NR_TASKLETS)
        places[k] = find(keys[k]);
    return 0;
}
