/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on values that take two registers, and other small results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "veo/run/float_registers.h"
#include "veo/run/special.h"
#include "veo/run/wide_registers.h"

/* --- integers of 128 bits: the lower half first --- */

#define WIDE(name, expression) \
    bool verun_##name(struct ve_core *core) \
    { \
        wide a = wide_at(core, 0); \
        wide b = wide_at(core, 2); \
        return return_wide(core, (wide)(expression)); \
    }

static wide divide(wide a, wide b, bool negative, bool remainder)
{
    if (b == 0)
        return 0;
    if (!negative)
        return remainder ? a % b : a / b;

    /* The smallest value divided by -1 wraps. */
    wide sign_a = (wide)((__int128)a >> 127);
    wide sign_b = (wide)((__int128)b >> 127);
    wide x = (a ^ sign_a) - sign_a;
    wide y = (b ^ sign_b) - sign_b;
    wide sign = remainder ? sign_a : sign_a ^ sign_b;
    wide result = remainder ? x % y : x / y;
    return (result ^ sign) - sign;
}

WIDE(multi3, a *b)
WIDE(divti3, divide(a, b, true, false))
WIDE(modti3, divide(a, b, true, true))
WIDE(udivti3, divide(a, b, false, false))
WIDE(umodti3, divide(a, b, false, true))
/* Shifts have an int as their second argument. */
WIDE(ashlti3, a << (b & 127))
WIDE(lshrti3, a >> (b & 127))
WIDE(ashrti3, (__int128)a >> (b & 127))

static bool return_double(struct ve_core *core, double value)
{
    put_double(core, 0, value);
    return true;
}

static bool return_float(struct ve_core *core, float value)
{
    put_float(core, 0, value);
    return true;
}

bool verun_floattidf(struct ve_core *core)
{
    return return_double(core, (double)(__int128)wide_at(core, 0));
}

bool verun_floatuntidf(struct ve_core *core)
{
    return return_double(core, (double)wide_at(core, 0));
}

bool verun_floattisf(struct ve_core *core)
{
    return return_float(core, (float)(__int128)wide_at(core, 0));
}

bool verun_floatuntisf(struct ve_core *core)
{
    return return_float(core, (float)wide_at(core, 0));
}

bool verun_fixdfti(struct ve_core *core)
{
    return return_wide(core, (wide)(__int128)double_at(core, 0));
}

bool verun_fixunsdfti(struct ve_core *core)
{
    return return_wide(core, (wide)double_at(core, 0));
}

bool verun_fixsfti(struct ve_core *core)
{
    return return_wide(core, (wide)(__int128)float_at(core, 0));
}

bool verun_fixunssfti(struct ve_core *core)
{
    return return_wide(core, (wide)float_at(core, 0));
}

bool verun_powidf2(struct ve_core *core)
{
    return return_double(core, __builtin_powi(double_at(core, 0), (int)core->s[1]));
}

bool verun_popcountdi2(struct ve_core *core)
{
    core->s[0] = (uint64_t)__builtin_popcountll(core->s[0]);
    return true;
}

/* --- structures: s0 is where the result goes --- */

bool verun_div(struct ve_core *core)
{
    div_t result = div((int)core->s[1], (int)core->s[2]);
    memcpy((void *)(uintptr_t)core->s[0], &result, sizeof result);
    return true;
}

bool verun_ldiv(struct ve_core *core)
{
    ldiv_t result = ldiv((long)core->s[1], (long)core->s[2]);
    memcpy((void *)(uintptr_t)core->s[0], &result, sizeof result);
    return true;
}
