/* SPDX-License-Identifier: BSD-3-Clause */
/* The run time's 64-bit integer functions, compared with the host's operators. */
#include "random_bits.h"

#define R(name) dpu_runtime##name

uint64_t R(__udivdi3)(uint64_t a, uint64_t b);
uint64_t R(__umoddi3)(uint64_t a, uint64_t b);
int64_t R(__divdi3)(int64_t a, int64_t b);
int64_t R(__moddi3)(int64_t a, int64_t b);
uint64_t R(__muldi3)(uint64_t a, uint64_t b);
uint64_t R(__ashldi3)(uint64_t a, int32_t n);
uint64_t R(__lshrdi3)(uint64_t a, int32_t n);
int64_t R(__ashrdi3)(int64_t a, int32_t n);
uint64_t R(__negdi2)(uint64_t a);
int32_t R(__cmpdi2)(int64_t a, int64_t b);
int32_t R(__ucmpdi2)(uint64_t a, uint64_t b);
int32_t R(__clzsi2)(uint32_t a);
int32_t R(__clzdi2)(uint64_t a);
int32_t R(__ctzsi2)(uint32_t a);
int32_t R(__ctzdi2)(uint64_t a);
int32_t R(__ffssi2)(uint32_t a);
int32_t R(__ffsdi2)(uint64_t a);
int32_t R(__popcountsi2)(uint32_t a);
int32_t R(__popcountdi2)(uint64_t a);
int32_t R(__paritysi2)(uint32_t a);
int32_t R(__paritydi2)(uint64_t a);
uint32_t R(__bswapsi2)(uint32_t a);
uint64_t R(__bswapdi2)(uint64_t a);

static void equal(const char *what, uint64_t a, uint64_t b, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s(%#llx, %#llx) = %#llx, not %#llx\n", what, (unsigned long long)a,
            (unsigned long long)b, (unsigned long long)got, (unsigned long long)wanted);
    exit(1);
}

static void check_pair(uint64_t a, uint64_t b)
{
    int64_t x = (int64_t)a, y = (int64_t)b;

    equal("mul", a, b, R(__muldi3)(a, b), a * b);
    equal("cmp", a, b, (uint64_t)R(__cmpdi2)(x, y), x < y ? 0 : x == y ? 1 : 2);
    equal("ucmp", a, b, (uint64_t)R(__ucmpdi2)(a, b), a < b ? 0 : a == b ? 1 : 2);
    if (b == 0)
        return;
    equal("udiv", a, b, R(__udivdi3)(a, b), a / b);
    equal("umod", a, b, R(__umoddi3)(a, b), a % b);
    if (x == INT64_MIN && y == -1) {
        equal("div", a, b, (uint64_t)R(__divdi3)(x, y), a);
        equal("mod", a, b, (uint64_t)R(__moddi3)(x, y), 0);
        return;
    }
    equal("div", a, b, (uint64_t)R(__divdi3)(x, y), (uint64_t)(x / y));
    equal("mod", a, b, (uint64_t)R(__moddi3)(x, y), (uint64_t)(x % y));
}

static void check_one(uint64_t a)
{
    uint32_t low = (uint32_t)a;

    for (int32_t n = 0; n < 64; n++) {
        equal("ashl", a, (uint64_t)n, R(__ashldi3)(a, n), a << n);
        equal("lshr", a, (uint64_t)n, R(__lshrdi3)(a, n), a >> n);
        equal("ashr", a, (uint64_t)n, (uint64_t)R(__ashrdi3)((int64_t)a, n),
              (uint64_t)((int64_t)a >> n));
    }
    equal("neg", a, 0, R(__negdi2)(a), 0 - a);
    equal("ffs", a, 0, (uint64_t)R(__ffsdi2)(a), (uint64_t)__builtin_ffsll((int64_t)a));
    equal("ffs32", low, 0, (uint64_t)R(__ffssi2)(low), (uint64_t)__builtin_ffs((int32_t)low));
    equal("popcount", a, 0, (uint64_t)R(__popcountdi2)(a), (uint64_t)__builtin_popcountll(a));
    equal("popcount32", low, 0, (uint64_t)R(__popcountsi2)(low), (uint64_t)__builtin_popcount(low));
    equal("parity", a, 0, (uint64_t)R(__paritydi2)(a), (uint64_t)__builtin_parityll(a));
    equal("parity32", low, 0, (uint64_t)R(__paritysi2)(low), (uint64_t)__builtin_parity(low));
    equal("bswap", a, 0, R(__bswapdi2)(a), __builtin_bswap64(a));
    equal("bswap32", low, 0, R(__bswapsi2)(low), __builtin_bswap32(low));
    if (a != 0) {
        equal("clz", a, 0, (uint64_t)R(__clzdi2)(a), (uint64_t)__builtin_clzll(a));
        equal("ctz", a, 0, (uint64_t)R(__ctzdi2)(a), (uint64_t)__builtin_ctzll(a));
    }
    if (low != 0) {
        equal("clz32", low, 0, (uint64_t)R(__clzsi2)(low), (uint64_t)__builtin_clz(low));
        equal("ctz32", low, 0, (uint64_t)R(__ctzsi2)(low), (uint64_t)__builtin_ctz(low));
    }
}

/* Around powers of two, and around their negatives. */
static uint64_t edge(uint32_t i)
{
    uint64_t value = (UINT64_C(1) << (i / 8)) + i % 4 - 2;

    return i & 4 ? 0 - value : value;
}

int main(int argc, char **argv)
{
    uint64_t count = argument_count(argc, argv), a, b, quotient;

    for (uint32_t i = 0; i < 512; i++) {
        check_one(edge(i));
        for (uint32_t j = 0; j < 512; j++)
            check_pair(edge(i), edge(j));
    }
    for (uint64_t i = 0; i < count; i++) {
        a = random_width();
        b = random_width();
        check_pair(a, b);
        /* A multiple, and its neighbours, are where a digit that is off by one shows. */
        quotient = random_width();
        check_pair(b * quotient - 1 + (i % 3), b);
        check_one(a);
    }
    return 0;
}
