/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strips.h: what blocks of vector instructions are made of in generated code: groups of as many
 * elements as a register of the host has, which pass through all instructions of a block.
 */
#ifndef OFFCHIP_VE_STRIPS_H
#define OFFCHIP_VE_STRIPS_H

#include "veo/machine/code.h"

/* An instruction of a block, by its place in the list, with the values of its Y and Z. */
struct ve_element_step {
    uint64_t place, y, z;
};

#ifdef VE_GENERATED
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define LANES 8
#define BLOCKS 1
#elif defined(__AVX2__) && defined(__FMA__)
#define LANES 4
#define BLOCKS 1
#else
#define BLOCKS 0 /* instructions are called one by one */
#endif

#if BLOCKS
typedef uint64_t group __attribute__((vector_size(8 * LANES)));
typedef int64_t signed_group __attribute__((vector_size(8 * LANES)));
typedef uint32_t word_group __attribute__((vector_size(8 * LANES)));
typedef double double_group __attribute__((vector_size(8 * LANES)));
typedef float single_group __attribute__((vector_size(8 * LANES)));
typedef uint32_t half_group __attribute__((vector_size(4 * LANES)));
typedef int32_t signed_half_group __attribute__((vector_size(4 * LANES)));
typedef float half_singles __attribute__((vector_size(4 * LANES)));
typedef group group_in_memory __attribute__((aligned(8), may_alias));
typedef half_group half_group_in_memory __attribute__((aligned(4), may_alias));

#define IN_LINE static inline __attribute__((always_inline))
#define LOWER UINT64_C(0xFFFFFFFF)
#define UPPER (~LOWER)
#define SIGN_D (UINT64_C(1) << 63)
#define SIGN_S (SIGN_D | UINT64_C(1) << 31)

#define ALL(value) ((group){0} + (value))
#define NO_OPERAND ((group){0})
#define ALL_LANES ALL(~UINT64_C(0))
/* Elements where lanes are all ones, and others where they are 0. */
#define CHOSEN(lanes, value, other) (((value) & (lanes)) | ((other) & ~(lanes)))

/* All ones in the first COUNT lanes. */
IN_LINE group first_lanes(uint64_t count)
{
    group lanes;
    for (uint64_t i = 0; i < LANES; i++)
        lanes[i] = -(uint64_t)(i < count);
    return lanes;
}

/* --- arithmetic --- */

/* z * w + y, rounded once. */
#define FMA(suffix, y, z, w) \
    __extension__({ \
        group sum_ = (y); \
        __asm__("vfmadd231p" suffix " %2, %1, %0" : "+v"(sum_) : "v"(z), "v"(w)); \
        sum_; \
    })
#define FMA_D(y, z, w) FMA("d", y, z, w)
#define FMA_S(y, z, w) FMA("s", y, z, w)
#define FMS_S(y, z, w) FMA("s", (y) ^ SIGN_S, z, w)
#define NEGATIVE_FMA_S(y, z, w) (FMA_S(y, z, w) ^ SIGN_S)
#define NEGATIVE_FMS_S(y, z, w) (FMS_S(y, z, w) ^ SIGN_S)
#define ADD_S(y, z, w) ((group)((single_group)(y) + (single_group)(z)))
#define SUBTRACT_S(y, z, w) ((group)((single_group)(y) - (single_group)(z)))
#define MULTIPLY_S(y, z, w) ((group)((single_group)(y) * (single_group)(z)))
/* y - z, but 0 for equal infinities too. */
#define COMPARE(type, y, z) \
    __extension__({ \
        const group kept_ = (group)((type)(y) != (type)(z)); \
        (group)((type)((y) & kept_) - (type)((z) & kept_)); \
    })
#define COMPARE_D(y, z, w) COMPARE(double_group, y, z)
#define COMPARE_S(y, z, w) COMPARE(single_group, y, z)
#define ADD_WORDS(y, z, w) ((group)((word_group)(y) + (word_group)(z)))
#define SUBTRACT_WORDS(y, z, w) ((group)((word_group)(y) - (word_group)(z)))
#define BOTH(y, z, w) ((y) & (z))
#define EITHER(y, z, w) ((y) | (z))
#define DIFFER(y, z, w) ((y) ^ (z))
#define SIGN_EXTENDED(value) ((group)((signed_group)((value) << 32) >> 32))

/* y / z and, in lanes that are left out, y / 1. */
#define ONE_D UINT64_C(0x3FF0000000000000)
#define ONE_S UINT64_C(0x3F800000)
#define DIVIDE_D(y, z, lanes) \
    ((group)((double_group)(y) / (double_group)CHOSEN(lanes, z, ALL(ONE_D))))
#define DIVIDE_UPPER(y, z, lanes) \
    ((group)((single_group)((y) & UPPER) / \
             (single_group)(CHOSEN(lanes, z & UPPER, ALL(ONE_S << 32)) | ONE_S)))

#if LANES == 8
#define ROOT(suffix, y) \
    __extension__({ \
        group root_; \
        __asm__("vsqrtp" suffix " %1, %0" : "=v"(root_) : "v"(y)); \
        root_; \
    })
#else
#define ROOT(suffix, y) \
    __extension__({ \
        group root_; \
        __asm__("vsqrtp" suffix " %1, %0" : "=x"(root_) : "x"(y)); \
        root_; \
    })
#endif

/* y - z, or the extreme on its side where that does not fit. */
IN_LINE group compared(group y, group z)
{
    group difference = y - z;
    group overflows = (group)((signed_group)((y ^ z) & (y ^ difference)) < 0);
    return CHOSEN(overflows, (y >> 63) + INT64_MAX, difference);
}

#define LARGER(y, z) CHOSEN((group)((signed_group)(y) > (signed_group)(z)), y, z)
#define SMALLER(y, z) CHOSEN((group)((signed_group)(y) < (signed_group)(z)), y, z)

/* The lower halves as words. */
#define HALF_OF(value) __builtin_convertvector(value, half_group)
#define INTEGERS_OF(value) ((signed_half_group)HALF_OF(value))
#define DOUBLES_OF(value) ((group) __builtin_convertvector(value, double_group))
#define SINGLES_OF(value) \
    (__builtin_convertvector((half_group) __builtin_convertvector(value, half_singles), group) \
     << 32)

#define ELEMENT(operation, kind, operands, value) \
    IN_LINE group of_##operation(group y, group z, group w, group lanes) \
    { \
        return value; \
    }
#define MASK(operation, kind, value) \
    IN_LINE group of_##operation(group z) \
    { \
        return value; \
    }
#include "veo/translate/element_wise.inc"
#undef ELEMENT
#undef MASK

/* --- masks --- */

/* The lanes whose value meets a condition, compared with 0. */
IN_LINE group HOLDS(uint32_t condition, group value)
{
    group lanes = {0};
    lanes |= (condition & VE_GREATER) != 0 ? (group)((signed_group)value > 0) : lanes;
    lanes |= (condition & VE_LESS) != 0 ? (group)((signed_group)value < 0) : lanes;
    lanes |= (condition & VE_EQUAL) != 0 ? (group)(value == 0) : lanes;
    return lanes;
}
/* Numbers that are no NaN: but for -0 they are as their bits. */
#define NUMBERS_HOLD(condition, value) HOLDS(condition, (value) & (group)((value) != SIGN_D))

/* The lanes of a mask register for a group. */
IN_LINE group lanes_of(const uint64_t *mask, uint64_t i)
{
    group places;
    for (uint64_t lane = 0; lane < LANES; lane++)
        places[lane] = lane;
    return (group)((signed_group)(ALL(mask[i / 64] << i % 64) << places) < 0);
}

/* Lanes as bits, the first the highest. */
IN_LINE uint64_t bits_of(group lanes)
{
#if LANES == 8
    uint8_t bits;
    __asm__("vpmovq2m %1, %0" : "=k"(bits) : "v"(lanes));
    return ((bits * UINT64_C(0x80200802) & UINT64_C(0x0884422110)) * UINT64_C(0x0101010101) >> 32) &
           0xFF;
#else
    uint32_t bits;
    __asm__("vmovmskpd %1, %0" : "=r"(bits) : "x"(lanes));
    return (bits & 1) << 3 | (bits & 2) << 1 | (bits & 4) >> 1 | bits >> 3;
#endif
}

/* Writes the first COUNT lanes of a group into a mask register. */
IN_LINE void put_mask(uint64_t *mask, uint64_t i, group lanes, uint64_t count)
{
    uint64_t bits = bits_of(lanes);
    if (LANES == 8 && count == LANES) { /* without a read, for which the next group would wait */
        ((uint8_t *)mask)[i / 64 * 8 + 7 - i / 8 % 8] = (uint8_t)bits;
        return;
    }
    uint64_t written = ~(~UINT64_C(0) >> count) >> i % 64;
    bits = bits << (64 - LANES) >> i % 64;
    mask[i / 64] = (mask[i / 64] & ~written) | (bits & written);
}
#define LANES_OF(number) lanes_of(core->vm[number], i)
#define PUT_MASK(number, lanes, count) put_mask(core->vm[number], i, lanes, count)

/* Numbers among which is a NaN, as a value that is not 0. Of several NaNs the host takes one. */
#if LANES == 8
typedef uint32_t unordered;
#define UNORDERED(suffix, a, b) \
    __extension__({ \
        uint16_t mask_; \
        __asm__("vcmpunordp" suffix " %2, %1, %0" : "=k"(mask_) : "v"(a), "v"(b)); \
        (unordered) mask_; \
    })
#define IS_ANY(mask) ((mask) != 0)
#else
typedef group unordered;
#define UNORDERED(suffix, a, b) \
    __extension__({ \
        group mask_; \
        __asm__("vcmpunordp" suffix " %2, %1, %0" : "=x"(mask_) : "x"(a), "x"(b)); \
        mask_; \
    })
IN_LINE bool is_any(group mask)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < LANES; i++)
        any |= mask[i];
    return any != 0;
}
#define IS_ANY(mask) is_any(mask)
#endif
#define UNORDERED_D(a, b) UNORDERED("d", a, b)
#define UNORDERED_S(a, b) UNORDERED("s", a, b)

/* --- memory --- */

/* Loads and stores of a group at an address, and of the first COUNT elements of one. */
#define LOADS(operation, type, word, value) \
    IN_LINE group of_##operation(uint64_t address) \
    { \
        const type x = *(const type##_in_memory *)(uintptr_t)address; \
        return value; \
    } \
    IN_LINE group part_of_##operation(uint64_t address, uint64_t count) \
    { \
        type x = {0}; \
        for (uint64_t i = 0; i < count; i++) \
            ((word *)&x)[i] = ((const word *)(uintptr_t)address)[i]; \
        return value; \
    }
LOADS(VLD, group, ve_word64, x)
LOADS(VLDU, half_group, ve_word32, __builtin_convertvector(x, group) << 32)
LOADS(VLDL_SX, half_group, ve_word32,
      (group) __builtin_convertvector((signed_half_group)x, signed_group))
LOADS(VLDL_ZX, half_group, ve_word32, __builtin_convertvector(x, group))

#define STORES(operation, type, word, value) \
    IN_LINE void of_##operation(uint64_t address, group x) \
    { \
        *(type##_in_memory *)(uintptr_t)address = value; \
    } \
    IN_LINE void part_of_##operation(uint64_t address, group x, uint64_t count) \
    { \
        const type stored = value; \
        for (uint64_t i = 0; i < count; i++) \
            ((word *)(uintptr_t)address)[i] = ((const word *)&stored)[i]; \
    } \
    IN_LINE void some_of_##operation(uint64_t address, group x, group lanes) \
    { \
        const type stored = value; \
        for (uint64_t i = 0; i < LANES; i++) \
            if (lanes[i] != 0) \
                ((word *)(uintptr_t)address)[i] = ((const word *)&stored)[i]; \
    }
STORES(VST, group, ve_word64, x)
STORES(VSTU, half_group, ve_word32, __builtin_convertvector(x >> 32, half_group))
STORES(VSTL, half_group, ve_word32, __builtin_convertvector(x &LOWER, half_group))

/* Touches each page of a range of less than one, so that no access to it can fail. */
#define TOUCH(place, address, bytes) \
    do { \
        AT(list + (place)); \
        (void)*(const volatile uint8_t *)(uintptr_t)(address); \
        const uint64_t last_page_ = ((address) + (bytes) - 1) & ~UINT64_C(4095); \
        if (RARELY(last_page_ > (address))) \
            (void)*(const volatile uint8_t *)(uintptr_t)last_page_; \
    } while (0)

/*
 * True if a store that goes along with a load changes nothing that is loaded later: it is of other
 * bytes, or of as many and not ahead of it.
 */
IN_LINE bool are_apart(uint64_t load, uint64_t load_bytes, uint64_t store, uint64_t store_bytes)
{
    bool is_ahead = store != load && store - load < load_bytes;
    return !is_ahead && (load_bytes == store_bytes || load - store >= store_bytes);
}

/* --- registers --- */

#define ROW(number) (*(group_in_memory *)&core->v[number][i])
#define PUT(number, value) ROW(number) = (value)
#define PUT_PART(number, value) ROW(number) = (ROW(number) & ~lanes) | ((value) & lanes)

/* The exceptions that the host noted; of what a block of comparisons adds, the first remains. */
#define HOST_INVALID 1u
IN_LINE uint32_t host_flags(void)
{
    __asm__ volatile("" : : : "memory");
    return __builtin_ia32_stmxcsr();
}
IN_LINE void keep_invalid(uint32_t before)
{
    __builtin_ia32_ldmxcsr(before | (host_flags() & HOST_INVALID));
    __asm__ volatile("" : : : "memory");
}

#define FIXED_OVERFLOW_STOPS \
    (core->psw & (uint64_t)VE_PSW_FIXED_OVERFLOW << VE_PSW_ENABLE_SHIFT) != 0
#endif
#endif

#endif
