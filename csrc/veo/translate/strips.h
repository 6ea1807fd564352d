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
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
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
#define LOWER_BITS UINT64_C(0xFFFFFFFF)
#define UPPER_BITS (~LOWER_BITS)
#define SIGN_D (UINT64_C(1) << 63)
#define SIGN_S (SIGN_D | UINT64_C(1) << 31)

#define ALL(value) ((group){0} + (value))
#define NO_OPERAND ((group){0})
#define ALL_LANES ALL(~UINT64_C(0))
/* Elements where lanes are all ones, and others where they are 0. */
#define CHOSEN(lanes, value, other) (((value) & (lanes)) | ((other) & ~(lanes)))

/* Registers of vectors: of AVX-512, more of them. */
#if LANES == 8
#define ANY_REGISTER "v"
#else
#define ANY_REGISTER "x"
#endif
/* The result of an instruction that has one operand. */
#define MADE_OF(type, instruction, operand) \
    __extension__({ \
        type made_; \
        __asm__(instruction " %1, %0" : "=" ANY_REGISTER(made_) : ANY_REGISTER(operand)); \
        made_; \
    })

#define ALL_HALVES(value) ((half_group){0} + (uint32_t)(value))
#define NO_HALVES ((half_group){0})
/* Halves of elements, and the elements that are made of them: see PART in element_wise.inc. */
#define LOWER_OF(value) __builtin_convertvector(value, half_group)
#define UPPER_OF(value) LOWER_OF((value) >> 32)
#define FROM_UPPER(half) (FROM_UNSIGNED(half) << 32)
#define FROM_SIGNED(half) MADE_OF(group, "vpmovsxdq", half)
#define FROM_UNSIGNED(half) MADE_OF(group, "vpmovzxdq", half)

/* All ones in the first COUNT lanes. */
IN_LINE group first_lanes(uint64_t count)
{
#if LANES == 8
    group lanes;
    __asm__("vpmovm2q %1, %0" : "=v"(lanes) : "Yk"((uint8_t)~(0xFF << count)));
    return lanes;
#else
    const signed_group places = {0, 1, 2, 3};
    return (group)((signed_group)ALL(count) > places);
#endif
}

#include "veo/translate/strip_arithmetic.h"

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
/* The same of numbers, by a condition of the host. */
#define HOLDS_D(condition, value) NUMBERS("d", "q", condition, group, value, NO_OPERAND)
#define HOLDS_S(condition, value) \
    FROM_SIGNED(NUMBERS("s", "d", condition, half_group, value, NO_HALVES))

#if LANES == 8
/* Lanes as bits, the first the lowest. */
IN_LINE uint8_t few_of(group lanes)
{
    uint8_t bits;
    __asm__("vpmovq2m %1, %0" : "=k"(bits) : "v"(lanes));
    return bits;
}
#define BACKWARD(lanes) __builtin_shufflevector(lanes, lanes, 7, 6, 5, 4, 3, 2, 1, 0)
/* The byte of a mask register that has a group. */
#define MASK_BYTE(mask, i) (((uint8_t *)(mask))[(i) / 8 ^ 7])
#endif

/* The lanes of a mask register for a group. */
IN_LINE group lanes_of(const uint64_t *mask, uint64_t i)
{
#if LANES == 8
    group lanes;
    __asm__("vpmovm2q %1, %0" : "=v"(lanes) : "Yk"(MASK_BYTE(mask, i)));
    return BACKWARD(lanes);
#else
    const group places = {0, 1, 2, 3};
    return (group)((signed_group)(ALL(mask[i / 64] << i % 64) << places) < 0);
#endif
}

/* Lanes as bits, the first the highest. */
IN_LINE uint64_t bits_of(group lanes)
{
#if LANES == 8
    return few_of(BACKWARD(lanes));
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
#if LANES == 8
    if (count == LANES) { /* without a read, for which the next group would wait */
        MASK_BYTE(mask, i) = (uint8_t)bits;
        return;
    }
#endif
    uint64_t written = ~(~UINT64_C(0) >> count) >> i % 64;
    bits = bits << (64 - LANES) >> i % 64;
    mask[i / 64] = (mask[i / 64] & ~written) | (bits & written);
}
#define LANES_OF(number, i) lanes_of(core->vm[number], i)
#define PUT_MASK(number, i, lanes, count) put_mask(core->vm[number], i, lanes, count)

/* Numbers among which is a NaN, as a value that is not 0. Of several NaNs the host takes one. */
#if LANES == 8
typedef uint32_t unordered;
#define UNORDERED(suffix, value) \
    __extension__({ \
        uint16_t mask_; \
        __asm__("vcmpunordp" suffix " %1, %1, %0" : "=k"(mask_) : "v"(value)); \
        (unordered) mask_; \
    })
#define UNORDERED_D(value) UNORDERED("d", value)
#define UNORDERED_S(value) UNORDERED("s", value)
#define UNORDERED_HALF(value) UNORDERED("s", value)
#define IS_ANY(mask) ((mask) != 0)
IN_LINE bool is_any(group lanes)
{
    uint8_t bits;
    __asm__("vptestmq %1, %1, %0" : "=k"(bits) : "v"(lanes));
    return bits != 0;
}
#else
typedef group unordered;
#define UNORDERED_D(value) NUMBERS("d", "q", IS_NAN, group, value, value)
#define UNORDERED_S(value) NUMBERS("s", "d", IS_NAN, group, value, value)
#define UNORDERED_HALF(value) FROM_UNSIGNED(NUMBERS("s", "d", IS_NAN, half_group, value, value))
IN_LINE bool is_any(group mask)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < LANES; i++)
        any |= mask[i];
    return any != 0;
}
#define IS_ANY(mask) is_any(mask)
#endif

/* --- memory --- */

/* Some lanes of a group, or halves of one, in memory; what is in others is not touched. */
#if LANES == 8
#define SOME_LANES(type, instruction) \
    IN_LINE type some_##type(uint64_t address, group lanes) \
    { \
        type x; \
        __asm__(instruction " %1, %0%{%2%}%{z%}" \
                : "=v"(x) \
                : "m"(*(const type##_in_memory *)(uintptr_t)address), "Yk"(few_of(lanes))); \
        return x; \
    } \
    IN_LINE void store_some_##type(uint64_t address, type x, group lanes) \
    { \
        __asm__(instruction " %1, %0%{%2%}" \
                : "+m"(*(type##_in_memory *)(uintptr_t)address) \
                : "v"(x), "Yk"(few_of(lanes))); \
    }
SOME_LANES(group, "vmovdqu64")
SOME_LANES(half_group, "vmovdqu32")
#else
#define SOME_LANES(type, instruction, lanes_of_type) \
    IN_LINE type some_##type(uint64_t address, group lanes) \
    { \
        type x; \
        __asm__(instruction " %1, %2, %0" \
                : "=x"(x) \
                : "m"(*(const type##_in_memory *)(uintptr_t)address), "x"(lanes_of_type)); \
        return x; \
    } \
    IN_LINE void store_some_##type(uint64_t address, type x, group lanes) \
    { \
        __asm__(instruction " %1, %2, %0" \
                : "+m"(*(type##_in_memory *)(uintptr_t)address) \
                : "x"(x), "x"(lanes_of_type)); \
    }
SOME_LANES(group, "vpmaskmovq", lanes)
SOME_LANES(half_group, "vpmaskmovd", LOWER_OF(lanes))
#endif

/* Loads and stores of a group at an address, and of some lanes of one. */
#define ACCESS(operation, type) \
    IN_LINE type of_##operation(uint64_t address) \
    { \
        return *(const type##_in_memory *)(uintptr_t)address; \
    } \
    IN_LINE type some_of_##operation(uint64_t address, group lanes) \
    { \
        return some_##type(address, lanes); \
    }
ACCESS(VLD, group)
ACCESS(VLDU, half_group)
ACCESS(VLDL_SX, half_group)
ACCESS(VLDL_ZX, half_group)
#undef ACCESS
#define ACCESS(operation, type) \
    IN_LINE void of_##operation(uint64_t address, type x) \
    { \
        *(type##_in_memory *)(uintptr_t)address = x; \
    } \
    IN_LINE void some_of_##operation(uint64_t address, type x, group lanes) \
    { \
        store_some_##type(address, x, lanes); \
    }
ACCESS(VST, group)
ACCESS(VSTU, half_group)
ACCESS(VSTL, half_group)
#undef ACCESS

/* Loads by addresses into a register, with which a block ends. Of single stores of what is loaded,
 * loads of groups may have to wait: they write a group. */
#if LANES == 8
#define GATHERED(type, instruction, x, addresses, lanes) \
    uint8_t wanted_ = few_of(lanes); \
    __asm__ volatile(instruction " (,%2,1), %0%{%1%}" \
                     : "+&v"(x), "+Yk"(wanted_) \
                     : "v"(addresses) \
                     : "memory")
#else
#define GATHERED(type, instruction, x, addresses, lanes) \
    type wanted_ = (type) __builtin_convertvector((signed_group)(lanes), signed_##type); \
    __asm__ volatile(instruction " %1, (,%2,1), %0" \
                     : "+&x"(x), "+&x"(wanted_) \
                     : "x"(addresses) \
                     : "memory")
#endif
#define GATHER(operation, type, instruction, value) \
    IN_LINE void some_of_##operation(uint64_t *row, group addresses, group lanes) \
    { \
        group_in_memory *to = (group_in_memory *)row; \
        type x = {0}; \
        GATHERED(type, instruction, x, addresses, lanes); \
        *to = CHOSEN(lanes, value, *to); \
    } \
    IN_LINE void of_##operation(uint64_t *row, group addresses) \
    { \
        type x = {0}; \
        GATHERED(type, instruction, x, addresses, ALL_LANES); \
        *(group_in_memory *)row = (value); \
    }
GATHER(VGT, group, "vpgatherqq", x)
GATHER(VGTU, half_group, "vpgatherqd", FROM_UPPER(x))
GATHER(VGTL_SX, half_group, "vpgatherqd", FROM_SIGNED(x))
GATHER(VGTL_ZX, half_group, "vpgatherqd", FROM_UNSIGNED(x))

/* Writes a group to an array, which is faster than to take lanes out of a register. */
#define IN_MEMORY(array, value) \
    memcpy(array, &(value), sizeof(array)); \
    __asm__("" : "+m"(array))
/* Stores by addresses, in the order of lanes: of several to one, the last remains. */
#define EACH_LANE(statement) \
    _Pragma("GCC unroll 8") for (uint64_t i = 0; i < LANES; i++) \
    { \
        statement; \
    }
#define SCATTER(operation, type, word) \
    IN_LINE void of_##operation(group addresses, type x) \
    { \
        uint64_t at[LANES]; \
        word values[LANES]; \
        IN_MEMORY(at, addresses); \
        IN_MEMORY(values, x); \
        EACH_LANE(*(word *)(uintptr_t)at[i] = values[i]) \
    } \
    IN_LINE void some_of_##operation(group addresses, type x, group lanes) \
    { \
        uint64_t at[LANES], are_wanted[LANES]; \
        word values[LANES]; \
        IN_MEMORY(at, addresses); \
        IN_MEMORY(values, x); \
        IN_MEMORY(are_wanted, lanes); \
        EACH_LANE(if (are_wanted[i] != 0) * (word *)(uintptr_t)at[i] = values[i]) \
    }
SCATTER(VSC, group, ve_word64)
SCATTER(VSCU, half_group, ve_word32)
SCATTER(VSCL, half_group, ve_word32)

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

#define ROW(number, i) (*(group_in_memory *)&core->v[number][i])
#define PUT(number, i, value) ROW(number, i) = (value)
#define PUT_PART(number, i, value) ROW(number, i) = (ROW(number, i) & ~lanes) | ((value) & lanes)

/* True if the host rounds to nearest, as COMPARE does. */
IN_LINE bool rounds_to_nearest(void)
{
    return (__builtin_ia32_stmxcsr() & 0x6000) == 0;
}
#endif
#endif

#endif
