/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * execute_alu.h: what arithmetic and logic instructions compute, and what conditions mean. Pure
 * functions: with a constant operation and condition the compiler leaves only what is needed, so
 * the general function and the fast handlers are made of the same text.
 */
#ifndef OFFCHIP_DPU_EXECUTE_ALU_H
#define OFFCHIP_DPU_EXECUTE_ALU_H

#include "machine_state.h"

#define ALWAYS static inline __attribute__((always_inline))

/*
 * A value is a word of one machine; or a vector of words, in generated code that runs several
 * machines at once, which defines these before (lanes_code.h).
 */
#ifndef ALU_WORD
#define ALU_WORD uint32_t
#define ALU_SIGNED int32_t
#define ALU_TRUTH bool
#define ALU_ALL(value) (value) /* one for all */
#define ALU_TRUE true
#define ALU_NOT(truth) (!(truth))
#define ALU_OR(truth, other) ((truth) || (other))
#define ALU_AND(truth, other) ((truth) && (other))
#define ALU_SELECT(truth, x, y) ((truth) ? (x) : (y))
#define ALU_ONE_IF(truth) ((uint32_t)(truth))
#define ALU_EACH(function, x) function(x)
#endif

struct dpu_alu {
    ALU_WORD x;     /* the result */
    ALU_WORD zero;  /* the zero flag tells whether this is 0 */
    ALU_WORD carry; /* only of add and sub and their like */
    /* left - right is what was computed, for the order and overflow; a + b as a - ~b - 1. */
    ALU_WORD left, right;
    ALU_TRUTH less; /* the order, as signed values, the borrow included */
};

/* X = LEFT - RIGHT has another sign than the exact difference. */
ALWAYS ALU_TRUTH dpu_alu_overflows(ALU_WORD x, ALU_WORD left, ALU_WORD right)
{
    return (ALU_SIGNED)((left ^ right) & (left ^ x)) < 0;
}

ALWAYS struct dpu_alu dpu_alu_of(ALU_WORD x, ALU_WORD zero, ALU_WORD left, ALU_WORD right)
{
    ALU_TRUTH less = ((ALU_SIGNED)x < 0) != dpu_alu_overflows(x, left, right);
    return (struct dpu_alu){x, zero, ALU_ALL(0), left, right, less};
}

ALWAYS struct dpu_alu dpu_alu_add(ALU_WORD a, ALU_WORD b)
{
    ALU_WORD x = a + b;
    ALU_TRUTH less = (ALU_SIGNED)a <= (ALU_SIGNED)~b;
    return (struct dpu_alu){x, x, ALU_ONE_IF(x < a), a, ~b, less};
}

/* Carry set means that there was no borrow. */
ALWAYS struct dpu_alu dpu_alu_sub(ALU_WORD a, ALU_WORD b)
{
    ALU_WORD x = a - b;
    ALU_TRUTH less = (ALU_SIGNED)a < (ALU_SIGNED)b;
    return (struct dpu_alu){x, x, ALU_ONE_IF(a >= b), a, b, less};
}

/* a - b, and 1 less if CARRY, which is 0 or 1, is 0. */
ALWAYS struct dpu_alu dpu_alu_subc(ALU_WORD a, ALU_WORD b, ALU_WORD carry)
{
    ALU_WORD x = a - b - 1 + carry;
    ALU_TRUTH above = a > b, less = (ALU_SIGNED)a < (ALU_SIGNED)b, equal = a == b;
    ALU_TRUTH out = above | ((carry != 0) & equal);
    return (struct dpu_alu){x, x, ALU_ONE_IF(out), a, b, less | ((carry == 0) & equal)};
}

/* A count; its greatest value is for the conditions max and nmax. */
ALWAYS struct dpu_alu dpu_alu_count(ALU_WORD x, uint32_t most)
{
    return dpu_alu_of(x, x, ALU_ALL(most), ALU_ALL(0));
}

ALWAYS uint32_t dpu_count_ones(uint32_t a)
{
    return (uint32_t)__builtin_popcount(a);
}

ALWAYS uint32_t dpu_count_leading(uint32_t a)
{
    return a == 0 ? 32 : (uint32_t)__builtin_clz(a);
}

ALWAYS ALU_WORD dpu_rotate_left(ALU_WORD a, ALU_WORD n)
{
    return a << (n & 31) | a >> (-n & 31);
}

ALWAYS ALU_WORD dpu_extend(ALU_WORD a, uint32_t width)
{
    return (ALU_WORD)((ALU_SIGNED)(a << (32 - width)) >> (32 - width));
}

ALWAYS ALU_WORD dpu_multiply_bytes(ALU_WORD a, bool a_signed, ALU_WORD b, bool b_signed)
{
    ALU_SIGNED left = (ALU_SIGNED)(a_signed ? dpu_extend(a, 8) : (a & 0xFF));
    ALU_SIGNED right = (ALU_SIGNED)(b_signed ? dpu_extend(b, 8) : (b & 0xFF));
    return (ALU_WORD)(left * right);
}

/* 1 in each byte that is equal in both. */
ALWAYS ALU_WORD dpu_compare_bytes(ALU_WORD a, ALU_WORD b)
{
    ALU_WORD different = a ^ b, x = ALU_ALL(0);
    for (uint32_t i = 0; i < 32; i += 8)
        x |= ALU_ONE_IF((different >> i & 0xFF) == 0) << i;
    return x;
}

/* xor of the lowest fields of a: two or three of 7 to 10 bits, as b says. */
ALWAYS ALU_WORD dpu_hash(ALU_WORD a, ALU_WORD b)
{
    ALU_WORD width = 7 + (b >> 2 & 3), x = a ^ a >> width;
    x ^= ALU_SELECT((b & 1) != 0, a >> 2 * width, ALU_ALL(0u));
    return x & ((ALU_ALL(1u) << width) - 1);
}

/* Leading bits equal to the sign bit, that one not counted. */
ALWAYS ALU_WORD dpu_count_sign(ALU_WORD a)
{
    ALU_WORD turned = a ^ -(a >> 31);
    return ALU_EACH(dpu_count_leading, turned << 1 | 1);
}

/* a, b: the operands in the order of the assembler; shift: of the shift-and-add instructions. */
ALWAYS struct dpu_alu dpu_alu(enum dpu_operation_kind kind, ALU_WORD a, ALU_WORD b, uint32_t shift,
                              ALU_WORD carry)
{
    ALU_WORD x = ALU_ALL(0u), n = b & 31;
    switch (kind) {
    case DPU_OP_ADD: return dpu_alu_add(a, b);
    case DPU_OP_ADDC: return dpu_alu_subc(a, ~b, carry);
    case DPU_OP_SUB: return dpu_alu_sub(a, b);
    case DPU_OP_SUBC: return dpu_alu_subc(a, b, carry);
    case DPU_OP_RSUB: return dpu_alu_sub(b, a);
    case DPU_OP_RSUBC: return dpu_alu_subc(b, a, carry);
    case DPU_OP_AND: x = a & b; break;
    case DPU_OP_OR: x = a | b; break;
    case DPU_OP_XOR: x = a ^ b; break;
    case DPU_OP_NAND: x = ~(a & b); break;
    case DPU_OP_NOR: x = ~(a | b); break;
    case DPU_OP_NXOR: x = ~(a ^ b); break;
    case DPU_OP_ANDN: x = ~a & b; break;
    case DPU_OP_ORN: x = ~a | b; break;
    case DPU_OP_LSL: x = a << n; break;
    case DPU_OP_LSR: x = a >> n; break;
    case DPU_OP_ASR: x = (ALU_WORD)((ALU_SIGNED)a >> (ALU_SIGNED)n); break;
    case DPU_OP_ROL: x = dpu_rotate_left(a, n); break;
    case DPU_OP_ROR: x = dpu_rotate_left(a, -n); break;
    case DPU_OP_LSL1: x = ~(~a << n); break;
    case DPU_OP_LSR1: x = ~(~a >> n); break;
    /* The bits that fall out of the shift, and ones in place of the others. */
    case DPU_OP_LSLX: x = a >> 1 >> (31 - n); break;
    case DPU_OP_LSRX: x = a << 1 << (31 - n); break;
    case DPU_OP_LSL1X: x = ~(~a >> 1 >> (31 - n)); break;
    case DPU_OP_LSR1X: x = ~(~a << 1 << (31 - n)); break;
    /* Here the zero flag is that of the shifted value. */
    case DPU_OP_LSL_ADD: x = a << shift; return dpu_alu_of(b + x, x, ALU_ALL(0u), ALU_ALL(0u));
    case DPU_OP_LSL_SUB: x = a << shift; return dpu_alu_of(b - x, x, ALU_ALL(0u), ALU_ALL(0u));
    case DPU_OP_LSR_ADD: x = a >> shift; return dpu_alu_of(b + x, x, ALU_ALL(0u), ALU_ALL(0u));
    case DPU_OP_ROL_ADD:
        x = dpu_rotate_left(a, ALU_ALL(shift));
        return dpu_alu_of(b + x, x, ALU_ALL(0u), ALU_ALL(0u));
    case DPU_OP_CAO: return dpu_alu_count(ALU_EACH(dpu_count_ones, a), 32);
    case DPU_OP_CLZ: return dpu_alu_count(ALU_EACH(dpu_count_leading, a), 32);
    case DPU_OP_CLO: return dpu_alu_count(ALU_EACH(dpu_count_leading, ~a), 32);
    /* shift is 1 where the sign bit is to be counted too. */
    case DPU_OP_CLS: return dpu_alu_count(dpu_count_sign(a) + shift, 31 + shift);
    case DPU_OP_EXTSB: x = dpu_extend(a, 8); break;
    case DPU_OP_EXTSH: x = dpu_extend(a, 16); break;
    case DPU_OP_EXTUB: x = a & 0xFF; break;
    case DPU_OP_EXTUH: x = a & 0xFFFF; break;
    case DPU_OP_CMPB4: x = dpu_compare_bytes(a, b); break;
    case DPU_OP_SATS:
        x = ALU_SELECT(a >> 31 != 0, ALU_ALL(0x7FFFFFFFu), ALU_ALL(0x80000000u));
        break;
    case DPU_OP_HASH: x = dpu_hash(a, b); break;
    case DPU_OP_MUL_SH_SH: x = dpu_multiply_bytes(a >> 8, true, b >> 8, true); break;
    case DPU_OP_MUL_SH_SL: x = dpu_multiply_bytes(a >> 8, true, b, true); break;
    case DPU_OP_MUL_SH_UH: x = dpu_multiply_bytes(a >> 8, true, b >> 8, false); break;
    case DPU_OP_MUL_SH_UL: x = dpu_multiply_bytes(a >> 8, true, b, false); break;
    case DPU_OP_MUL_SL_SH: x = dpu_multiply_bytes(a, true, b >> 8, true); break;
    case DPU_OP_MUL_SL_SL: x = dpu_multiply_bytes(a, true, b, true); break;
    case DPU_OP_MUL_SL_UH: x = dpu_multiply_bytes(a, true, b >> 8, false); break;
    case DPU_OP_MUL_SL_UL: x = dpu_multiply_bytes(a, true, b, false); break;
    case DPU_OP_MUL_UH_UH: x = dpu_multiply_bytes(a >> 8, false, b >> 8, false); break;
    case DPU_OP_MUL_UH_UL: x = dpu_multiply_bytes(a >> 8, false, b, false); break;
    case DPU_OP_MUL_UL_UH: x = dpu_multiply_bytes(a, false, b >> 8, false); break;
    case DPU_OP_MUL_UL_UL: x = dpu_multiply_bytes(a, false, b, false); break;
    default: break;
    }
    return dpu_alu_of(x, x, a, b);
}

ALWAYS bool dpu_alu_writes_carry(enum dpu_operation_kind kind)
{
    return kind == DPU_OP_ADD || kind == DPU_OP_ADDC || kind == DPU_OP_SUB || kind == DPU_OP_SUBC ||
           kind == DPU_OP_RSUB || kind == DPU_OP_RSUBC;
}

/*
 * True if a condition holds for a result; A is the source register, B the second operand, ZERO
 * the zero flag before the instruction. c and nc belong to additions; the order is that of the
 * two values subtracted, the borrow included, so it is that of the result's sign and overflow.
 */
ALWAYS ALU_TRUTH dpu_holds(enum dpu_condition condition, const struct dpu_alu *alu, ALU_WORD a,
                           ALU_WORD b, ALU_TRUTH zero, uint32_t switches)
{
    ALU_WORD x = alu->x;
    ALU_TRUTH negative = (ALU_SIGNED)x < 0, overflow = dpu_alu_overflows(x, alu->left, alu->right);
    ALU_TRUTH less = alu->less, below = alu->carry == 0, both = ALU_AND(x == 0, zero);
    switch (condition) {
    case DPU_IF_FALSE: return ALU_NOT(ALU_TRUE);
    case DPU_IF_TRUE: return ALU_TRUE;
    case DPU_IF_Z: return x == 0;
    case DPU_IF_NZ: return x != 0;
    case DPU_IF_XZ: return both;
    case DPU_IF_XNZ: return ALU_NOT(both);
    case DPU_IF_PL: return ALU_NOT(negative);
    case DPU_IF_MI: return negative;
    case DPU_IF_SZ: return a == 0;
    case DPU_IF_SNZ: return a != 0;
    case DPU_IF_SPL: return (ALU_SIGNED)a >= 0;
    case DPU_IF_SMI: return (ALU_SIGNED)a < 0;
    case DPU_IF_E: return (x & 1) == 0;
    case DPU_IF_O: return (x & 1) != 0;
    case DPU_IF_SE: return (a & 1) == 0;
    case DPU_IF_SO: return (a & 1) != 0;
    case DPU_IF_C: return alu->carry != 0;
    case DPU_IF_NC: return alu->carry == 0;
    case DPU_IF_NC5:
    case DPU_IF_NC6:
    case DPU_IF_NC7:
    case DPU_IF_NC8:
    case DPU_IF_NC9:
    case DPU_IF_NC10:
    case DPU_IF_NC11:
    case DPU_IF_NC12:
    case DPU_IF_NC13:
    case DPU_IF_NC14: {
        uint32_t bit = 5 + (uint32_t)condition - DPU_IF_NC5;
        return ((alu->left ^ alu->right ^ x) >> bit & 1) != 0;
    }
    case DPU_IF_OV: return overflow;
    case DPU_IF_NOV: return ALU_NOT(overflow);
    case DPU_IF_LTU: return below;
    case DPU_IF_GEU: return ALU_NOT(below);
    case DPU_IF_LTS: return less;
    case DPU_IF_GES: return ALU_NOT(less);
    case DPU_IF_LES: return ALU_OR(less, x == 0);
    case DPU_IF_GTS: return ALU_NOT(ALU_OR(less, x == 0));
    case DPU_IF_LEU: return ALU_OR(below, x == 0);
    case DPU_IF_GTU: return ALU_NOT(ALU_OR(below, x == 0));
    case DPU_IF_XLES: return ALU_OR(less, both);
    case DPU_IF_XGTS: return ALU_NOT(ALU_OR(less, both));
    case DPU_IF_XLEU: return ALU_OR(below, both);
    case DPU_IF_XGTU: return ALU_NOT(ALU_OR(below, both));
    case DPU_IF_MAX: return x == alu->left;
    case DPU_IF_NMAX: return x != alu->left;
    case DPU_IF_SMALL:
    case DPU_IF_LARGE: {
        ALU_TRUTH small = ((a | b) & 0xFF00) == 0;
        if ((switches & DPU_SWITCH_SMALL_IS_PRODUCT) != 0)
            small = x < 256;
        return condition == DPU_IF_SMALL ? small : ALU_NOT(small);
    }
    case DPU_IF_SH32: return (b & 32) != 0;
    case DPU_IF_NSH32: return (b & 32) == 0;
    }
    return ALU_NOT(ALU_TRUE);
}

#endif
