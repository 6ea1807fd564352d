/* SPDX-License-Identifier: BSD-3-Clause */
/* relocate.h: the types of relocations of the Vector Engine, and what each writes. */
#ifndef VELINK_RELOCATE_H
#define VELINK_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/link/error.h"

/* X(name, number, value, field): see enum velink_value and enum velink_field. */
#define VELINK_RELOCATIONS(X) \
    X(NONE, 0, NOTHING, NO_FIELD) \
    X(REFLONG, 1, ADDRESS, WORD) \
    X(REFQUAD, 2, ADDRESS, QUAD) \
    X(SREL32, 3, DISTANCE, SIGNED) \
    X(HI32, 4, ADDRESS, HIGH) \
    X(LO32, 5, ADDRESS, LOW) \
    X(PC_HI32, 6, DISTANCE, HIGH) \
    X(PC_LO32, 7, DISTANCE, LOW) \
    X(GOT32, 8, SLOT_OFFSET, LOW) \
    X(GOT_HI32, 9, SLOT_OFFSET, HIGH) \
    X(GOT_LO32, 10, SLOT_OFFSET, LOW) \
    X(GOTOFF32, 11, FROM_TABLE, LOW) \
    X(GOTOFF_HI32, 12, FROM_TABLE, HIGH) \
    X(GOTOFF_LO32, 13, FROM_TABLE, LOW) \
    X(PLT32, 14, DISTANCE, LOW) \
    X(PLT_HI32, 15, DISTANCE, HIGH) \
    X(PLT_LO32, 16, DISTANCE, LOW) \
    X(RELATIVE, 17, IN_FILE, QUAD) \
    X(GLOB_DAT, 18, ADDRESS, QUAD) \
    X(JUMP_SLOT, 19, ADDRESS, QUAD) \
    X(COPY, 20, CONTENT, NO_FIELD) \
    X(IRELATIVE, 21, RESOLVED, QUAD) \
    X(DTPMOD64, 22, MODULE, QUAD) \
    X(DTPOFF64, 23, IN_MODULE, QUAD) \
    X(TPOFF64, 24, FROM_THREAD, QUAD) \
    X(TLS_GD_HI32, 25, PAIR_DISTANCE, HIGH) \
    X(TLS_GD_LO32, 26, PAIR_DISTANCE, LOW) \
    X(TLS_LD_HI32, 27, MODULE_PAIR_DISTANCE, HIGH) \
    X(TLS_LD_LO32, 28, MODULE_PAIR_DISTANCE, LOW) \
    X(DTPOFF32, 29, IN_MODULE, LOW) \
    X(TLS_IE_HI32, 30, THREAD_SLOT_DISTANCE, HIGH) \
    X(TLS_IE_LO32, 31, THREAD_SLOT_DISTANCE, LOW) \
    X(TPOFF_HI32, 32, FROM_THREAD, HIGH) \
    X(TPOFF_LO32, 33, FROM_THREAD, LOW) \
    X(TPOFF32, 34, FROM_THREAD, LOW) \
    X(CALL_HI32, 35, ADDRESS, HIGH) \
    X(CALL_LO32, 36, ADDRESS, LOW)

enum velink_type {
#define X(name, number, value, field) VELINK_R_##name = (number),
    VELINK_RELOCATIONS(X)
#undef X
};

/* Values that the addend is added to. */
enum velink_value {
    VELINK_NOTHING,
    VELINK_ADDRESS,              /* of the symbol */
    VELINK_DISTANCE,             /* to the symbol from the place */
    VELINK_SLOT_OFFSET,          /* in the global offset table, of the slot with the address */
    VELINK_FROM_TABLE,           /* to the symbol from the global offset table */
    VELINK_IN_FILE,              /* the addend is an address of the file */
    VELINK_CONTENT,              /* the variable of another library is copied */
    VELINK_RESOLVED,             /* as a function says */
    VELINK_MODULE,               /* of a thread-local symbol */
    VELINK_IN_MODULE,            /* offset there */
    VELINK_FROM_THREAD,          /* its offset from the thread pointer */
    VELINK_PAIR_DISTANCE,        /* to a pair of module and offset, from the place */
    VELINK_MODULE_PAIR_DISTANCE, /* the same with offset 0 */
    VELINK_THREAD_SLOT_DISTANCE, /* to a slot with the offset from the thread pointer */
};

enum velink_field {
    VELINK_NO_FIELD,
    VELINK_WORD,   /* 32 bits, what is beyond them is an error */
    VELINK_QUAD,   /* 64 bits */
    VELINK_SIGNED, /* 32 bits that are extended by their sign */
    VELINK_LOW,    /* bits 31 to 0 */
    VELINK_HIGH,   /* bits 63 to 32 */
};

struct velink_relocation_type {
    const char *name;
    enum velink_value value;
    enum velink_field field;
};

/* Entry of a type, or NULL. */
const struct velink_relocation_type *velink_relocation_type(uint64_t number);

/* The number of bytes that a field has. */
unsigned velink_field_size(enum velink_field field);

/* Writes VALUE; false if it does not fit. */
bool velink_write_field(void *at, enum velink_field field, uint64_t value);

#endif
