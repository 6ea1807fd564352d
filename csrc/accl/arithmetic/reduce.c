/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions over the operands of several ranks, one after the other in a given order.
 *
 * Work is done in blocks that stay in the L1 cache. float16 and bfloat16 are computed in
 * float32 and rounded after every step, which gives the bits that their own arithmetic would.
 */
#include "accl/arithmetic/reduce.h"

#include <string.h>

#include "accl.h"
#include "accl/arithmetic/bfloat.h"
#include "accl/arithmetic/complex.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/half.h"
#include "common/copy.h"
#include "common/processor.h"

/*
 * Vectors are as long as the target's registers: of longer ones the compiler compares each element
 * by itself. Elements may be at any address.
 */
#define UNALIGNED __attribute__((aligned(1), may_alias))

/* a OP b. Integers wrap, so they are added and multiplied as unsigned, and not as int. */
#define ARITHMETIC_KERNEL(name, suffix, attribute, bytes, type, op) \
    attribute static void name##_##type##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        const size_t step = (bytes) / sizeof(type); \
        for (; i + step <= n; i += step) { \
            const vec_##type##suffix *x = (const void *)((const one_##type *)a + i); \
            const vec_##type##suffix *y = (const void *)((const one_##type *)b + i); \
            *(vec_##type##suffix *)(void *)((one_##type *)to + i) = *x op * y; \
        } \
        for (; i < n; i++) \
            ((one_##type *)to)[i] = \
                (type)(1U * ((const one_##type *)a)[i] op(1U * ((const one_##type *)b)[i])); \
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
                *(const vec_##type##suffix *)(const void *)((const one_##type *)a + i); \
            vec_##type##suffix y = \
                *(const vec_##type##suffix *)(const void *)((const one_##type *)b + i); \
            mask_##type##suffix p = (mask_##type##suffix)x, q = (mask_##type##suffix)y; \
            mask_##type##suffix first = (x op y) | (x != x), same = x == y; \
            *(mask_##type##suffix *)(void *)((one_##type *)to + i) = \
                (p & first) | (zero(p, q, same) & ~first); \
        } \
        for (; i < n; i++) { \
            type x = ((const one_##type *)a)[i], y = ((const one_##type *)b)[i]; \
            itype p, q, same = (itype) - (x == y); \
            memcpy(&p, &x, sizeof p); \
            memcpy(&q, &y, sizeof q); \
            p = (itype)(x op y || x != x ? p : zero(p, q, same)); \
            memcpy((one_##type *)to + i, &p, sizeof p); \
        } \
    }

/* Truth values, which are 0 and 1 in the result: `or` and `and`. */
#define TRUTH_KERNEL(name, suffix, attribute, bytes, expression) \
    attribute static void name##_truth##suffix(void *to, const void *a, const void *b, size_t n) \
    { \
        size_t i = 0; \
        for (; i + (bytes) <= n; i += (bytes)) { \
            vec_uint8_t##suffix x = *(const vec_uint8_t##suffix *)((const uint8_t *)a + i); \
            vec_uint8_t##suffix y = *(const vec_uint8_t##suffix *)((const uint8_t *)b + i); \
            *(vec_uint8_t##suffix *)((uint8_t *)to + i) = (vec_uint8_t##suffix)(expression) & 1; \
        } \
        for (; i < n; i++) { \
            uint8_t x = ((const uint8_t *)a)[i], y = ((const uint8_t *)b)[i]; \
            ((uint8_t *)to)[i] = (expression) & 1; \
        } \
    }

/* A sum of complex numbers is one of twice as many numbers. */
#define COMPLEX_KERNEL(suffix, attribute, type) \
    attribute static void sum_complex_##type##suffix(void *to, const void *a, const void *b, \
                                                     size_t n) \
    { \
        sum_##type##suffix(to, a, b, 2 * n); \
    }

typedef float one_float UNALIGNED;
typedef double one_double UNALIGNED;
#define ONE(type) typedef type one_##type UNALIGNED
ONE(int8_t);
ONE(int16_t);
ONE(int32_t);
ONE(int64_t);
ONE(uint8_t);
ONE(uint16_t);
ONE(uint32_t);
ONE(uint64_t);

#define CHOICE_KERNELS(suffix, attribute, bytes, type, itype) \
    typedef type vec_##type##suffix __attribute__((vector_size(bytes), aligned(1), may_alias)); \
    typedef itype mask_##type##suffix __attribute__((vector_size(bytes), aligned(1), may_alias)); \
    CHOICE_KERNEL(max, suffix, attribute, bytes, type, itype, >, HIGHER_ZERO) \
    CHOICE_KERNEL(min, suffix, attribute, bytes, type, itype, <, LOWER_ZERO)
#define KERNELS(suffix, attribute, bytes, type, itype) \
    CHOICE_KERNELS(suffix, attribute, bytes, type, itype) \
    ARITHMETIC_KERNEL(sum, suffix, attribute, bytes, type, +) \
    ARITHMETIC_KERNEL(prod, suffix, attribute, bytes, type, *)
#define ALL_KERNELS(suffix, attribute, bytes) \
    KERNELS(suffix, attribute, bytes, float, int32_t) \
    KERNELS(suffix, attribute, bytes, double, int64_t) \
    KERNELS(suffix, attribute, bytes, uint8_t, int8_t) \
    KERNELS(suffix, attribute, bytes, uint16_t, int16_t) \
    KERNELS(suffix, attribute, bytes, uint32_t, int32_t) \
    KERNELS(suffix, attribute, bytes, uint64_t, int64_t) \
    CHOICE_KERNELS(suffix, attribute, bytes, int8_t, int8_t) \
    CHOICE_KERNELS(suffix, attribute, bytes, int16_t, int16_t) \
    CHOICE_KERNELS(suffix, attribute, bytes, int32_t, int32_t) \
    CHOICE_KERNELS(suffix, attribute, bytes, int64_t, int64_t) \
    TRUTH_KERNEL(any, suffix, attribute, bytes, (x | y) != 0) \
    TRUTH_KERNEL(all, suffix, attribute, bytes, (x != 0) & (y != 0)) \
    COMPLEX_KERNEL(suffix, attribute, float) \
    COMPLEX_KERNEL(suffix, attribute, double)

/* X(type of accl.h, SUM, MAX, MIN, PROD) */
#define KERNEL_LIST(X, suffix) \
    X(FLOAT32, sum_float, max_float, min_float, prod_float, suffix) \
    X(FLOAT64, sum_double, max_double, min_double, prod_double, suffix) \
    X(INT8, sum_uint8_t, max_int8_t, min_int8_t, prod_uint8_t, suffix) \
    X(INT16, sum_uint16_t, max_int16_t, min_int16_t, prod_uint16_t, suffix) \
    X(INT32, sum_uint32_t, max_int32_t, min_int32_t, prod_uint32_t, suffix) \
    X(INT64, sum_uint64_t, max_int64_t, min_int64_t, prod_uint64_t, suffix) \
    X(UINT8, sum_uint8_t, max_uint8_t, min_uint8_t, prod_uint8_t, suffix) \
    X(UINT16, sum_uint16_t, max_uint16_t, min_uint16_t, prod_uint16_t, suffix) \
    X(UINT32, sum_uint32_t, max_uint32_t, min_uint32_t, prod_uint32_t, suffix) \
    X(UINT64, sum_uint64_t, max_uint64_t, min_uint64_t, prod_uint64_t, suffix) \
    X(BOOL, any_truth, any_truth, all_truth, all_truth, suffix) \
    X(COMPLEX64, sum_complex_float, none, none, acclib_prod_complex_float, suffix) \
    X(COMPLEX128, sum_complex_double, none, none, acclib_prod_complex_double, suffix)

/* Functions that there are not, which callers refuse before. */
#define none_base NULL
#define none_avx2 NULL
#define none_avx512 NULL

#define COLUMN(type, sum, max, min, prod, suffix) COLUMN_##type,
enum { KERNEL_LIST(COLUMN, ) COLUMNS };
#define ROW(type, sum, max, min, prod, suffix) \
    [COLUMN_##type] = {[ACCL_SUM] = sum##suffix, \
                       [ACCL_MAX] = max##suffix, \
                       [ACCL_MIN] = min##suffix, \
                       [ACCL_PROD] = prod##suffix},
#define TABLE(suffix) {KERNEL_LIST(ROW, suffix)}

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
    static const reduce_fn kernels[][COLUMNS][ACCL_PROD + 1] = {
        [REDUCE_BASE] = TABLE(_base),
#if defined(__x86_64__)
        [REDUCE_AVX2] = TABLE(_avx2),
        [REDUCE_AVX512] = TABLE(_avx512),
#endif
    };
    switch (type) {
#define KERNEL_CASE(type, sum, max, min, prod, suffix) \
    case ACCL_##type: return kernels[vectors][COLUMN_##type][function];
        KERNEL_LIST(KERNEL_CASE, )
    default: return NULL;
    }
}

/* An operand's block as float32 with the values of the 16 bits of TYPE. */
static void load_half(float *to, const uint8_t *from, uint32_t from_type, uint32_t type, size_t at,
                      size_t n)
{
    if (from_type == ACCL_FLOAT32)
        acclib_half_round(to, (const float *)(const void *)from + at, n);
    else if (type == ACCL_FLOAT16)
        acclib_half_widen(to, (const uint16_t *)(const void *)from + at, n);
    else
        acclib_bfloat_widen(to, from + at * sizeof(uint16_t), n);
}

static void reduce_half(const struct reduction *r, size_t start, size_t count)
{
    float acc[REDUCE_BLOCK], next[REDUCE_BLOCK];
    void (*round)(float *, const float *, size_t) =
        r->type == ACCL_FLOAT16 ? acclib_half_round : acclib_bfloat_round;
    reduce_fn combine = acclib_reduce_kernel(r->function, ACCL_FLOAT32, acclib_reduce_vectors());
    for (size_t at = start; at < start + count; at += REDUCE_BLOCK) {
        size_t n = start + count - at < REDUCE_BLOCK ? start + count - at : REDUCE_BLOCK;
        uint32_t k = r->first;
        load_half(acc, r->operands[k], r->operand_types[k], r->type, at, n);
        for (uint32_t i = 1; i < r->n; i++) {
            k = k + 1 == r->n ? 0 : k + 1;
            load_half(next, r->operands[k], r->operand_types[k], r->type, at, n);
            combine(acc, acc, next, n);
            round(acc, acc, n);
        }
        for (uint32_t i = 0; i < r->n_results; i++) {
            if (r->result_types[i] == ACCL_FLOAT32)
                copy_memory(r->results[i] + at * sizeof(float), acc, n * sizeof(float));
            else if (r->type == ACCL_FLOAT16)
                acclib_half_narrow((uint16_t *)(void *)r->results[i] + at, acc, n);
            else
                acclib_bfloat_narrow(r->results[i] + at * sizeof(uint16_t), acc, n);
        }
    }
}

void acclib_reduce(const struct reduction *r, size_t start, size_t count)
{
    if (r->type == ACCL_FLOAT16 || r->type == ACCL_BFLOAT16) {
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

    _Alignas(64) uint8_t block[REDUCE_BLOCK * sizeof(float)];
    reduce_fn combine = acclib_reduce_kernel(r->function, r->type, acclib_reduce_vectors());
    const size_t most = sizeof block / size;
    for (size_t at = start; at < start + count; at += most) {
        size_t n = start + count - at < most ? start + count - at : most;
        uint32_t k = r->first;
        const uint8_t *left = r->operands[k] + at * size;
        for (uint32_t i = 1; i < r->n; i++) {
            k = k + 1 == r->n ? 0 : k + 1;
            /* Not before the last step: the result may be the same memory as an operand. */
            bool last = i + 1 == r->n;
            uint8_t *to = last ? r->results[0] + at * size : block;
            combine(to, left, r->operands[k] + at * size, n);
            left = block;
        }
        for (uint32_t i = 1; i < r->n_results; i++)
            copy_memory(r->results[i] + at * size, r->results[0] + at * size, n * size);
    }
}
