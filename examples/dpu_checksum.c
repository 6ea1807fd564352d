/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_checksum.c: Adler's two sums of a block of text, a tasklet a slice of it: `a` adds the bytes,
 * `b` the values of `a`. The host joins the slices, as zlib's adler32_combine() does.
 */
#include <attributes.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>

#define BLOCK (64 * 1024)
#define SLICE (BLOCK / NR_TASKLETS)
#define CHUNK 1024

struct pair {
    uint32_t a;
    uint32_t b;
};

__mram_noinit uint8_t block[BLOCK];
__host struct pair sums[NR_TASKLETS];

static __dma_aligned uint8_t chunks[NR_TASKLETS][CHUNK];

int main(void)
{
    uint8_t *chunk = chunks[me()];
    struct pair sum = {0, 0};

    for (uint32_t done = 0; done < SLICE; done += CHUNK) {
        mram_read(&block[me() * SLICE + done], chunk, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++) {
            sum.a += chunk[i];
            sum.b += sum.a;
        }
    }
    sums[me()] = sum;
    return 0;
}
