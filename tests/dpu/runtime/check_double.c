/* SPDX-License-Identifier: BSD-3-Clause */
/* The run time's double precision arithmetic, compared bit by bit with the host's. */
#include "random_bits.h"

#include <math.h>
#include <string.h>

#define R(name) dpu_runtime##name

uint64_t R(__adddf3)(uint64_t a, uint64_t b);
uint64_t R(__subdf3)(uint64_t a, uint64_t b);
uint64_t R(__muldf3)(uint64_t a, uint64_t b);
uint64_t R(__divdf3)(uint64_t a, uint64_t b);
uint64_t R(__negdf2)(uint64_t a);
int32_t R(__eqdf2)(uint64_t a, uint64_t b);
int32_t R(__nedf2)(uint64_t a, uint64_t b);
int32_t R(__ltdf2)(uint64_t a, uint64_t b);
int32_t R(__ledf2)(uint64_t a, uint64_t b);
int32_t R(__gtdf2)(uint64_t a, uint64_t b);
int32_t R(__gedf2)(uint64_t a, uint64_t b);
int32_t R(__unorddf2)(uint64_t a, uint64_t b);
int32_t R(__fixdfsi)(uint64_t a);
uint32_t R(__fixunsdfsi)(uint64_t a);
int64_t R(__fixdfdi)(uint64_t a);
uint64_t R(__fixunsdfdi)(uint64_t a);
uint64_t R(__floatsidf)(int32_t i);
uint64_t R(__floatunsidf)(uint32_t i);
uint64_t R(__floatdidf)(int64_t i);
uint64_t R(__floatundidf)(uint64_t i);
uint32_t R(__truncdfsf2)(uint64_t a);

static const uint64_t edges[] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x0000000000000003,
    0x0007ffffffffffff, 0x0008000000000000, 0x000ffffffffffffe, 0x000fffffffffffff,
    0x0010000000000000, 0x0010000000000001, 0x001fffffffffffff, 0x0020000000000000,
    0x3690000000000000, 0x36a0000000000000, 0x36a0000000000001, 0x380fffffffffffff,
    0x380fffffe0000000, 0x380fffffc0000000, 0x3810000000000000, 0x3ca0000000000000,
    0x3ca0000000000001, 0x3cb0000000000000, 0x3fdfffffffffffff, 0x3fe0000000000000,
    0x3feffffffffffffe, 0x3fefffffffffffff, 0x3ff0000000000000, 0x3ff0000000000001,
    0x3ff0000010000000, 0x3ff0000010000001, 0x3ff0000030000000, 0x3fffffffffffffff,
    0x41dfffffffc00000, 0x41e0000000000000, 0x41efffffffe00000, 0x41efffffffffffff,
    0x41f0000000000000, 0x4330000000000000, 0x433fffffffffffff, 0x43dfffffffffffff,
    0x43e0000000000000, 0x43efffffffffffff, 0x43f0000000000000, 0x47efffffe0000000,
    0x47efffffefffffff, 0x47effffff0000000, 0x47f0000000000000, 0x7fd0000000000000,
    0x7fdfffffffffffff, 0x7fe0000000000000, 0x7feffffffffffffe, 0x7fefffffffffffff,
    0x7ff0000000000000, 0x7ff0000000000001, 0x7ff7ffffffffffff, 0x7ff8000000000000,
    0x7fffffffffffffff,
};
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static void fail(const char *what, uint64_t a, uint64_t b, uint64_t got, uint64_t wanted)
{
    fprintf(stderr, "%s(%#llx, %#llx) = %#llx, not %#llx\n", what, (unsigned long long)a,
            (unsigned long long)b, (unsigned long long)got, (unsigned long long)wanted);
    exit(1);
}

static int is_nan(uint64_t bits)
{
    return bits << 1 > 0xffe0000000000000u;
}

static void same(const char *what, uint64_t a, uint64_t b, uint64_t got, double wanted)
{
    /* A NaN is as good as another if it is quiet. */
    if (isnan(wanted) ? !(is_nan(got) && (got & 0x8000000000000)) : got != bits_of(wanted))
        fail(what, a, b, got, bits_of(wanted));
}

static void equal(const char *what, uint64_t a, uint64_t b, int64_t got, int64_t wanted)
{
    if (got != wanted)
        fail(what, a, b, (uint64_t)got, (uint64_t)wanted);
}

static void check_pair(uint64_t a, uint64_t b)
{
    volatile double x = value_of(a), y = value_of(b);

    same("add", a, b, R(__adddf3)(a, b), x + y);
    same("sub", a, b, R(__subdf3)(a, b), x - y);
    same("mul", a, b, R(__muldf3)(a, b), x * y);
    same("div", a, b, R(__divdf3)(a, b), x / y);
    equal("eq", a, b, R(__eqdf2)(a, b) == 0, x == y);
    equal("ne", a, b, R(__nedf2)(a, b) != 0, x != y);
    equal("lt", a, b, R(__ltdf2)(a, b) < 0, x < y);
    equal("le", a, b, R(__ledf2)(a, b) <= 0, x <= y);
    equal("gt", a, b, R(__gtdf2)(a, b) > 0, x > y);
    equal("ge", a, b, R(__gedf2)(a, b) >= 0, x >= y);
    equal("unord", a, b, R(__unorddf2)(a, b) != 0, isunordered(x, y));
}

static void check_one(uint64_t a)
{
    double x = value_of(a);
    uint32_t narrow = R(__truncdfsf2)(a), wanted;
    float single = (float)x;

    memcpy(&wanted, &single, 4);
    if (isnan(x) ? (narrow << 1) < 0xff800000u : narrow != wanted)
        fail("trunc", a, 0, narrow, wanted);
    equal("neg", a, 0, (int64_t)R(__negdf2)(a), (int64_t)(a ^ 0x8000000000000000u));
    if (isnan(x))
        return;
    equal("fixdfsi", a, 0, R(__fixdfsi)(a),
          x >= 0x1p31    ? INT32_MAX
          : x <= -0x1p31 ? INT32_MIN
                         : (int32_t)x);
    equal("fixunsdfsi", a, 0, R(__fixunsdfsi)(a),
          x >= 0x1p32 ? UINT32_MAX
          : x <= 0    ? 0
                      : (uint32_t)x);
    equal("fixdfdi", a, 0, R(__fixdfdi)(a),
          x >= 0x1p63    ? INT64_MAX
          : x <= -0x1p63 ? INT64_MIN
                         : (int64_t)x);
    equal("fixunsdfdi", a, 0, (int64_t)R(__fixunsdfdi)(a),
          (int64_t)(x >= 0x1p64 ? UINT64_MAX
                    : x <= 0    ? 0
                                : (uint64_t)x));
}

static void check_integer(uint64_t i)
{
    volatile uint64_t u = i;

    same("floatsidf", (uint32_t)i, 0, R(__floatsidf)((int32_t)i), (double)(int32_t)u);
    same("floatunsidf", (uint32_t)i, 0, R(__floatunsidf)((uint32_t)i), (double)(uint32_t)u);
    same("floatdidf", i, 0, R(__floatdidf)((int64_t)i), (double)(int64_t)u);
    same("floatundidf", i, 0, R(__floatundidf)(i), (double)u);
}

/* Exponents near each other half of the time, so that sums cancel and products underflow. */
static uint64_t random_double(uint64_t other)
{
    uint64_t bits = random_bits(), choice = random_bits();

    if (choice & 1)
        bits = (bits & 0x800fffffffffffffu) |
               ((other + ((choice >> 8 & 127) << 52)) & 0x7ff0000000000000u);
    if ((choice & 6) == 6)
        bits &= ~(uint64_t)0 << (choice >> 16 & 63);
    /* Exponents about the range of single precision. */
    if ((choice & 24) == 24)
        bits = (bits & 0x800fffffffffffffu) | (868 + (choice >> 24) % 290) << 52;
    return bits;
}

int main(int argc, char **argv)
{
    uint64_t count = argument_count(argc, argv);
    uint64_t a = 0, b;

    for (size_t i = 0; i < 2 * EDGES; i++) {
        a = edges[i / 2] | (i & 1 ? 0x8000000000000000u : 0);
        check_one(a);
        for (size_t j = 0; j < 2 * EDGES; j++)
            check_pair(a, edges[j / 2] | (j & 1 ? 0x8000000000000000u : 0));
    }
    for (uint64_t i = 0; i < 64; i++)
        for (uint64_t d = 0; d < 5; d++)
            check_integer((UINT64_C(1) << i) + d - 2);
    for (uint64_t i = 0; i < count; i++) {
        b = random_double(a);
        a = random_double(b);
        check_pair(a, b);
        check_one(a);
        check_integer(random_width());
    }
    return 0;
}
