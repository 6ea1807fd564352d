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

struct dpu_alu {
    uint32_t x;     /* the result */
    uint32_t zero;  /* the zero flag tells whether this is 0 */
    uint32_t carry; /* only of add and sub and their like */
    /* left - right is what was computed, for the order and overflow; a + b as a - ~b - 1. */
    uint32_t left, right;
};

ALWAYS struct dpu_alu dpu_alu_add(uint32_t a, uint32_t b, uint32_t carry)
{
    uint64_t sum = (uint64_t)a + b + carry;
    uint32_t x = (uint32_t)sum;
    return (struct dpu_alu){x, x, (uint32_t)(sum >> 32), a, ~b};
}

/* Carry set means that there was no borrow. */
ALWAYS struct dpu_alu dpu_alu_sub(uint32_t a, uint32_t b, uint32_t carry)
{
    uint64_t sum = (uint64_t)a + (uint32_t)~b + carry;
    uint32_t x = (uint32_t)sum;
    return (struct dpu_alu){x, x, (uint32_t)(sum >> 32), a, b};
}

/* A count; its greatest value is for the conditions max and nmax. */
ALWAYS struct dpu_alu dpu_alu_count(uint32_t x, uint32_t most)
{
    return (struct dpu_alu){x, x, 0, most, 0};
}

ALWAYS uint32_t dpu_rotate_left(uint32_t a, uint32_t n)
{
    return a << (n & 31) | a >> (-n & 31);
}

ALWAYS uint32_t dpu_multiply_bytes(uint32_t a, bool a_signed, uint32_t b, bool b_signed)
{
    int32_t left = a_signed ? (int8_t)(uint8_t)a : (int32_t)(a & 0xFF);
    int32_t right = b_signed ? (int8_t)(uint8_t)b : (int32_t)(b & 0xFF);
    return (uint32_t)(left * right);
}

/* 1 in each byte that is equal in both. */
ALWAYS uint32_t dpu_compare_bytes(uint32_t a, uint32_t b)
{
    uint32_t different = a ^ b, x = 0;
    for (uint32_t i = 0; i < 32; i += 8)
        x |= (uint32_t)((different >> i & 0xFF) == 0) << i;
    return x;
}

/* xor of the lowest fields of a: two or three of 7 to 10 bits, as b says. */
ALWAYS uint32_t dpu_hash(uint32_t a, uint32_t b)
{
    uint32_t width = 7 + (b >> 2 & 3), count = 2 + (b & 1), x = 0;
    for (uint32_t i = 0; i < count; i++)
        x ^= a >> (i * width);
    return x & ((1u << width) - 1);
}

/* Leading bits equal to the sign bit, that one not counted. */
ALWAYS uint32_t dpu_count_sign(uint32_t a)
{
    uint32_t turned = a ^ (uint32_t)-(int32_t)(a >> 31);
    return (uint32_t)__builtin_clz(turned << 1 | 1);
}

/* a, b: the operands in the order of the assembler; shift: of the shift-and-add instructions. */
ALWAYS struct dpu_alu dpu_alu(enum dpu_operation_kind kind, uint32_t a, uint32_t b, uint32_t shift,
                              uint32_t carry)
{
    uint32_t x = 0, n = b & 31;
    switch (kind) {
    case DPU_OP_ADD: return dpu_alu_add(a, b, 0);
    case DPU_OP_ADDC: return dpu_alu_add(a, b, carry);
    case DPU_OP_SUB: return dpu_alu_sub(a, b, 1);
    case DPU_OP_SUBC: return dpu_alu_sub(a, b, carry);
    case DPU_OP_RSUB: return dpu_alu_sub(b, a, 1);
    case DPU_OP_RSUBC: return dpu_alu_sub(b, a, carry);
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
    case DPU_OP_ASR: x = (uint32_t)((int32_t)a >> n); break;
    case DPU_OP_ROL: x = dpu_rotate_left(a, n); break;
    case DPU_OP_ROR: x = dpu_rotate_left(a, -n); break;
    case DPU_OP_LSL1: x = ~(~a << n); break;
    case DPU_OP_LSR1: x = ~(~a >> n); break;
    /* The bits that fall out of the shift, and ones in place of the others. */
    case DPU_OP_LSLX: x = (uint32_t)((uint64_t)a << n >> 32); break;
    case DPU_OP_LSRX: x = (uint32_t)((uint64_t)a << 32 >> n); break;
    case DPU_OP_LSL1X: x = ~(uint32_t)((uint64_t)~a << n >> 32); break;
    case DPU_OP_LSR1X: x = ~(uint32_t)((uint64_t)~a << 32 >> n); break;
    /* Here the zero flag is that of the shifted value. */
    case DPU_OP_LSL_ADD: x = a << shift; return (struct dpu_alu){b + x, x, 0, 0, 0};
    case DPU_OP_LSL_SUB: x = a << shift; return (struct dpu_alu){b - x, x, 0, 0, 0};
    case DPU_OP_LSR_ADD: x = a >> shift; return (struct dpu_alu){b + x, x, 0, 0, 0};
    case DPU_OP_ROL_ADD: x = dpu_rotate_left(a, shift); return (struct dpu_alu){b + x, x, 0, 0, 0};
    case DPU_OP_CAO: return dpu_alu_count((uint32_t)__builtin_popcount(a), 32);
    case DPU_OP_CLZ: return dpu_alu_count(a == 0 ? 32 : (uint32_t)__builtin_clz(a), 32);
    case DPU_OP_CLO: return dpu_alu_count(~a == 0 ? 32 : (uint32_t)__builtin_clz(~a), 32);
    /* shift is 1 where the sign bit is to be counted too. */
    case DPU_OP_CLS: return dpu_alu_count(dpu_count_sign(a) + shift, 31 + shift);
    case DPU_OP_EXTSB: x = (uint32_t)(int8_t)(uint8_t)a; break;
    case DPU_OP_EXTSH: x = (uint32_t)(int16_t)(uint16_t)a; break;
    case DPU_OP_EXTUB: x = a & 0xFF; break;
    case DPU_OP_EXTUH: x = a & 0xFFFF; break;
    case DPU_OP_CMPB4: x = dpu_compare_bytes(a, b); break;
    case DPU_OP_SATS: x = a >> 31 != 0 ? 0x7FFFFFFF : 0x80000000; break;
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
    return (struct dpu_alu){x, x, 0, a, b};
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
ALWAYS bool dpu_holds(enum dpu_condition condition, const struct dpu_alu *alu, uint32_t a,
                      uint32_t b, bool zero, uint32_t switches)
{
    uint32_t x = alu->x;
    bool negative = x >> 31 != 0;
    bool sub_overflow = ((alu->left ^ alu->right) & (alu->left ^ x)) >> 31 != 0;
    bool less = negative != sub_overflow, below = alu->carry == 0, both = x == 0 && zero;
    switch (condition) {
    case DPU_IF_FALSE: return false;
    case DPU_IF_TRUE: return true;
    case DPU_IF_Z: return x == 0;
    case DPU_IF_NZ: return x != 0;
    case DPU_IF_XZ: return both;
    case DPU_IF_XNZ: return !both;
    case DPU_IF_PL: return !negative;
    case DPU_IF_MI: return negative;
    case DPU_IF_SZ: return a == 0;
    case DPU_IF_SNZ: return a != 0;
    case DPU_IF_SPL: return a >> 31 == 0;
    case DPU_IF_SMI: return a >> 31 != 0;
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
    case DPU_IF_OV: return sub_overflow;
    case DPU_IF_NOV: return !sub_overflow;
    case DPU_IF_LTU: return below;
    case DPU_IF_GEU: return !below;
    case DPU_IF_LTS: return less;
    case DPU_IF_GES: return !less;
    case DPU_IF_LES: return less || x == 0;
    case DPU_IF_GTS: return !(less || x == 0);
    case DPU_IF_LEU: return below || x == 0;
    case DPU_IF_GTU: return !(below || x == 0);
    case DPU_IF_XLES: return less || both;
    case DPU_IF_XGTS: return !(less || both);
    case DPU_IF_XLEU: return below || both;
    case DPU_IF_XGTU: return !(below || both);
    case DPU_IF_MAX: return x == alu->left;
    case DPU_IF_NMAX: return x != alu->left;
    case DPU_IF_SMALL:
    case DPU_IF_LARGE: {
        bool small = ((a | b) & 0xFF00) == 0;
        if ((switches & DPU_SWITCH_SMALL_IS_PRODUCT) != 0)
            small = x < 256;
        return small == (condition == DPU_IF_SMALL);
    }
    case DPU_IF_SH32: return (b & 32) != 0;
    case DPU_IF_NSH32: return (b & 32) == 0;
    }
    return false;
}

#endif
