/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strip_arithmetic.h: what element_wise.inc has as functions of groups of elements, and of halves
 * of them: of_OPERATION(y, z, w, lanes). A part of strips.h, in generated code alone.
 */
#ifndef OFFCHIP_VE_STRIP_ARITHMETIC_H
#define OFFCHIP_VE_STRIP_ARITHMETIC_H

/* Types of operands and values; what they are if they are numbers, and the signs of these. */
#define TYPE_WHOLE group
#define TYPE_UPPER half_group
#define TYPE_LOWER half_group
#define TYPE_SIGNED half_group
#define TYPE_UNSIGNED half_group
#define WORDS_WHOLE word_group
#define WORDS_UPPER half_group
#define WORDS_LOWER half_group
#define SINGLES_WHOLE single_group
#define SINGLES_UPPER half_singles
#define SINGLES_LOWER half_singles
#define SIGNS_WHOLE SIGN_S
#define SIGNS_UPPER UINT32_C(0x80000000)
#define SIGNS_LOWER SIGNS_UPPER

/* --- numbers --- */

/* Conditions of the host that are quiet. */
#define GREATER "30"
#define IS_NAN "3"
#define DIFFERENT "4"

/* z * w + y, rounded once. */
#define FMA(suffix, type, y, z, w) \
    __extension__({ \
        type sum_ = (y); \
        __asm__("vfmadd231p" suffix " %2, %1, %0" \
                : "+" ANY_REGISTER(sum_) \
                : ANY_REGISTER(z), ANY_REGISTER(w)); \
        sum_; \
    })
#define FMA_D(y, z, w) FMA("d", group, y, z, w)
#define FMA_S(of, y, z, w) FMA("s", TYPE_##of, y, z, w)
#define FMS_S(of, y, z, w) FMA_S(of, (y) ^ SIGNS_##of, z, w)
#define NEGATIVE_FMA_S(of, y, z, w) (FMA_S(of, y, z, w) ^ SIGNS_##of)
#define NEGATIVE_FMS_S(of, y, z, w) (FMS_S(of, y, z, w) ^ SIGNS_##of)
#define ADD_S(of, y, z, w) ((TYPE_##of)((SINGLES_##of)(y) + (SINGLES_##of)(z)))
#define SUBTRACT_S(of, y, z, w) ((TYPE_##of)((SINGLES_##of)(y) - (SINGLES_##of)(z)))
#define MULTIPLY_S(of, y, z, w) ((TYPE_##of)((SINGLES_##of)(y) * (SINGLES_##of)(z)))

/* y - z, but 0 for equal infinities too; without raising anything. */
#if LANES == 8
#define COMPARE(suffix, type, y, z) \
    __extension__({ \
        uint16_t differ_; \
        group difference_; \
        __asm__("vcmpp" suffix " $" DIFFERENT ", %2, %1, %0" : "=Yk"(differ_) : "v"(y), "v"(z)); \
        __asm__("vsubp" suffix " %{rn-sae%}, %2, %1, %0%{%3%}%{z%}" \
                : "=v"(difference_) \
                : "v"(y), "v"(z), "Yk"(differ_)); \
        difference_; \
    })
#else
#define COMPARE(suffix, type, y, z) \
    __extension__({ \
        const group kept_ = (group)((type)(y) != (type)(z)); \
        group difference_; \
        uint32_t before_ = 0; \
        __asm__("vstmxcsr %1\n\tvsubp" suffix " %3, %2, %0\n\tvldmxcsr %1" \
                : "=&x"(difference_), "+m"(before_) \
                : "x"((y) & kept_), "x"((z) & kept_)); \
        difference_; \
    })
#endif
#define COMPARE_S(y, z) COMPARE("s", single_group, y, z)

/* Lanes where two numbers meet a condition of the host, of those that are quiet. */
#if LANES == 8
#define NUMBERS(suffix, bits, condition, type, a, b) \
    __extension__({ \
        uint16_t mask_; \
        type lanes_; \
        __asm__("vcmpp" suffix " $" condition ", %2, %1, %0" : "=Yk"(mask_) : "v"(a), "v"(b)); \
        __asm__("vpmovm2" bits " %1, %0" : "=v"(lanes_) : "Yk"(mask_)); \
        lanes_; \
    })
#else
#define NUMBERS(suffix, bits, condition, type, a, b) \
    __extension__({ \
        type lanes_; \
        __asm__("vcmpp" suffix " $" condition ", %2, %1, %0" : "=x"(lanes_) : "x"(a), "x"(b)); \
        lanes_; \
    })
#endif

/* A number prevails over a NaN. */
#define LARGER_NUMBER(suffix, bits, type, y, z) \
    CHOSEN(NUMBERS(suffix, bits, GREATER, type, y, z) | NUMBERS(suffix, bits, IS_NAN, type, z, z), \
           y, z)
#define SMALLER_NUMBER(suffix, bits, type, y, z) \
    CHOSEN(NUMBERS(suffix, bits, GREATER, type, z, y) | NUMBERS(suffix, bits, IS_NAN, type, z, z), \
           y, z)
#define LARGER_S(of, y, z, w) LARGER_NUMBER("s", "d", TYPE_##of, y, z)
#define SMALLER_S(of, y, z, w) SMALLER_NUMBER("s", "d", TYPE_##of, y, z)

/* y / z and, in lanes that are left out, y / 1. */
#define ONE_D UINT64_C(0x3FF0000000000000)
#define ONE_S UINT32_C(0x3F800000)
#define DIVIDE_D(y, z, lanes) \
    ((group)((double_group)(y) / (double_group)CHOSEN(lanes, z, ALL(ONE_D))))
#define DIVIDE_S(y, z, lanes) \
    ((half_group)((half_singles)(y) / (half_singles)CHOSEN(lanes, z, ALL_HALVES(ONE_S))))

#define ROOT(suffix, type, y) MADE_OF(type, "vsqrtp" suffix, y)

/* --- integers --- */

#define ADD_WORDS(of, y, z, w) ((TYPE_##of)((WORDS_##of)(y) + (WORDS_##of)(z)))
#define SUBTRACT_WORDS(of, y, z, w) ((TYPE_##of)((WORDS_##of)(y) - (WORDS_##of)(z)))
#define BOTH(of, y, z, w) ((y) & (z))
#define EITHER(of, y, z, w) ((y) | (z))
#define DIFFER(of, y, z, w) ((y) ^ (z))
#define SIGN_EXTENDED(value) ((group)((signed_group)((value) << 32) >> 32))

/* y - z, or the extreme on its side where that does not fit. */
IN_LINE group compared(group y, group z)
{
    group difference = y - z;
    group overflows = (group)((signed_group)((y ^ z) & (y ^ difference)) < 0);
    return CHOSEN(overflows, (y >> 63) + INT64_MAX, difference);
}

#define LARGER(y, z) CHOSEN((group)((signed_group)(y) > (signed_group)(z)), y, z)
#define SMALLER(y, z) CHOSEN((group)((signed_group)(y) < (signed_group)(z)), y, z)
#define LARGER_WORD(y, z) \
    CHOSEN((half_group)((signed_half_group)(y) > (signed_half_group)(z)), y, z)
#define SMALLER_WORD(y, z) \
    CHOSEN((half_group)((signed_half_group)(y) < (signed_half_group)(z)), y, z)

/* Two halves of y and z, which w chooses, the same for all elements. */
IN_LINE group SHUFFLED(group y, group z, group w)
{
    const group upper = CHOSEN((group)((w & 8) != 0), z, y);
    const group lower = CHOSEN((group)((w & 2) != 0), z, y);
    return CHOSEN((group)((w & 4) != 0), upper << 32, upper & UPPER_BITS) |
           CHOSEN((group)((w & 1) != 0), lower & LOWER_BITS, lower >> 32);
}

/* --- conversions --- */

#define DOUBLES_OF(value) ((group) __builtin_convertvector(value, double_group))
#if LANES == 8
#define TO_SINGLES(value) MADE_OF(half_group, "vcvtpd2ps", value)
#else
#define TO_SINGLES(value) SINGLES_OF((double_group)(value))
#endif
#define SINGLES_OF(value) ((half_group) __builtin_convertvector(value, half_singles))

/* The host's instructions have the least integer, too, for what does not fit, and raise the same.
 * FORM: "" or "t", which rounds to 0. */
#define CONVERTED(type, form, kinds, y) MADE_OF(type, "vcvt" form kinds, y)
#define UPPER_SIGNED(form, y) CONVERTED(half_group, form, "ps2dq", y)
#define UPPER_UNSIGNED(form, y) CONVERTED(half_group, form, "ps2dq", y)
#define WHOLE_SIGNED(form, y) CONVERTED(half_group, form, "pd2dq", y)
#define WHOLE_UNSIGNED(form, y) CONVERTED(half_group, form, "pd2dq", y)
#if LANES == 8
#define WHOLE_WHOLE(form, y) CONVERTED(group, form, "pd2qq", y)
#else
#define WHOLE_WHOLE(form, y) \
    __extension__({ \
        group integers_; \
        for (uint64_t i = 0; i < LANES; i++) { \
            uint64_t integer_; \
            __asm__("vcvt" form "sd2si %1, %0" : "=r"(integer_) : "x"(((double_group)(y))[i])); \
            integers_[i] = integer_; \
        } \
        integers_; \
    })
#endif

/* --- operations --- */

#define PART(operation, kind, operands, from, to, value) \
    IN_LINE TYPE_##to of_##operation(TYPE_##from y, TYPE_##from z, TYPE_##from w, \
                                     TYPE_##from lanes) \
    { \
        return value; \
    }
#define ELEMENT(operation, kind, operands, value) \
    PART(operation, kind, operands, WHOLE, WHOLE, value)
#define TO_INTEGER(operation, from, to) \
    PART(operation, WHOLE, 1, from, to, from##_##to("", y)) \
    PART(operation##_RZ, WHOLE, 1, from, to, from##_##to("t", y))
#define MASK(operation, numbers, from, value) MASK_OF_##numbers(operation, from, value)
#define MASK_OF_DOUBLE(operation, from, value)
#define MASK_OF_SINGLE(operation, from, value)
#define MASK_OF_NONE(operation, from, value) \
    IN_LINE group of_##operation(TYPE_##from z) \
    { \
        return value; \
    }
#include "veo/translate/element_wise.inc"
#undef PART
#undef ELEMENT
#undef TO_INTEGER
#undef MASK

/* The exceptions of an operation are wanted even if its result is not. */
#define KEEP_RAISED(value) __asm__ volatile("" : : ANY_REGISTER(value))

#endif
