/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic that the compiler calls the run time for, on operands from the host. */
#include <defs.h>
#include <mram.h>
#include <perfcounter.h>
#include <stdint.h>

#ifndef CASES
#define CASES 256
#endif
#define RESULTS 24

__host uint32_t cycles[8];
__mram_noinit uint64_t operands[2 * CASES];
__mram_noinit uint64_t results[RESULTS * CASES];

static float f32(uint64_t bits)
{
    union {
        uint32_t i;
        float f;
    } u = {.i = (uint32_t)bits};
    return u.f;
}
static double f64(uint64_t bits)
{
    union {
        uint64_t i;
        double f;
    } u = {.i = bits};
    return u.f;
}
static uint64_t b32(float value)
{
    union {
        float f;
        uint32_t i;
    } u = {.f = value};
    return u.i;
}
static uint64_t b64(double value)
{
    union {
        double f;
        uint64_t i;
    } u = {.f = value};
    return u.i;
}

int main(void)
{
    __dma_aligned uint64_t in[2], out[RESULTS];

    for (uint32_t i = me(); i < CASES; i += NR_TASKLETS) {
        mram_read(&operands[2 * i], in, 16);
        uint64_t a = in[0], b = in[1], nonzero = b | (b == 0);
        int64_t sa = (int64_t)a, sb = (int64_t)nonzero;
        float x = f32(a), y = f32(b);
        double u = f64(a), v = f64(b);

        out[0] = b32(x + y);
        out[1] = b32(x - y);
        out[2] = b32(x * y);
        out[3] = b32(x / y);
        out[4] = b64(u + v);
        out[5] = b64(u - v);
        out[6] = b64(u * v);
        out[7] = b64(u / v);
        out[8] = (uint64_t)((x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 |
                            (x != y) << 5);
        out[9] = (uint64_t)((u < v) | (u <= v) << 1 | (u > v) << 2 | (u >= v) << 3 | (u == v) << 4 |
                            (u != v) << 5);
        out[10] = b64((double)x);
        out[11] = b32((float)u);
        out[12] = a * b;
        out[13] = a / nonzero;
        out[14] = a % nonzero;
        out[15] = (uint64_t)(sb == -1 ? -(uint64_t)sa : (uint64_t)(sa / sb));
        out[16] = (uint64_t)(sb == -1 ? 0 : (uint64_t)(sa % sb));
        out[17] = a << (b & 63);
        out[18] = a >> (b & 63);
        out[19] = (uint64_t)(sa >> (b & 63));
        out[20] = b32((float)sa);
        out[21] = b64((double)a);
        out[22] = b32((float)(int32_t)a) | b32((float)(uint32_t)b) << 32;
        out[23] = b64((double)(int32_t)a) ^ b64((double)(uint32_t)b);
        for (int k = 0; k < RESULTS; k++)
            mram_write(&out[k], &results[RESULTS * i + (uint32_t)k], 8);
    }
    return 0;
}
