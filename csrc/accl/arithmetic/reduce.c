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

#define BLOCK 2048 /* elements */

/* Vectors of 64 bytes: the compiler makes of them what the target has. */
/* a OP b, with elements of ADDTYPE. */
#define ARITHMETIC_KERNEL(name, suffix, attribute, type, addtype, op) \
    attribute static void name##_##type##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        const size_t step = 64 / sizeof(type); \
        for (; i + step <= n; i += step) { \
            add_##type##suffix x, y; \
            memcpy(&x, (const type *)a + i, 64); \
            memcpy(&y, (const type *)b + i, 64); \
            x = x op y; \
            memcpy((type *)to + i, &x, 64); \
        } \
        for (; i < n; i++) \
            ((type *)to)[i] = \
                (type)((addtype)((const type *)a)[i] op(addtype)((const type *)b)[i]); \
    }

/* a OP b ? a : b */
#define CHOICE_KERNEL(name, suffix, attribute, type, op) \
    attribute static void name##_##type##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        const size_t step = 64 / sizeof(type); \
        for (; i + step <= n; i += step) { \
            vec_##type##suffix x, y; \
            memcpy(&x, (const type *)a + i, 64); \
            memcpy(&y, (const type *)b + i, 64); \
            mask_##type##suffix m = x op y; \
            mask_##type##suffix r = ((mask_##type##suffix)x & m) | ((mask_##type##suffix)y & ~m); \
            memcpy((type *)to + i, &r, 64); \
        } \
        for (; i < n; i++) { \
            type x = ((const type *)a)[i], y = ((const type *)b)[i]; \
            ((type *)to)[i] = x op y ? x : y; \
        } \
    }

#define KERNELS(suffix, attribute, type, itype, addtype) \
    typedef addtype add_##type##suffix __attribute__((vector_size(64), aligned(1), may_alias)); \
    typedef type vec_##type##suffix __attribute__((vector_size(64), aligned(1), may_alias)); \
    typedef itype mask_##type##suffix __attribute__((vector_size(64), aligned(1), may_alias)); \
    ARITHMETIC_KERNEL(sum, suffix, attribute, type, addtype, +) \
    ARITHMETIC_KERNEL(prod, suffix, attribute, type, addtype, *) \
    CHOICE_KERNEL(max, suffix, attribute, type, >) \
    CHOICE_KERNEL(min, suffix, attribute, type, <)

/* Integers wrap, so they are added and multiplied as unsigned. */
#define ALL_KERNELS(suffix, attribute) \
    KERNELS(suffix, attribute, float, int32_t, float) \
    KERNELS(suffix, attribute, double, int64_t, double) \
    KERNELS(suffix, attribute, int32_t, int32_t, uint32_t) \
    KERNELS(suffix, attribute, int64_t, int64_t, uint64_t)
#define ROW(name, suffix) \
    {name##_float##suffix, name##_double##suffix, name##_int32_t##suffix, name##_int64_t##suffix}
#define TABLE(suffix) \
    {[ACCL_SUM] = ROW(sum, suffix), \
     [ACCL_MAX] = ROW(max, suffix), \
     [ACCL_MIN] = ROW(min, suffix), \
     [ACCL_PROD] = ROW(prod, suffix)}

ALL_KERNELS(_base, )
#if defined(__x86_64__)
ALL_KERNELS(_avx2, __attribute__((target("avx2"))))
ALL_KERNELS(_avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))
#endif

enum reduce_vectors acclib_reduce_vectors(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return REDUCE_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return REDUCE_AVX2;
#endif

    return REDUCE_BASE;
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
