/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions over the operands of several ranks, one after the other in a given order.
 *
 * Work is done in blocks that stay in the L1 cache. float16 is computed in float32 and rounded
 * after every step, which gives the bits that float16 arithmetic would.
 */
#include "accl/arithmetic/reduce.h"

#include <string.h>

#include "accl.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/half.h"
#include "common/copy.h"
#include "common/processor.h"

#define BLOCK 2048 /* elements */

/*
 * Vectors are as long as the target's registers: of longer ones the compiler compares each element
 * by itself.
 */
/* a OP b, with elements of ADDTYPE. */
#define ARITHMETIC_KERNEL(name, suffix, attribute, bytes, type, addtype, op) \
    attribute static void name##_##type##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        const size_t step = (bytes) / sizeof(type); \
        for (; i + step <= n; i += step) { \
            const add_##type##suffix *x = (const void *)((const type *)a + i); \
            const add_##type##suffix *y = (const void *)((const type *)b + i); \
            *(add_##type##suffix *)(void *)((type *)to + i) = *x op * y; \
        } \
        for (; i < n; i++) \
            ((type *)to)[i] = \
                (type)((addtype)((const type *)a)[i] op(addtype)((const type *)b)[i]); \
    }

/* Q where the operands differ. Numbers that are equal have the same bits but for zeros. */
#define HIGHER_ZERO(p, q, same) ((q) & ((p) | ~(same)))
#define LOWER_ZERO(p, q, same) ((q) | ((p) & (same)))

/*
 * a OP b ? a : b. Of floating point it is maximum and minimum of IEEE 754-2019, which do not depend
 * on the order of operands: NaN if one is NaN, and -0 is less than +0.
 */
#define CHOICE_KERNEL(name, suffix, attribute, bytes, type, itype, op, zero) \
    attribute static void name##_##type##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        const size_t step = (bytes) / sizeof(type); \
        for (; i + step <= n; i += step) { \
            vec_##type##suffix x = \
                *(const vec_##type##suffix *)(const void *)((const type *)a + i); \
            vec_##type##suffix y = \
                *(const vec_##type##suffix *)(const void *)((const type *)b + i); \
            mask_##type##suffix p = (mask_##type##suffix)x, q = (mask_##type##suffix)y; \
            mask_##type##suffix first = (x op y) | (x != x), same = x == y; \
            *(mask_##type##suffix *)(void *)((type *)to + i) = \
                (p & first) | (zero(p, q, same) & ~first); \
        } \
        for (; i < n; i++) { \
            type x = ((const type *)a)[i], y = ((const type *)b)[i]; \
            itype p, q, same = -(itype)(x == y); \
            memcpy(&p, &x, sizeof p); \
            memcpy(&q, &y, sizeof q); \
            p = x op y || x != x ? p : zero(p, q, same); \
            memcpy((type *)to + i, &p, sizeof p); \
        } \
    }

#define KERNELS(suffix, attribute, bytes, type, itype, addtype) \
    typedef addtype add_##type##suffix __attribute__((vector_size(bytes), aligned(1), may_alias)); \
    typedef type vec_##type##suffix __attribute__((vector_size(bytes), aligned(1), may_alias)); \
    typedef itype mask_##type##suffix __attribute__((vector_size(bytes), aligned(1), may_alias)); \
    ARITHMETIC_KERNEL(sum, suffix, attribute, bytes, type, addtype, +) \
    ARITHMETIC_KERNEL(prod, suffix, attribute, bytes, type, addtype, *) \
    CHOICE_KERNEL(max, suffix, attribute, bytes, type, itype, >, HIGHER_ZERO) \
    CHOICE_KERNEL(min, suffix, attribute, bytes, type, itype, <, LOWER_ZERO)

/* Integers wrap, so they are added and multiplied as unsigned. */
#define ALL_KERNELS(suffix, attribute, bytes) \
    KERNELS(suffix, attribute, bytes, float, int32_t, float) \
    KERNELS(suffix, attribute, bytes, double, int64_t, double) \
    KERNELS(suffix, attribute, bytes, int32_t, int32_t, uint32_t) \
    KERNELS(suffix, attribute, bytes, int64_t, int64_t, uint64_t)
#define ROW(name, suffix) \
    {name##_float##suffix, name##_double##suffix, name##_int32_t##suffix, name##_int64_t##suffix}
#define TABLE(suffix) \
    {[ACCL_SUM] = ROW(sum, suffix), \
     [ACCL_MAX] = ROW(max, suffix), \
     [ACCL_MIN] = ROW(min, suffix), \
     [ACCL_PROD] = ROW(prod, suffix)}

ALL_KERNELS(_base, , 16)
#if defined(__x86_64__)
ALL_KERNELS(_avx2, __attribute__((target("avx2"))), 32)
ALL_KERNELS(_avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), 64)
#endif

enum reduce_vectors acclib_reduce_vectors(void)
{
    if (processor_has_avx512())
        return REDUCE_AVX512;
    return processor_has_avx2() ? REDUCE_AVX2 : REDUCE_BASE;
}

reduce_fn acclib_reduce_kernel(uint32_t function, uint32_t type, enum reduce_vectors vectors)
{
    static const reduce_fn kernels[][ACCL_PROD + 1][4] = {
        [REDUCE_BASE] = TABLE(_base),
#if defined(__x86_64__)
        [REDUCE_AVX2] = TABLE(_avx2),
        [REDUCE_AVX512] = TABLE(_avx512),
#endif
    };
    unsigned column = type == ACCL_FLOAT64 ? 1
                      : type == ACCL_INT32 ? 2
                      : type == ACCL_INT64 ? 3
                                           : 0;

    return kernels[vectors][function][column];
}

/* An operand's block as float32 with the values of float16. */
static void load_half(float *to, const uint8_t *from, uint32_t type, size_t at, size_t n)
{
    if (type == ACCL_FLOAT16)
        acclib_half_widen(to, (const uint16_t *)(const void *)from + at, n);
    else
        acclib_half_round(to, (const float *)(const void *)from + at, n);
}

static void reduce_half(const struct reduction *r, size_t start, size_t count)
{
    float acc[BLOCK], next[BLOCK];
    reduce_fn combine = acclib_reduce_kernel(r->function, ACCL_FLOAT32, acclib_reduce_vectors());
    for (size_t at = start; at < start + count; at += BLOCK) {
        size_t n = start + count - at < BLOCK ? start + count - at : BLOCK;
        uint32_t k = r->first;
        load_half(acc, r->operands[k], r->operand_types[k], at, n);
        for (uint32_t i = 1; i < r->n; i++) {
            k = k + 1 == r->n ? 0 : k + 1;
            load_half(next, r->operands[k], r->operand_types[k], at, n);
            combine(acc, acc, next, n);
            acclib_half_round(acc, acc, n);
        }
        for (uint32_t i = 0; i < r->n_results; i++) {
            if (r->result_types[i] == ACCL_FLOAT16)
                acclib_half_narrow((uint16_t *)(void *)r->results[i] + at, acc, n);
            else
                copy_memory(r->results[i] + at * sizeof(float), acc, n * sizeof(float));
        }
    }
}

void acclib_reduce(const struct reduction *r, size_t start, size_t count)
{
    if (r->type == ACCL_FLOAT16) {
        reduce_half(r, start, count);
        return;
    }

    size_t size = acclib_dtype_bytes(r->type);
    if (r->n == 1) {
        for (uint32_t i = 0; i < r->n_results; i++)
            if (r->results[i] != r->operands[0])
                copy_memory(r->results[i] + start * size, r->operands[0] + start * size,
                            count * size);
        return;
    }

    _Alignas(64) uint8_t block[BLOCK * sizeof(double)];
    reduce_fn combine = acclib_reduce_kernel(r->function, r->type, acclib_reduce_vectors());
    for (size_t at = start; at < start + count; at += BLOCK) {
        size_t n = start + count - at < BLOCK ? start + count - at : BLOCK;
        uint32_t k = r->first;
        const uint8_t *left = r->operands[k] + at * size;
        for (uint32_t i = 1; i < r->n; i++) {
            k = k + 1 == r->n ? 0 : k + 1;
            /* Not before the last step: the result may be the same memory as an operand. */
            bool last = i + 1 == r->n && r->n_results == 1;
            uint8_t *to = last ? r->results[0] + at * size : block;
            combine(to, left, r->operands[k] + at * size, n);
            left = block;
        }
        for (uint32_t i = 0; r->n_results > 1 && i < r->n_results; i++)
            copy_memory(r->results[i] + at * size, block, n * size);
    }
}
