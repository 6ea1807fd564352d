/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes_words.h: words of several DPUs, which generated code has before execute_alu.h, so that this
 * computes with them. */
#ifndef OFFCHIP_DPU_LANES_WORDS_H
#define OFFCHIP_DPU_LANES_WORDS_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t truths __attribute__((vector_size(4 * LANES))); /* 0 or -1 */
typedef uint32_t bits;                                          /* a bit for each lane */
struct wide {
    lanes low, high;
};

/* The values of execute_alu.h. */
#define ALU_WORD lanes
#define ALU_SIGNED truths
#define ALU_TRUTH truths
#define ALU_ALL(value) ((lanes){} + (value))
#define ALU_TRUE ((truths){} - 1)
#define ALU_NOT(truth) (~(truth))
#define ALU_OR(truth, other) ((truth) | (other))
#define ALU_AND(truth, other) ((truth) & (other))
#define ALU_SELECT(truth, x, y) (((lanes)(truth) & (x)) | (~(lanes)(truth) & (y)))
#define ALU_ONE_IF(truth) ((lanes)(truth) & 1)
#define ALU_EACH(function, x) \
    ({ \
        lanes each = (x); \
        for (int lane = 0; lane < LANES; lane++) \
            each[lane] = function(each[lane]); \
        each; \
    })

#endif
