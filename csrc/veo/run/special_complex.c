/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of <complex.h>, and products and quotients that compilers call: parts are arguments. */
#include <complex.h>

#include "veo/run/float_registers.h"
#include "veo/run/special.h"

static double complex complex_at(const struct ve_core *core, unsigned first)
{
    return __builtin_complex(double_at(core, first), double_at(core, first + 1));
}

static float complex complexf_at(const struct ve_core *core, unsigned first)
{
    return __builtin_complex(float_at(core, first), float_at(core, first + 1));
}

static bool return_complex(struct ve_core *core, double complex value)
{
    put_double(core, 0, creal(value));
    put_double(core, 1, cimag(value));
    return true;
}

static bool return_complexf(struct ve_core *core, float complex value)
{
    put_float(core, 0, crealf(value));
    put_float(core, 1, cimagf(value));
    return true;
}

/* --- functions --- */

#define REAL(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        put_double(core, 0, name(complex_at(core, 0))); \
        return true; \
    } \
    bool verun_##name##f(struct ve_core *core) \
    { \
        put_float(core, 0, name##f(complexf_at(core, 0))); \
        return true; \
    }
#define COMPLEX(name) \
    bool verun_##name(struct ve_core *core) \
    { \
        return return_complex(core, name(complex_at(core, 0))); \
    } \
    bool verun_##name##f(struct ve_core *core) \
    { \
        return return_complexf(core, name##f(complexf_at(core, 0))); \
    }

REAL(cabs)
REAL(carg)
REAL(creal)
REAL(cimag)
COMPLEX(cacos)
COMPLEX(cacosh)
COMPLEX(casin)
COMPLEX(casinh)
COMPLEX(catan)
COMPLEX(catanh)
COMPLEX(ccos)
COMPLEX(ccosh)
COMPLEX(cexp)
COMPLEX(clog)
COMPLEX(conj)
COMPLEX(cproj)
COMPLEX(csin)
COMPLEX(csinh)
COMPLEX(csqrt)
COMPLEX(ctan)
COMPLEX(ctanh)

bool verun_cpow(struct ve_core *core)
{
    return return_complex(core, cpow(complex_at(core, 0), complex_at(core, 2)));
}

bool verun_cpowf(struct ve_core *core)
{
    return return_complexf(core, cpowf(complexf_at(core, 0), complexf_at(core, 2)));
}

/* --- products and quotients: four parts --- */

bool verun_muldc3(struct ve_core *core)
{
    return return_complex(core, complex_at(core, 0) * complex_at(core, 2));
}

bool verun_divdc3(struct ve_core *core)
{
    return return_complex(core, complex_at(core, 0) / complex_at(core, 2));
}

bool verun_mulsc3(struct ve_core *core)
{
    return return_complexf(core, complexf_at(core, 0) * complexf_at(core, 2));
}

bool verun_divsc3(struct ve_core *core)
{
    return return_complexf(core, complexf_at(core, 0) / complexf_at(core, 2));
}
