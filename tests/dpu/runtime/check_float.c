/* SPDX-License-Identifier: BSD-3-Clause */
/* The run time's single precision arithmetic, compared bit by bit with the host's. */
#include "random_bits.h"

#include <math.h>
#include <string.h>

#define R(name) dpu_runtime##name

uint32_t R(__addsf3)(uint32_t a, uint32_t b);
uint32_t R(__subsf3)(uint32_t a, uint32_t b);
uint32_t R(__mulsf3)(uint32_t a, uint32_t b);
uint32_t R(__divsf3)(uint32_t a, uint32_t b);
uint32_t R(__negsf2)(uint32_t a);
int32_t R(__eqsf2)(uint32_t a, uint32_t b);
int32_t R(__nesf2)(uint32_t a, uint32_t b);
int32_t R(__ltsf2)(uint32_t a, uint32_t b);
int32_t R(__lesf2)(uint32_t a, uint32_t b);
int32_t R(__gtsf2)(uint32_t a, uint32_t b);
int32_t R(__gesf2)(uint32_t a, uint32_t b);
int32_t R(__unordsf2)(uint32_t a, uint32_t b);
int32_t R(__fixsfsi)(uint32_t a);
uint32_t R(__fixunssfsi)(uint32_t a);
int64_t R(__fixsfdi)(uint32_t a);
uint64_t R(__fixunssfdi)(uint32_t a);
uint32_t R(__floatsisf)(int32_t i);
uint32_t R(__floatunsisf)(uint32_t i);
uint32_t R(__floatdisf)(int64_t i);
uint32_t R(__floatundisf)(uint64_t i);
uint64_t R(__extendsfdf2)(uint32_t a);

static const uint32_t edges[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003fffff, 0x00400000, 0x007ffffe, 0x007fffff,
    0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x0b800000, 0x34000000, 0x33800000, 0x33800001,
    0x3effffff, 0x3f000000, 0x3f7ffffe, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x3fffffff,
    0x40000000, 0x4b000000, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000,
    0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000, 0x7e800000, 0x7effffff, 0x7f000000, 0x7f7ffffe,
    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
};
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void fail(const char *what, uint64_t a, uint64_t b, uint64_t got, uint64_t wanted)
{
    fprintf(stderr, "%s(%#llx, %#llx) = %#llx, not %#llx\n", what, (unsigned long long)a,
            (unsigned long long)b, (unsigned long long)got, (unsigned long long)wanted);
    exit(1);
}

static int is_nan(uint32_t bits)
{
    return bits << 1 > 0xff000000u;
}

static void same(const char *what, uint32_t a, uint32_t b, uint32_t got, float wanted)
{
    /* A NaN is as good as another if it is quiet. */
    if (isnan(wanted) ? !(is_nan(got) && (got & 0x400000)) : got != bits_of(wanted))
        fail(what, a, b, got, bits_of(wanted));
}

static void equal(const char *what, uint32_t a, uint32_t b, int64_t got, int64_t wanted)
{
    if (got != wanted)
        fail(what, a, b, (uint64_t)got, (uint64_t)wanted);
}

static void check_pair(uint32_t a, uint32_t b)
{
    volatile float x = value_of(a), y = value_of(b);

    same("add", a, b, R(__addsf3)(a, b), x + y);
    same("sub", a, b, R(__subsf3)(a, b), x - y);
    same("mul", a, b, R(__mulsf3)(a, b), x * y);
    same("div", a, b, R(__divsf3)(a, b), x / y);
    equal("eq", a, b, R(__eqsf2)(a, b) == 0, x == y);
    equal("ne", a, b, R(__nesf2)(a, b) != 0, x != y);
    equal("lt", a, b, R(__ltsf2)(a, b) < 0, x < y);
    equal("le", a, b, R(__lesf2)(a, b) <= 0, x <= y);
    equal("gt", a, b, R(__gtsf2)(a, b) > 0, x > y);
    equal("ge", a, b, R(__gesf2)(a, b) >= 0, x >= y);
    equal("unord", a, b, R(__unordsf2)(a, b) != 0, isunordered(x, y));
}

static void check_one(uint32_t a)
{
    float x = value_of(a);
    uint64_t extended = R(__extendsfdf2)(a), wanted;
    double wide = (double)x;

    memcpy(&wanted, &wide, 8);
    if (isnan(x) ? (extended << 1) < 0xfff0000000000000u : extended != wanted)
        fail("extend", a, 0, extended, wanted);
    equal("neg", a, 0, R(__negsf2)(a), a ^ 0x80000000u);
    if (isnan(x))
        return;
    equal("fixsfsi", a, 0, R(__fixsfsi)(a),
          x >= 0x1p31f    ? INT32_MAX
          : x <= -0x1p31f ? INT32_MIN
                          : (int32_t)x);
    equal("fixunssfsi", a, 0, R(__fixunssfsi)(a),
          x >= 0x1p32f ? UINT32_MAX
          : x <= 0     ? 0
                       : (uint32_t)x);
    equal("fixsfdi", a, 0, R(__fixsfdi)(a),
          x >= 0x1p63f    ? INT64_MAX
          : x <= -0x1p63f ? INT64_MIN
                          : (int64_t)x);
    equal("fixunssfdi", a, 0, (int64_t)R(__fixunssfdi)(a),
          (int64_t)(x >= 0x1p64f ? UINT64_MAX
                    : x <= 0     ? 0
                                 : (uint64_t)x));
}

static void check_integer(uint64_t i)
{
    volatile uint64_t u = i;

    same("floatsisf", (uint32_t)i, 0, R(__floatsisf)((int32_t)i), (float)(int32_t)u);
    same("floatunsisf", (uint32_t)i, 0, R(__floatunsisf)((uint32_t)i), (float)(uint32_t)u);
    same("floatdisf", (uint32_t)i, (uint32_t)(i >> 32), R(__floatdisf)((int64_t)i),
         (float)(int64_t)u);
    same("floatundisf", (uint32_t)i, (uint32_t)(i >> 32), R(__floatundisf)(i), (float)u);
}

/* Exponents near each other half of the time, so that sums cancel and products underflow. */
static uint32_t random_float(uint32_t other)
{
    uint32_t bits = (uint32_t)random_bits(), choice = (uint32_t)random_bits();

    if (choice & 1)
        bits = (bits & 0x807fffffu) | ((other + ((choice >> 8 & 63) << 23)) & 0x7f800000u);
    if ((choice & 6) == 6)
        bits &= ~0u << (choice >> 16 & 31);
    return bits;
}

int main(int argc, char **argv)
{
    uint64_t count = argument_count(argc, argv);
    uint32_t a = 0, b;

    for (size_t i = 0; i < 2 * EDGES; i++) {
        a = edges[i / 2] | (i & 1 ? 0x80000000u : 0);
        check_one(a);
        for (size_t j = 0; j < 2 * EDGES; j++)
            check_pair(a, edges[j / 2] | (j & 1 ? 0x80000000u : 0));
    }
    for (uint64_t i = 0; i < 64; i++)
        for (uint64_t d = 0; d < 5; d++)
            check_integer((UINT64_C(1) << i) + d - 2);
    for (uint64_t i = 0; i < count; i++) {
        b = random_float(a);
        a = random_float(b);
        check_pair(a, b);
        check_one(a);
        check_integer(random_width());
    }
    return 0;
}
