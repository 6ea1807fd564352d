/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions on long double and its complex numbers: the upper half of a number is in the first of
 * two registers. The host's functions compute with 64 bits of 113.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "veo/machine/quad.h"
#include "veo/run/float_registers.h"
#include "veo/run/special.h"
#include "veo/run/wide_registers.h"

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static quad whole_quad_at(const struct ve_core *core, unsigned first)
{
    quad value;
    const uint64_t halves[2] = {core->s[first + 1], core->s[first]};
    memcpy(&value, halves, sizeof value);
    return value;
}

static long double quad_at(const struct ve_core *core, unsigned first)
{
    return (long double)whole_quad_at(core, first);
}

static bool put_whole_quad(struct ve_core *core, unsigned first, quad value)
{
    uint64_t halves[2];
    memcpy(halves, &value, sizeof halves);
    core->s[first] = halves[1];
    core->s[first + 1] = halves[0];
    return true;
}

static bool put_quad(struct ve_core *core, unsigned first, long double result)
{
    return put_whole_quad(core, first, (quad)result);
}

static void store_quad(uint64_t address, long double result)
{
    quad value = (quad)result;
    memcpy(pointer(address), &value, sizeof value);
}

static bool return_long(struct ve_core *core, long value)
{
    core->s[0] = (uint64_t)value;
    return true;
}

/* --- what compilers call: exact, with all 113 bits --- */

bool verun_divtf3(struct ve_core *core)
{
    return put_whole_quad(core, 0, whole_quad_at(core, 0) / whole_quad_at(core, 2));
}

bool verun_floattitf(struct ve_core *core)
{
    return put_whole_quad(core, 0, (quad)(__int128)wide_at(core, 0));
}

bool verun_floatuntitf(struct ve_core *core)
{
    return put_whole_quad(core, 0, (quad)wide_at(core, 0));
}

bool verun_fixtfti(struct ve_core *core)
{
    return return_wide(core, (wide)(__int128)whole_quad_at(core, 0));
}

bool verun_fixunstfti(struct ve_core *core)
{
    return return_wide(core, (wide)whole_quad_at(core, 0));
}

/* --- real numbers --- */

#define QUAD1(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        return put_quad(core, 0, name(quad_at(core, 0))); \
    }
#define QUAD2(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        return put_quad(core, 0, name(quad_at(core, 0), quad_at(core, 2))); \
    }
#define QUAD_TO_LONG(name, function) \
    bool verun_##name(struct ve_core *core) \
    { \
        return return_long(core, function(quad_at(core, 0))); \
    }

QUAD1(acosl)
QUAD1(acoshl)
QUAD1(asinl)
QUAD1(asinhl)
QUAD1(atanl)
QUAD1(atanhl)
QUAD1(cbrtl)
QUAD1(ceill)
QUAD1(cosl)
QUAD1(coshl)
QUAD1(erfl)
QUAD1(erfcl)
QUAD1(expl)
QUAD1(exp2l)
QUAD1(exp10l)
QUAD1(expm1l)
QUAD1(fabsl)
QUAD1(floorl)
QUAD1(lgammal)
QUAD1(logl)
QUAD1(log10l)
QUAD1(log1pl)
QUAD1(log2l)
QUAD1(logbl)
QUAD1(nearbyintl)
QUAD1(rintl)
QUAD1(roundl)
QUAD1(sinl)
QUAD1(sinhl)
QUAD1(sqrtl)
QUAD1(tanl)
QUAD1(tanhl)
QUAD1(tgammal)
QUAD1(truncl)
QUAD2(atan2l)
QUAD2(copysignl)
QUAD2(fdiml)
QUAD2(fmaxl)
QUAD2(fminl)
QUAD2(fmodl)
QUAD2(hypotl)
QUAD2(nextafterl)
QUAD2(powl)
QUAD2(remainderl)
QUAD_TO_LONG(ilogbl, ilogbl)
QUAD_TO_LONG(lrintl, lrintl)
QUAD_TO_LONG(lroundl, lroundl)
QUAD_TO_LONG(signbitl, signbit)
QUAD_TO_LONG(fpclassifyl, fpclassify)

bool verun_fmal(struct ve_core *core)
{
    return put_quad(core, 0, fmal(quad_at(core, 0), quad_at(core, 2), quad_at(core, 4)));
}

bool verun_frexpl(struct ve_core *core)
{
    return put_quad(core, 0, frexpl(quad_at(core, 0), pointer(core->s[2])));
}

bool verun_scalbnl(struct ve_core *core)
{
    return put_quad(core, 0, scalblnl(quad_at(core, 0), (long)core->s[2]));
}

bool verun_modfl(struct ve_core *core)
{
    long double whole;
    long double part = modfl(quad_at(core, 0), &whole);
    store_quad(core->s[2], whole);
    return put_quad(core, 0, part);
}

bool verun_remquol(struct ve_core *core)
{
    return put_quad(core, 0, remquol(quad_at(core, 0), quad_at(core, 2), pointer(core->s[4])));
}

bool verun_sincosl(struct ve_core *core)
{
    const long double angle = quad_at(core, 0);
    store_quad(core->s[2], sinl(angle));
    store_quad(core->s[3], cosl(angle));
    return true;
}

bool verun_nanl(struct ve_core *core)
{
    return put_quad(core, 0, nanl(pointer(core->s[0])));
}

/* The second argument begins at an even register. */
bool verun_nexttoward(struct ve_core *core)
{
    put_double(core, 0, nexttoward(double_at(core, 0), quad_at(core, 2)));
    return true;
}

bool verun_nexttowardf(struct ve_core *core)
{
    put_float(core, 0, nexttowardf(float_at(core, 0), quad_at(core, 2)));
    return true;
}

bool verun_strtold(struct ve_core *core)
{
    return put_quad(core, 0, strtold(pointer(core->s[0]), pointer(core->s[1])));
}

bool verun_wcstold(struct ve_core *core)
{
    return put_quad(core, 0, wcstold(pointer(core->s[0]), pointer(core->s[1])));
}

/* --- complex numbers --- */

static long double complex complex_at(const struct ve_core *core, unsigned first)
{
    return __builtin_complex(quad_at(core, first), quad_at(core, first + 2));
}

static bool return_complex(struct ve_core *core, long double complex value)
{
    return put_quad(core, 0, creall(value)) && put_quad(core, 2, cimagl(value));
}

#define REAL(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        return put_quad(core, 0, name(complex_at(core, 0))); \
    }
#define COMPLEX(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        return return_complex(core, name(complex_at(core, 0))); \
    }

REAL(cabsl)
REAL(cargl)
REAL(creall)
REAL(cimagl)
COMPLEX(cacosl)
COMPLEX(cacoshl)
COMPLEX(casinl)
COMPLEX(casinhl)
COMPLEX(catanl)
COMPLEX(catanhl)
COMPLEX(ccosl)
COMPLEX(ccoshl)
COMPLEX(cexpl)
COMPLEX(clogl)
COMPLEX(conjl)
COMPLEX(cprojl)
COMPLEX(csinl)
COMPLEX(csinhl)
COMPLEX(csqrtl)
COMPLEX(ctanl)
COMPLEX(ctanhl)

bool verun_cpowl(struct ve_core *core)
{
    return return_complex(core, cpowl(complex_at(core, 0), complex_at(core, 4)));
}

bool verun_multc3(struct ve_core *core)
{
    return return_complex(core, complex_at(core, 0) * complex_at(core, 4));
}

bool verun_divtc3(struct ve_core *core)
{
    return return_complex(core, complex_at(core, 0) / complex_at(core, 4));
}
