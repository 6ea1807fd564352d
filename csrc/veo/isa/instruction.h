/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instruction.h: the instruction set of the Vector Engine as a table, with what derives from it:
 * decode and disassemble. The table is instructions.def; all functions are pure and may be called
 * from any thread.
 */
#ifndef OFFCHIP_VE_INSTRUCTION_H
#define OFFCHIP_VE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* VE_OP_ADDS_L and so on. */
enum ve_operation {
#define INSTRUCTION(operation, ...) VE_OP_##operation,
#include "veo/isa/instructions.def"
#undef INSTRUCTION
    VE_OPERATION_COUNT,
    VE_OP_NONE = VE_OPERATION_COUNT /* no instruction of the VE1 */
};

enum ve_format {
    VE_FORMAT_RM,
    VE_FORMAT_RRM,
    VE_FORMAT_RRMHM,
    VE_FORMAT_CF,
    VE_FORMAT_RR,
    VE_FORMAT_RRFENCE,
    VE_FORMAT_RVM,
    VE_FORMAT_RV
};

/* Mask registers that may follow the operands; PAIR: an even one, for the upper halves. */
enum ve_masking { VE_MASKING_PLAIN, VE_MASKING_MASKED, VE_MASKING_PAIR };

/* Exceptions that an instruction may raise, besides those of fetching it. */
enum ve_causes {
    VE_CAUSES_NONE,
    VE_CAUSES_MEMORY,        /* missing page, access denied, misaligned */
    VE_CAUSES_FLOAT,         /* invalid, overflow, underflow, inexact */
    VE_CAUSES_FLOAT_DIVIDE,  /* the same, and division by zero */
    VE_CAUSES_NARROW,        /* overflow, underflow, inexact */
    VE_CAUSES_INVALID,       /* invalid */
    VE_CAUSES_INEXACT,       /* inexact */
    VE_CAUSES_TO_FIXED,      /* invalid, inexact */
    VE_CAUSES_APPROXIMATE,   /* division by zero, invalid */
    VE_CAUSES_FIXED,         /* fixed-point overflow */
    VE_CAUSES_DIVIDE,        /* division by zero */
    VE_CAUSES_SIGNED_DIVIDE, /* division by zero, fixed-point overflow */
    VE_CAUSES_DATA,          /* illegal data, such as a vector length above 256 */
    VE_CAUSES_MONITOR,       /* monitor call */
    VE_CAUSES_TRAP           /* monitor trap, for debuggers */
};

/*
 * Conditions are sets of relations: a value stands to another in exactly one of four ways. 0 is
 * never, 15 always, and 7 is "num": neither is a NaN.
 */
enum { VE_GREATER = 1, VE_LESS = 2, VE_EQUAL = 4, VE_UNORDERED = 8, VE_NEVER = 0, VE_ALWAYS = 15 };

/* Rounding of one instruction; VE_ROUND_PSW is what the PSW says. */
enum ve_rounding {
    VE_ROUND_PSW,
    VE_ROUND_ZERO = 8,
    VE_ROUND_UP,
    VE_ROUND_DOWN,
    VE_ROUND_NEAREST,
    VE_ROUND_AWAY /* to nearest, ties away from zero */
};

/* Numbers of miscellaneous registers, for smir. */
enum ve_miscellaneous {
#define MISCELLANEOUS(name, text, number) VE_MISC_##name = number,
#include "veo/isa/miscellaneous.def"
#undef MISCELLANEOUS
};

/* A vector register field that means V[VIX]. */
#define VE_VIX 255

/*
 * Where an operand's value is, as an index that the machine has an array for: the registers, then
 * the values that an immediate can have. No executor asks whether it is one or the other.
 */
enum {
    VE_SOURCE_SIGNED = 64,                     /* 7 bits, sign-extended */
    VE_SOURCE_MASK = VE_SOURCE_SIGNED + 128,   /* (m)0 and (m)1 */
    VE_SOURCE_UNSIGNED = VE_SOURCE_MASK + 128, /* 0 to 127 */
    VE_SOURCE_COUNT = VE_SOURCE_UNSIGNED + 128
};

/* A decoded word. Fields that its format lacks are what stands at their place. */
struct ve_instruction {
    uint64_t word;
    uint16_t operation;      /* enum ve_operation */
    uint16_t y_source;       /* what sy means here: VE_SOURCE_... */
    uint16_t z_source;       /* what sz means here */
    uint8_t opcode;          /* bits 63..56 */
    uint8_t x, y, z;         /* sx, sy, sz: 7 bits as they stand */
    uint8_t cx, cx2, cy, cz; /* bits 55, 54, 47, 39 */
    uint8_t cs, cs2;         /* bits 53, 52 */
    uint8_t mask;            /* m: bits 51..48 of RV and RVM; 0 is all ones */
    uint8_t condition;       /* of branches, cmov and vfmk: a set of relations */
    uint8_t prediction;      /* bits 53..52 of CF: 2 not taken, 3 taken */
    uint8_t rounding;        /* enum ve_rounding, of conversions that name one */
    uint8_t kind;            /* of fencem and fencec */
    uint8_t vx, vy, vz, vw;  /* 8 bits; VE_VIX is V[VIX] */
    uint8_t sw;              /* bits 6..0 of RVM */
    int32_t displacement;    /* bits 31..0 */
};

/* One operation, for tools that go through the table. Strings are static. */
struct ve_operation_info {
    const char *name;     /* ADDS_W_SX */
    const char *mnemonic; /* adds.w.sx */
    const char *operands; /* sx, sy, sz */
    const char *meaning;
    uint64_t mask, match;
    uint8_t format, masking, causes;
};

/* The row of an operation below VE_OPERATION_COUNT. */
const struct ve_operation_info *ve_operation_info(uint32_t operation);

/*
 * False if the word is no instruction of the VE1: operation is VE_OP_NONE then. Bits that no form
 * of the operation has must be 0.
 */
bool ve_decode(uint64_t word, struct ve_instruction *instruction);

/* Name of an instruction that only the VE3 has, NULL if the word is none that is known. */
const char *ve3_mnemonic(uint64_t word);

/* Room for the longest text of an instruction, its 0 included. */
#define VE_TEXT_MAX 96

/*
 * The text in the assembler's syntax, such as "adds.l %s0, -1, (32)0"; ".quad 0x..." for a word
 * that is no instruction, with the name of the VE3's behind it where it is one. Returns the
 * length; at most SIZE bytes are written, the last of them 0.
 */
size_t ve_disassemble(uint64_t word, char *text, size_t size);

#endif
