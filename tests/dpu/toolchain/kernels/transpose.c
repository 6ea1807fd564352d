/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes a matrix of 16-bit numbers in WRAM, and searches a string for another. */
#include "kernel.h"

#define SIDE 40
HOST int16_t matrix[SIDE][SIDE], transposed[SIDE][SIDE];
HOST char text[256], word[16];
HOST uint32_t matches;
static BIT unsigned char bit;

static bool is_at(const char *place)
{
    for (const char *w = word; *w; w++, place++)
        if (*place != *w)
            return false;
    return true;
}

int main(void)
{
    for (uint32_t r = me(); r < SIDE; r += NR_TASKLETS)
        for (uint32_t c = 0; c < SIDE; c++)
            transposed[c][r] = matrix[r][c];
    uint32_t own = 0;
    for (uint32_t i = me(); i < sizeof text && text[i]; i += NR_TASKLETS)
        own += is_at(text + i);
    lock(&bit);
    matches += own;
    unlock(&bit);
    return 0;
}
