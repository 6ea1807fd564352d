/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/accl/arithmetic/[a-z]*.c csrc/common/copy.c csrc/common/cores.c
 *
 * Reductions with every set of vector instructions that the processor has, bit by bit against
 * one element after the other; and copies between types.
 */
#include "accl/arithmetic/reduce.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "accl.h"
#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/half.h"
#include "accl/arithmetic/order.h"
#include "tests/support/check.h"

/* More than two blocks of elements. */
enum { MOST = 5000, OPERANDS_MOST = 5, GUARD = 64 };

static const uint32_t types[] = {
    ACCL_FLOAT32, ACCL_FLOAT64, ACCL_INT8,   ACCL_INT16, ACCL_INT32,     ACCL_INT64,     ACCL_UINT8,
    ACCL_UINT16,  ACCL_UINT32,  ACCL_UINT64, ACCL_BOOL,  ACCL_COMPLEX64, ACCL_COMPLEX128};
enum { TYPES = sizeof types / sizeof *types, LARGEST = 16 };

/* --- element by element --- */

static float float_of(const uint8_t *from)
{
    float value;
    memcpy(&value, from, sizeof value);
    return value;
}

static double double_of(const uint8_t *from)
{
    double value;
    memcpy(&value, from, sizeof value);
    return value;
}

static bool is_complex(uint32_t type)
{
    return type == ACCL_COMPLEX64 || type == ACCL_COMPLEX128;
}

static bool is_signed(uint32_t type)
{
    return type == ACCL_INT8 || type == ACCL_INT16 || type == ACCL_INT32 || type == ACCL_INT64;
}

/* The type of a complex number's parts. */
static uint32_t part_of(uint32_t type)
{
    return type == ACCL_COMPLEX64 ? ACCL_FLOAT32 : ACCL_FLOAT64;
}

/* MAX and MIN of complex numbers are refused before. */
static bool has_function(uint32_t type, uint32_t function)
{
    return !is_complex(type) || function == ACCL_SUM || function == ACCL_PROD;
}

static uint64_t integer_of(const uint8_t *from, uint32_t type)
{
    size_t size = acclib_dtype_bytes(type);
    uint64_t value = 0;
    memcpy(&value, from, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return is_signed(type) ? (value ^ sign) - sign : value;
}

/* The greater, or the lesser: NaN if one is, and -0 is less than +0. In steps, unlike the kernels.
 */
static double choose(double x, double y, bool greater)
{
    if (isnan(x) || isnan(y))
        return NAN;
    if (x == 0 && y == 0)
        return signbit(x) == greater ? y : x;
    return (x < y) == greater ? y : x;
}

static float combine_floats(float x, float y, uint32_t function)
{
    switch (function) {
    case ACCL_MAX:
    case ACCL_MIN: return (float)choose(x, y, function == ACCL_MAX);
    case ACCL_PROD: return x * y;
    default: return x + y;
    }
}

static double combine_doubles(double x, double y, uint32_t function)
{
    switch (function) {
    case ACCL_MAX:
    case ACCL_MIN: return choose(x, y, function == ACCL_MAX);
    case ACCL_PROD: return x * y;
    default: return x + y;
    }
}

static uint64_t combine_integers(uint64_t x, uint64_t y, uint32_t type, uint32_t function)
{
    bool less = is_signed(type) ? (int64_t)x < (int64_t)y : x < y;
    if (type == ACCL_BOOL)
        return function == ACCL_SUM || function == ACCL_MAX ? x || y : x && y;
    switch (function) {
    case ACCL_MAX: return less ? y : x;
    case ACCL_MIN: return less ? x : y;
    case ACCL_PROD: return x * y;
    default: return x + y;
    }
}

static void combine_one(uint8_t *to, const uint8_t *a, const uint8_t *b, uint32_t type,
                        uint32_t function)
{
    size_t half = acclib_dtype_bytes(type) / 2;
    uint8_t products[4][8], parts[2][8];
    if (is_complex(type) && function == ACCL_PROD) {
        for (size_t i = 0; i < 4; i++)
            combine_one(products[i], a + i / 2 * half, b + i % 2 * half, part_of(type), ACCL_PROD);
        /* A difference is the sum with what has the other sign. */
        products[3][half - 1] ^= 0x80;
        combine_one(parts[0], products[0], products[3], part_of(type), ACCL_SUM);
        combine_one(parts[1], products[1], products[2], part_of(type), ACCL_SUM);
        memcpy(to, parts[0], half);
        memcpy(to + half, parts[1], half);
    } else if (is_complex(type)) {
        combine_one(to, a, b, part_of(type), function);
        combine_one(to + half, a + half, b + half, part_of(type), function);
    } else if (type == ACCL_FLOAT32) {
        float z = combine_floats(float_of(a), float_of(b), function);
        memcpy(to, &z, sizeof z);
    } else if (type == ACCL_FLOAT64) {
        double z = combine_doubles(double_of(a), double_of(b), function);
        memcpy(to, &z, sizeof z);
    } else {
        uint64_t x = integer_of(a, type), y = integer_of(b, type);
        uint64_t z = combine_integers(x, y, type, function);
        memcpy(to, &z, acclib_dtype_bytes(type));
    }
}

/* Some elements are special: no number, zeros, the least integer, infinities. */
static const double specials[] = {NAN, -NAN, -0.0, 0.0, -0.0, 0.0, INFINITY, -INFINITY};

static void fill(uint8_t *to, uint32_t type, size_t n, uint64_t *state)
{
    if (is_complex(type)) {
        fill(to, part_of(type), 2 * n, state);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = check_random(state);
        size_t size = acclib_dtype_bytes(type);
        bool special = bits % 3 == 0;
        if (type == ACCL_FLOAT32) {
            float x = special ? (float)specials[bits >> 6 & 7] : (float)(int32_t)bits / 1e3F;
            memcpy(to + i * size, &x, size);
        } else if (type == ACCL_FLOAT64) {
            double x = special ? specials[bits >> 6 & 7] : (double)(int64_t)bits / 1e9;
            memcpy(to + i * size, &x, size);
        } else {
            uint64_t least = UINT64_C(1) << (8 * size - 1);
            bits = special ? least : bits;
            if (type == ACCL_BOOL)
                bits = special ? 0 : bits;
            memcpy(to + i * size, &bits, size);
        }
    }
}

/* Compares elements. One NaN equals another: the compiler decides which of two a sum keeps. */
static bool is_same(const uint8_t *a, const uint8_t *b, uint32_t type)
{
    size_t half = acclib_dtype_bytes(type) / 2;
    if (is_complex(type))
        return is_same(a, b, part_of(type)) && is_same(a + half, b + half, part_of(type));
    if (type == ACCL_FLOAT32 && isnan(float_of(a)))
        return isnan(float_of(b));
    if (type == ACCL_FLOAT64 && isnan(double_of(a)))
        return isnan(double_of(b));
    return memcmp(a, b, acclib_dtype_bytes(type)) == 0;
}

/* --- what a reduction consists of --- */

static void test_kernels(enum reduce_vectors vectors, uint32_t type, uint32_t function)
{
    enum { ELEMENTS = 150 };
    uint8_t a[ELEMENTS * LARGEST + LARGEST], b[sizeof a], to[sizeof a + GUARD], expected[LARGEST];
    uint64_t state = vectors * 100 + type * 10 + function;
    size_t size = acclib_dtype_bytes(type);
    reduce_fn combine = acclib_reduce_kernel(function, type, vectors);

    for (size_t n = 0; n <= ELEMENTS; n++) {
        /* Starts that no vector has, and no element. */
        size_t skew = n % 3 ? size : n % 2;
        fill(a + skew, type, n, &state);
        fill(b + skew, type, n, &state);
        memset(to, 0x5A, sizeof to);
        combine(to + skew, a + skew, b + skew, n);

        for (size_t i = 0; i < n; i++) {
            size_t at = skew + i * size;
            combine_one(expected, a + at, b + at, type, function);
            CHECK(is_same(to + at, expected, type));
        }
        for (size_t i = 0; i < skew; i++)
            CHECK(to[i] == 0x5A);
        for (size_t i = skew + n * size; i < sizeof to; i++)
            CHECK(to[i] == 0x5A);

        /* In place. */
        combine(a + skew, a + skew, b + skew, n);
        CHECK(memcmp(a + skew, to + skew, n * size) == 0);
    }
}

/* --- whole reductions --- */

struct vectors_of_ranks {
    uint8_t memory[OPERANDS_MOST][MOST * LARGEST];
    uint8_t kept[OPERANDS_MOST][MOST * LARGEST];
    uint8_t other[MOST * LARGEST];
    const uint8_t *operands[OPERANDS_MOST];
    uint8_t types[OPERANDS_MOST];
};

static struct vectors_of_ranks v;

static void test_reduction(uint32_t type, uint32_t function, uint32_t n, uint32_t first,
                           uint32_t n_results)
{
    uint64_t state = type * 1000 + function * 100 + n * 10 + first;
    size_t size = acclib_dtype_bytes(type);
    for (uint32_t k = 0; k < n; k++) {
        fill(v.memory[k], type, MOST, &state);
        memcpy(v.kept[k], v.memory[k], sizeof v.kept[k]);
        v.operands[k] = v.memory[k];
        v.types[k] = (uint8_t)type;
    }

    /* The first result is in the place of the last operand. */
    size_t start = 7, count = MOST - 20;
    uint8_t *const results[] = {v.memory[n - 1], v.other};
    uint8_t result_types[] = {(uint8_t)type, (uint8_t)type};
    struct reduction r = {.function = function,
                          .type = type,
                          .n = n,
                          .operands = v.operands,
                          .operand_types = v.types,
                          .first = first,
                          .n_results = n_results,
                          .results = results,
                          .result_types = result_types};
    memset(v.other, 0x5A, sizeof v.other);
    acclib_reduce(&r, start, count);

    for (size_t i = 0; i < MOST; i++) {
        uint8_t expected[LARGEST];
        memcpy(expected, v.kept[n - 1] + i * size, size);
        if (i >= start && i < start + count) {
            memcpy(expected, v.kept[first] + i * size, size);
            for (uint32_t k = 1; k < n; k++)
                combine_one(expected, expected, v.kept[(first + k) % n] + i * size, type, function);
        }
        CHECK(is_same(results[0] + i * size, expected, type));
        if (n_results > 1 && i >= start && i < start + count)
            CHECK(is_same(results[1] + i * size, expected, type));
        else if (n_results > 1)
            CHECK(results[1][i * size] == 0x5A);
    }
}

/* float16 rounds after each step; operands and results are float16 or float32. */
static void test_half_reduction(uint32_t n, uint32_t function)
{
    static uint16_t halves[OPERANDS_MOST][MOST], half_result[MOST];
    static float singles[OPERANDS_MOST][MOST], single_result[MOST];
    uint64_t state = n * 2 + function;
    for (uint32_t k = 0; k < n; k++) {
        fill((uint8_t *)singles[k], ACCL_FLOAT32, MOST, &state);
        for (size_t i = 0; i < MOST; i++) {
            singles[k][i] /= 1e3F;
            halves[k][i] = 0;
        }
        acclib_half_narrow_plain(halves[k], singles[k], MOST);
        v.types[k] = k % 2 ? ACCL_FLOAT16 : ACCL_FLOAT32;
        v.operands[k] = k % 2 ? (const uint8_t *)halves[k] : (const uint8_t *)singles[k];
    }

    uint8_t *const results[] = {(uint8_t *)half_result, (uint8_t *)single_result};
    const uint8_t result_types[] = {ACCL_FLOAT16, ACCL_FLOAT32};
    struct reduction r = {.function = function,
                          .type = ACCL_FLOAT16,
                          .n = n,
                          .operands = v.operands,
                          .operand_types = v.types,
                          .first = n - 1,
                          .n_results = 2,
                          .results = results,
                          .result_types = result_types};
    acclib_reduce(&r, 0, MOST);

    for (size_t i = 0; i < MOST; i++) {
        float sum = (float)(_Float16)singles[n - 1][i];
        for (uint32_t k = 0; k + 1 < n; k++) {
            float next = (float)(_Float16)singles[k][i];
            sum = (float)(_Float16)combine_floats(sum, next, function);
        }
        CHECK(is_same((const uint8_t *)&single_result[i], (const uint8_t *)&sum, ACCL_FLOAT32));
        float widened;
        acclib_half_widen_plain(&widened, &half_result[i], 1);
        CHECK(is_same((const uint8_t *)&widened, (const uint8_t *)&sum, ACCL_FLOAT32));
    }
}

/* bfloat16 rounds after each step to nearest even, and keeps NaN. */
static uint16_t bfloat_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t rest = bits & 0xFFFF, upper = bits >> 16;
    if (isnan(x))
        return 0x7FC0;
    return (uint16_t)(upper + (rest > 0x8000 || (rest == 0x8000 && upper & 1)));
}

static float from_bfloat(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void test_bfloat_reduction(uint32_t n, uint32_t function)
{
    static uint8_t halves[OPERANDS_MOST][MOST * 2 + 1], result[MOST * 2 + 1];
    static uint16_t kept[OPERANDS_MOST][MOST];
    static float single[MOST];
    uint64_t state = n * 2 + function;
    uint8_t *to = result + 1;
    const uint8_t result_type = ACCL_BFLOAT16;
    for (uint32_t k = 0; k < n; k++) {
        fill((uint8_t *)single, ACCL_FLOAT32, MOST, &state);
        for (size_t i = 0; i < MOST; i++)
            kept[k][i] = bfloat_of(single[i]);
        memcpy(halves[k] + 1, kept[k], sizeof kept[k]);
        v.types[k] = ACCL_BFLOAT16;
        v.operands[k] = halves[k] + 1;
    }

    struct reduction r = {.function = function,
                          .type = ACCL_BFLOAT16,
                          .n = n,
                          .operands = v.operands,
                          .operand_types = v.types,
                          .n_results = 1,
                          .results = &to,
                          .result_types = &result_type};
    acclib_reduce(&r, 0, MOST);

    for (size_t i = 0; i < MOST; i++) {
        float sum = from_bfloat(kept[0][i]);
        for (uint32_t k = 1; k < n; k++)
            sum = from_bfloat(bfloat_of(combine_floats(sum, from_bfloat(kept[k][i]), function)));
        uint16_t got;
        memcpy(&got, to + 2 * i, sizeof got);
        float found = from_bfloat(got);
        CHECK(is_same((const uint8_t *)&found, (const uint8_t *)&sum, ACCL_FLOAT32));
    }
}

/* --- float16 --- */

/* Each of the 65536 numbers widens and narrows to itself, by the processor and without it. */
static void test_halves_survive(void)
{
    static uint16_t all[65536], back[65536], plain[65536];
    static float wide[65536], wide_plain[65536];
    for (size_t i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
    acclib_half_widen(wide, all, 65536);
    acclib_half_widen_plain(wide_plain, all, 65536);
    CHECK(memcmp(wide, wide_plain, sizeof wide) == 0);
    acclib_half_narrow(back, wide, 65536);
    acclib_half_narrow_plain(plain, wide, 65536);
    CHECK(memcmp(back, plain, sizeof back) == 0);

    for (size_t i = 0; i < 65536; i++) {
        bool no_number = (i & 0x7C00) == 0x7C00 && (i & 0x3FF);
        CHECK(back[i] == (no_number ? (i | 0x200) : i));
    }
}

/* Halfway between two numbers, just beside it, and where the exponents end. */
static void test_halves_round_to_even(void)
{
    static const struct {
        float from;
        uint16_t to;
    } cases[] = {
        {1.0F + 0x1p-11F, 0x3C00}, {1.0F + 0x1.8p-10F, 0x3C02}, {1.0F + 0x1.01p-11F, 0x3C01},
        {65519.99F, 0x7BFF},       {65520.0F, 0x7C00},          {-65520.0F, 0xFC00},
        {0x1p-24F, 0x0001},        {0x1p-25F, 0x0000},          {0x1.01p-25F, 0x0001},
        {0x1.8p-24F, 0x0002},      {-0x1p-26F, 0x8000},         {0x1.ffbp-15F, 0x03FF},
        {0x1.ffcp-15F, 0x0400},    {INFINITY, 0x7C00}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t half = 1;
        acclib_half_narrow_plain(&half, &cases[i].from, 1);
        CHECK(half == cases[i].to);
        float eight[8], rounded[8];
        for (size_t k = 0; k < 8; k++)
            eight[k] = cases[i].from;
        acclib_half_round(rounded, eight, 8);
        float expected;
        acclib_half_widen_plain(&expected, &half, 1);
        CHECK(rounded[7] == expected && rounded[0] == expected);
    }
}

/* --- copies between types --- */

static void test_copies(void)
{
    float from[21], to[21];
    uint16_t half[21];
    for (size_t i = 0; i < 21; i++)
        from[i] = 1.0F + (float)i / 3.0F;

    acclib_convert(half, ACCL_FLOAT16, from, ACCL_FLOAT32, 21, false);
    acclib_convert(to, ACCL_FLOAT32, half, ACCL_FLOAT16, 21, false);
    for (size_t i = 0; i < 21; i++)
        CHECK(to[i] == (float)(_Float16)from[i] && to[i] != from[i] * 2);
    memset(to, 0, sizeof to);
    acclib_convert(to, ACCL_FLOAT32, from, ACCL_FLOAT32, 21, true);
    for (size_t i = 0; i < 21; i++)
        CHECK(to[i] == (float)(_Float16)from[i]);
    acclib_convert(to, ACCL_FLOAT32, from, ACCL_FLOAT32, 20, false);
    CHECK(memcmp(to, from, 20 * sizeof *to) == 0 && to[20] != from[20]);

    /* float16 is not rounded again, and a copy to itself changes nothing. */
    uint16_t same[21];
    acclib_convert(same, ACCL_FLOAT16, half, ACCL_FLOAT16, 21, true);
    CHECK(memcmp(same, half, sizeof same) == 0);
    acclib_convert(same, ACCL_FLOAT16, same, ACCL_FLOAT16, 21, false);
    CHECK(memcmp(same, half, sizeof same) == 0);
    acclib_convert(NULL, ACCL_INT8, NULL, ACCL_INT8, 0, false);
}

static void test_types(void)
{
    static const size_t bytes[] = {0, 1, 2, 4, 8, 4, 8, 1, 2, 4, 8, 0};
    for (uint32_t type = 0; type < sizeof bytes / sizeof *bytes; type++)
        CHECK(acclib_dtype_bytes(type) == bytes[type]);
    CHECK(acclib_dtype_bytes(ACCL_COMPLEX128) == 16 && acclib_dtype_bytes(ACCL_BOOL) == 1);
    CHECK(acclib_dtype_alignment(ACCL_FLOAT64) == 8 && acclib_dtype_alignment(ACCL_UINT64) == 1);
    CHECK(acclib_dtype_arithmetic(ACCL_BITS8) == ACCL_ARITHMETIC_NONE);
    CHECK(acclib_dtype_arithmetic(11) == ACCL_ARITHMETIC_NONE);
    CHECK(acclib_dtype_segment(ACCL_FLOAT32, 1023) == 1016);
    CHECK(acclib_dtype_segment(ACCL_COMPLEX128, 1023) == 1008);
    CHECK(acclib_dtype_segment(ACCL_COMPLEX128, 8) == 16);
    CHECK(acclib_reduce_kernel(ACCL_MAX, ACCL_COMPLEX64, REDUCE_BASE) == NULL);
    CHECK(acclib_reduce_kernel(ACCL_SUM, ACCL_BITS8, REDUCE_BASE) == NULL);
    CHECK(strcmp(acclib_dtype_name(ACCL_FLOAT16), "float16") == 0);
    CHECK(strcmp(acclib_dtype_name(11), "an unknown type") == 0);
}

/* --- the order of an allreduce --- */

static void test_runs_cover_the_vector(void)
{
    for (uint32_t n = 1; n < 6; n++) {
        for (uint64_t count = 1; count < 70; count++) {
            struct order order = acclib_order_of(count, n, 64, 4); /* 16 elements */
            CHECK(order.segment == (uint64_t)16 / n * n);
            for (uint64_t element = 0, run; element < count; element += run) {
                uint32_t first = acclib_order_first(&order, element, &run);
                CHECK(first < n && run > 0 && element + run <= count);
                for (uint64_t k = 1; k < run; k++) {
                    uint64_t rest;
                    CHECK(acclib_order_first(&order, element + k, &rest) == first);
                    CHECK(rest == run - k);
                }
            }
        }
    }
    /* A segment shorter than an element of each rank. */
    CHECK(acclib_order_of(10, 4, 8, 4).segment == 4);
}

int main(void)
{
    for (enum reduce_vectors vectors = REDUCE_BASE; vectors <= acclib_reduce_vectors(); vectors++)
        for (size_t i = 0; i < TYPES; i++)
            for (uint32_t function = ACCL_SUM; function <= ACCL_PROD; function++)
                if (has_function(types[i], function))
                    test_kernels(vectors, types[i], function);

    for (size_t i = 0; i < TYPES; i++)
        for (uint32_t n = 1; n <= OPERANDS_MOST; n += 2)
            for (uint32_t first = 0; first < n; first += 2)
                for (uint32_t function = ACCL_SUM; function <= ACCL_PROD; function++)
                    for (uint32_t n_results = 1; n_results <= 2 && has_function(types[i], function);
                         n_results++)
                        test_reduction(types[i], function, n, first, n_results);

    for (uint32_t n = 1; n <= 3; n++) {
        for (uint32_t function = ACCL_SUM; function <= ACCL_PROD; function++)
            test_half_reduction(n, function);
    }
    for (uint32_t n = 1; n <= 3; n++) {
        for (uint32_t function = ACCL_SUM; function <= ACCL_PROD; function++)
            test_bfloat_reduction(n, function);
    }
    test_halves_survive();
    test_halves_round_to_even();
    test_copies();
    test_types();
    test_runs_cover_the_vector();
    return 0;
}
