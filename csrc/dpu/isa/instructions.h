/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions.h: the instruction set of the DPU as a table of 973 forms, with what derives from
 * it: decode, encode, disassemble. The table is instructions.def; all functions are pure and may
 * be called from any thread.
 */
#ifndef OFFCHIP_DPU_INSTRUCTIONS_H
#define OFFCHIP_DPU_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPU_FORM_COUNT 973
#define DPU_FORM_NONE UINT32_MAX
#define DPU_WORD_MASK UINT64_C(0xFFFFFFFFFFFF)
/* Most operands that a form has, and room for the longest text, its 0 included. */
#define DPU_OPERANDS_MAX 6
#define DPU_TEXT_MAX 96

/* Names of operands in a form. */
enum dpu_operand {
    DPU_OPERAND_ENDIAN, /* 0 little, 1 big */
    DPU_OPERAND_RC,     /* 0 to 23 */
    DPU_OPERAND_DC,     /* even, 0 to 22 */
    DPU_OPERAND_RA,     /* 0 to 31, from 24 on constants: zero one lneg mneg id id2 id4 id8 */
    DPU_OPERAND_RB,     /* 0 to 23 */
    DPU_OPERAND_DB,     /* even, 0 to 22 */
    DPU_OPERAND_IMM,
    DPU_OPERAND_OFF,
    DPU_OPERAND_SHIFT,
    DPU_OPERAND_IMMDMA,
    DPU_OPERAND_CC,   /* the code of its class, see dpu_condition_name() */
    DPU_OPERAND_PC,   /* 0 to 65535 */
    DPU_OPERAND_ZERO, /* the result is dropped: printed as `zero`, no bits */
    DPU_OPERAND_COUNT
};

enum dpu_destination {
    DPU_DEST_NONE,    /* the form has no result */
    DPU_DEST_DISCARD, /* the result is dropped, flags are kept */
    DPU_DEST_R32,
    DPU_DEST_D64S, /* sign-extended to a pair */
    DPU_DEST_D64U, /* zero-extended to a pair */
    DPU_DEST_D64,  /* 64 bits */
};

enum dpu_flag_effect { DPU_FLAGS_NONE, DPU_FLAGS_Z, DPU_FLAGS_ZC };

/* One form, for tools that go through the table. Strings are static. */
struct dpu_form_info {
    const char *mnemonic;                /* add.s */
    const char *form;                    /* rrici */
    const char *condition_class;         /* add_nz_cc, "" without conditions */
    uint64_t mask, match;                /* necessary, not sufficient: operands must be valid too */
    uint64_t canon;                      /* the word with all operands 0 */
    uint32_t destination;                /* enum dpu_destination */
    uint32_t flags;                      /* enum dpu_flag_effect */
    uint32_t documented;                 /* 0 for what only the vendor's tools know */
    uint32_t operand_count;              /* in the order of the assembler */
    uint32_t operands[DPU_OPERANDS_MAX]; /* enum dpu_operand */
    uint32_t widths[DPU_OPERANDS_MAX];   /* bits */
    uint32_t is_signed[DPU_OPERANDS_MAX];
};

/* A decoded word: values are indexed as the operands of its form; immediates sign-extended. */
struct dpu_instruction {
    uint32_t form; /* DPU_FORM_NONE if the word is no instruction */
    uint32_t operand_count;
    int64_t values[DPU_OPERANDS_MAX];
};

/* False for an index from DPU_FORM_COUNT on. */
bool dpu_form_info(uint32_t form, struct dpu_form_info *info);
/* Index of a form such as ("add", "rri"), DPU_FORM_NONE if there is none. */
uint32_t dpu_form_find(const char *mnemonic, const char *form);
/* Name of an operand: "ra", "imm", ... NULL if there is none. */
const char *dpu_operand_name(enum dpu_operand operand);

/* False if the word is no instruction. Bits from 48 on are ignored. */
bool dpu_decode(uint64_t word, struct dpu_instruction *instruction);
/* True if a word is of a form, without looking at the others: for checking the table. */
bool dpu_form_matches(uint32_t form, uint64_t word);
/*
 * The word of an instruction. False if a value does not fit: immediates may be given signed or
 * unsigned (an 8-bit one from -128 to 255), registers and conditions must exist.
 */
bool dpu_encode(const struct dpu_instruction *instruction, uint64_t *word);
/*
 * Text such as "add r0, r1, r2, nz, 0x12". Safe accesses and the stack-checked add and sub have
 * a further s, a big-endian access has "!big" as its first operand. Returns the length; a word
 * that is no instruction gives ".word 0x..." and false in *known, which may be NULL.
 */
size_t dpu_disassemble(uint64_t word, char *text, size_t size, bool *known);
/* Name of a code in the condition class of a form; NULL if it has no such code, or if the name
 * means another code of the same condition. */
const char *dpu_condition_name(uint32_t form, uint32_t code);
/* Code of a condition such as "nz" in the class of a form; false if it has none. */
bool dpu_condition_code(uint32_t form, const char *name, uint32_t *code);

#endif
