/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * math.h: the names that libc++'s headers take from C's, for C++ alone.
 *
 * There is no library of mathematical functions: linking a program that calls one names it. What
 * the compiler computes, of constants, needs none.
 */
#ifndef DPU_RUNTIME_CPLUSPLUS_MATH_H
#define DPU_RUNTIME_CPLUSPLUS_MATH_H

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-__INT_MAX__ - 1)
#define FP_ILOGBNAN __INT_MAX__

typedef float float_t;
typedef double double_t;

/* `long double` has 64 bits in a DPU program. */
#define __DPU_OF_ONE(name) \
    double name(double x); \
    float name##f(float x); \
    long double name##l(long double x);
#define __DPU_OF_TWO(name) \
    double name(double x, double y); \
    float name##f(float x, float y); \
    long double name##l(long double x, long double y);

extern "C" {
__DPU_OF_ONE(acos)
__DPU_OF_ONE(acosh)
__DPU_OF_ONE(asin)
__DPU_OF_ONE(asinh)
__DPU_OF_ONE(atan)
__DPU_OF_TWO(atan2)
__DPU_OF_ONE(atanh)
__DPU_OF_ONE(cbrt)
__DPU_OF_ONE(ceil)
__DPU_OF_TWO(copysign)
__DPU_OF_ONE(cos)
__DPU_OF_ONE(cosh)
__DPU_OF_ONE(erf)
__DPU_OF_ONE(erfc)
__DPU_OF_ONE(exp)
__DPU_OF_ONE(exp2)
__DPU_OF_ONE(expm1)
__DPU_OF_ONE(fabs)
__DPU_OF_TWO(fdim)
__DPU_OF_ONE(floor)
__DPU_OF_TWO(fmax)
__DPU_OF_TWO(fmin)
__DPU_OF_TWO(fmod)
__DPU_OF_TWO(hypot)
__DPU_OF_ONE(lgamma)
__DPU_OF_ONE(log)
__DPU_OF_ONE(log10)
__DPU_OF_ONE(log1p)
__DPU_OF_ONE(log2)
__DPU_OF_ONE(logb)
__DPU_OF_ONE(nearbyint)
__DPU_OF_TWO(nextafter)
__DPU_OF_TWO(pow)
__DPU_OF_TWO(remainder)
__DPU_OF_ONE(rint)
__DPU_OF_ONE(round)
__DPU_OF_ONE(sin)
__DPU_OF_ONE(sinh)
__DPU_OF_ONE(sqrt)
__DPU_OF_ONE(tan)
__DPU_OF_ONE(tanh)
__DPU_OF_ONE(tgamma)
__DPU_OF_ONE(trunc)
}

#undef __DPU_OF_ONE
#undef __DPU_OF_TWO

#endif
