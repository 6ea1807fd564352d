/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generated_code.h: what generated code is made of.
 *
 * The library has the text of this file and of execute_alu.h in it, and puts both, without their
 * #include lines, before the code that generate.c writes. So what an instruction computes is said
 * once, for the interpreter and for translated code.
 *
 * Generated code is one function. Registers of the DPU are its variables r0 to r23, so that the
 * compiler keeps what a loop uses in registers of the host; z holds the value that the zero flag
 * tells about. Its labels at_PC are the heads of blocks.
 */
#ifndef OFFCHIP_DPU_GENERATED_CODE_H
#define OFFCHIP_DPU_GENERATED_CODE_H

#include "dpu/machine/execute_alu.h"

/*
 * Functions of their own for each operation and condition that the program has: the compiler
 * reduces these to what is needed before it puts them into the code.
 */
#define ALU_OF(kind) \
    ALWAYS struct dpu_alu alu_##kind(uint32_t a, uint32_t b, uint32_t shift, uint32_t carry) \
    { \
        return dpu_alu(DPU_OP_##kind, a, b, shift, carry); \
    }
#define HOLDS_OF(condition) \
    ALWAYS bool holds_##condition(const struct dpu_alu *alu, uint32_t a, uint32_t b, uint32_t z) \
    { \
        return dpu_holds(DPU_IF_##condition, alu, a, b, z == 0, SWITCHES); \
    }

/* Goes back to the interpreter, at an instruction; UNDONE ones of the block were not executed. */
#define LEAVE(at, undone) \
    do { \
        budget += (undone); \
        pc = (at); \
        goto leave; \
    } while (0)
#define GO(target, undone) \
    do { \
        budget += (undone); \
        goto at_##target; \
    } while (0)

#define BRANCH(how, target, undone, next) \
    if (holds) \
    how(target, undone)
#define TARGET(value, most) pc = (value) & (most)
#define GO_THERE goto dispatch

/* A block of LENGTH instructions begins. */
#define BLOCK(at, length) \
    at_##at : if (__builtin_expect(budget < (length), 0)) LEAVE(at, 0); \
    budget -= (length)
/* The same for one that is an entry. */
#define ENTRY BLOCK

#define COMPUTE(kind, first, second, shift) \
    const uint32_t a = (first), b = (second); \
    const struct dpu_alu alu = alu_##kind(a, b, shift, carry)
#define HOLDS(condition) const bool holds = holds_##condition(&alu, a, b, z)

/* Where generated code for several DPUs has vectors (lanes_code.h), this has words. */
#define WORD uint32_t
#define TRUTH bool
#define ALU struct dpu_alu
#define ALL(value) (value)
#define SET(name, value) name = (value)
#define SELECT(truth, x, y) ((truth) ? (x) : (y))
#define ONE_IF(truth) (truth)

/* The address of an access that cannot fault; any other is left to the interpreter. */
#define ADDRESS(value, log2_size, at, undone) \
    const uint32_t address = (value); \
    const uint32_t turned = (log2_size) == 0 \
                                ? address \
                                : address >> (log2_size) | address << ((32 - (log2_size)) & 31); \
    if (__builtin_expect(turned >= WRAM_SIZE >> (log2_size), 0)) \
    LEAVE(at, undone)
#define ADDRESS_ONE ADDRESS
#define LOAD(type) \
    type value; \
    __builtin_memcpy(&value, wram + address, sizeof value)
#define STORE(type, source) \
    const type value = (type)(source); \
    __builtin_memcpy(wram + address, &value, sizeof value)

/* Bytes in the other order. */
#define BIG_uint8_t(value) (value)
#define BIG_int8_t(value) (value)
#define BIG_uint16_t(value) __builtin_bswap16(value)
#define BIG_int16_t(value) ((int16_t)__builtin_bswap16((uint16_t)(value)))
#define BIG_uint32_t(value) __builtin_bswap32(value)
#define BIG_uint64_t(value) __builtin_bswap64(value)

#define PAIR(even, odd) ((uint64_t)(even) << 32 | (odd))
#define HIGH(pair) ((uint32_t)((pair) >> 32))
#define LOW(pair) ((uint32_t)(pair))

#endif
