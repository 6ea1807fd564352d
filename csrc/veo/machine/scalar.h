/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scalar.h: what the .inc files of scalar instructions are written with. The file that includes
 * them defines SCALAR(operation, statements), MEMORY(the same), STOP, and HERE, which says to the
 * core which instruction runs; `core` and `i` are in scope. Private to csrc/veo/machine.
 */
#ifndef OFFCHIP_VE_SCALAR_H
#define OFFCHIP_VE_SCALAR_H

#include "veo/machine/operands.h"

#include <fenv.h>
#include <math.h>

#define X core->s[i->x]
#define Y ve_y(core, i)
#define Z ve_z(core, i)
#define DY ve_double(Y)
#define DZ ve_double(Z)
#define FY ve_upper_float(Y)
#define FZ ve_upper_float(Z)
#define SX32(value) ((uint64_t)(int64_t)(int32_t)(value))

#define RARELY(condition) __builtin_expect(condition, 0)

/* Sets flags of the PSW in a rare case, and leaves if that is an exception. */
#define CHECK(condition, flags) \
    if (RARELY(condition)) { \
        HERE; \
        ve_arithmetic_exception(core, flags); \
        if (core->stopped) \
            STOP; \
    }

/* The same for an overflow, which programs that compute with unsigned numbers have all the time. */
#define CHECK_OVERFLOW(condition) \
    CHECK((condition) && (core->psw & OVERFLOW_BITS) != VE_PSW_FIXED_OVERFLOW, \
          VE_PSW_FIXED_OVERFLOW)
#define OVERFLOW_BITS (VE_PSW_FIXED_OVERFLOW | VE_PSW_FIXED_OVERFLOW << VE_PSW_ENABLE_SHIFT)

/* The wrapped result of a builtin that tells of overflow. */
#define WRAP64(builtin) \
    int64_t result; \
    CHECK_OVERFLOW(builtin((int64_t)Y, (int64_t)Z, &result)); \
    X = (uint64_t)result
#define WRAP32(builtin, extend) \
    int32_t result; \
    CHECK_OVERFLOW(builtin((int32_t)Y, (int32_t)Z, &result)); \
    X = extend(result)
#define DIVIDE32(extend) \
    int32_t by = (int32_t)Z; \
    int32_t from = (int32_t)Y; \
    CHECK(by == 0, VE_PSW_DIVIDE); \
    CHECK(by == -1 && from == INT32_MIN, VE_PSW_FIXED_OVERFLOW); \
    X = extend(by == 0 ? 0 : by == -1 ? (int32_t)(0 - (uint32_t)from) : from / by)
#define CHOOSE32(relation, extend) \
    int32_t y = (int32_t)Y; \
    int32_t z = (int32_t)Z; \
    X = extend(y relation z ? y : z)

/*
 * Memory as a scalar instruction accesses it: at once where it is aligned, as threads of the
 * program may meet there without a lock; anywhere else in any way.
 */
typedef uint8_t __attribute__((may_alias)) ve_word8;
typedef uint16_t __attribute__((may_alias)) ve_word16;
typedef uint32_t __attribute__((may_alias)) ve_word32;
typedef uint64_t __attribute__((may_alias)) ve_word64;

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* One instruction of the host's does both, and keeps the order of accesses: it is for compilers. */
#define VE_MEMORY(bits) \
    typedef ve_word##bits __attribute__((aligned(1))) ve_any_word##bits; \
    static inline uint##bits##_t ve_read##bits(uint64_t address) \
    { \
        uint##bits##_t value = *(const volatile ve_any_word##bits *)(uintptr_t)address; \
        __asm__ volatile("" : : : "memory"); \
        return value; \
    } \
    static inline void ve_write##bits(uint64_t address, uint##bits##_t value) \
    { \
        __asm__ volatile("" : : : "memory"); \
        *(volatile ve_any_word##bits *)(uintptr_t)address = value; \
    }
#else
#define VE_MEMORY(bits) \
    static inline uint##bits##_t ve_read##bits(uint64_t address) \
    { \
        return RARELY(address % (bits / 8) != 0) \
                   ? ve_load##bits(address) \
                   : __atomic_load_n((const ve_word##bits *)(uintptr_t)address, __ATOMIC_ACQUIRE); \
    } \
    static inline void ve_write##bits(uint64_t address, uint##bits##_t value) \
    { \
        if (RARELY(address % (bits / 8) != 0)) \
            ve_store##bits(address, value); \
        else \
            __atomic_store_n((ve_word##bits *)(uintptr_t)address, value, __ATOMIC_RELEASE); \
    }
#endif
VE_MEMORY(8)
VE_MEMORY(16)
VE_MEMORY(32)
VE_MEMORY(64)
#undef VE_MEMORY

/* ADDRESS_OF is ve_address or ve_base_address; RESULT is made of `value`. */
#define LOAD(bits, address_of, result) \
    uint##bits##_t value = ve_read##bits(address_of(core, i)); \
    X = result;
#define STORE(bits, address_of, value) ve_write##bits(address_of(core, i), value);

static inline uint64_t ve_leading_zeros(uint64_t value)
{
    return value == 0 ? 64 : (uint64_t)__builtin_clzll(value);
}

static inline uint64_t ve_reverse_bits(uint64_t value)
{
    value = (value >> 1 & UINT64_C(0x5555555555555555)) | (value & UINT64_C(0x5555555555555555))
                                                              << 1;
    value = (value >> 2 & UINT64_C(0x3333333333333333)) | (value & UINT64_C(0x3333333333333333))
                                                              << 2;
    value = (value >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (value & UINT64_C(0x0F0F0F0F0F0F0F0F))
                                                              << 4;
    return __builtin_bswap64(value);
}

/* The upper word of {high, low} shifted left, and the lower one of it shifted right. */
static inline uint64_t ve_shift_left_double(uint64_t high, uint64_t low, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)high << 64 | low) << count >> 64);
}

static inline uint64_t ve_shift_right_double(uint64_t high, uint64_t low, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)high << 64 | low) >> count);
}

/* The difference of two numbers, at most as far from 0 as a signed number can be. */
static inline uint64_t ve_compare_signed(int64_t y, int64_t z)
{
    int64_t difference;
    if (__builtin_sub_overflow(y, z, &difference))
        difference = y > z ? INT64_MAX : INT64_MIN;
    return (uint64_t)difference;
}

static inline uint64_t ve_compare_unsigned(uint64_t y, uint64_t z)
{
    uint64_t difference = y - z;
    if (y > z)
        return difference > INT64_MAX ? INT64_MAX : difference;
    return y < z && difference <= INT64_MAX ? (uint64_t)INT64_MIN : difference;
}

static inline int32_t ve_compare_words(int64_t y, int64_t z)
{
    int64_t difference = y - z;
    return difference > INT32_MAX   ? INT32_MAX
           : difference < INT32_MIN ? INT32_MIN
                                    : (int32_t)difference;
}

/* To nearest, ties to even, whatever the rounding mode is. */
static inline double ve_round_to_even(double value)
{
    double below = floor(value);
    double rest = value - below;
    if (rest == 0.5)
        return fmod(below, 2) == 0 ? below : below + 1;
    return rest < 0.5 ? below : below + 1;
}

/* Rounds to an integral number; not toward zero, which the conversion to an integer does. */
static inline double ve_round(double value, enum ve_rounding rounding)
{
    double rounded;
    switch (rounding) {
    case VE_ROUND_ZERO: return value;
    case VE_ROUND_UP: rounded = ceil(value); break;
    case VE_ROUND_DOWN: rounded = floor(value); break;
    case VE_ROUND_NEAREST: rounded = ve_round_to_even(value); break;
    case VE_ROUND_AWAY: rounded = round(value); break;
    default: return rint(value);
    }
    if (rounded != value)
        feraiseexcept(FE_INEXACT);
    return rounded;
}

/* A number that does not fit is the smallest one, as of the host, with the flag of an invalid
 * operation.
 */
static inline int32_t ve_to_int32(double value)
{
    if (value > -0x1p31 - 1 && value < 0x1p31)
        return (int32_t)value;
    feraiseexcept(FE_INVALID);
    return INT32_MIN;
}

static inline int64_t ve_to_int64(double value)
{
    if (value >= -0x1p63 && value < 0x1p63)
        return (int64_t)value;
    feraiseexcept(FE_INVALID);
    return INT64_MIN;
}

#endif
