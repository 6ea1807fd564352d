/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading DWARF 2-5 in place: sections, units, abbreviations, attributes. Internal to
 * veow_dwarf_signature(); section and table numbers in comments are those of the DWARF 5 standard.
 *
 * The input is not trusted. Reads go through a cursor that cannot leave its section, references
 * are followed a bounded number of times, and every piece of work takes a step from a budget that
 * grows with the file only, so that no file makes the reader crash or run for ever.
 */
#ifndef VEO_WORKER_DWARF_H
#define VEO_WORKER_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "veo/signature.h"

/* ------------------------------------------------------------------ cursor */

/* Reads little-endian data in [at, end) of BASE; after a read past the end it is bad, gives 0. */
struct dwarf_cursor {
    const uint8_t *base;
    size_t at, end;
    bool bad;
};

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned bytes) OFFCHIP_SYMBOL(dwarf_fixed);
uint64_t dwarf_uleb(struct dwarf_cursor *c) OFFCHIP_SYMBOL(dwarf_uleb);
int64_t dwarf_sleb(struct dwarf_cursor *c) OFFCHIP_SYMBOL(dwarf_sleb);
const uint8_t *dwarf_skip(struct dwarf_cursor *c, uint64_t bytes) OFFCHIP_SYMBOL(dwarf_skip);

/* ------------------------------------------------------------------ file */

#define DWARF_SECTIONS(X) \
    X(INFO, "info") \
    X(ABBREV, "abbrev") \
    X(STR, "str") \
    X(LINE_STR, "line_str") \
    X(STR_OFFSETS, "str_offsets") \
    X(ADDR, "addr") \
    X(RANGES, "ranges") \
    X(RNGLISTS, "rnglists") \
    X(LOC, "loc") \
    X(LOCLISTS, "loclists") \
    X(TYPES, "types") \
    X(LINE, "line")

enum dwarf_section {
#define X(id, name) DWARF_##id,
    DWARF_SECTIONS(X)
#undef X
        DWARF_NSECTIONS
};

struct dwarf {
    struct {
        const uint8_t *data;
        size_t size;
    } section[DWARF_NSECTIONS];
    uint64_t steps; /* that may still be made */
    /* The first reason for giving up; result is VEOW_FOUND as long as there is none. */
    enum veow_lookup result;
    char *why;
    /* Where the abbreviation with a given code starts, for the table read last. */
    size_t *abbrev;
    size_t nabbrev;
    uint64_t abbrev_table;
    bool abbrev_known;
};

/* Finds the sections; a file that cannot be read is reported through dwarf_fail(). */
bool dwarf_open(struct dwarf *d, const uint8_t *image, size_t size, char *why)
    OFFCHIP_SYMBOL(dwarf_open);
void dwarf_close(struct dwarf *d) OFFCHIP_SYMBOL(dwarf_close);
struct dwarf_cursor dwarf_cursor(const struct dwarf *d, enum dwarf_section section, uint64_t at)
    OFFCHIP_SYMBOL(dwarf_cursor);
/* Takes N steps; false, after dwarf_fail(), once the budget is spent. */
bool dwarf_step(struct dwarf *d, uint64_t n) OFFCHIP_SYMBOL(dwarf_step);
/* Notes the reason if it is the first; returns false. */
bool dwarf_fail(struct dwarf *d, enum veow_lookup result, const char *format, ...)
    OFFCHIP_SYMBOL(dwarf_fail) __attribute__((format(printf, 3, 4)));

/* ------------------------------------------------------------------ attributes and DIEs */

/* The attributes that are looked at: name, number (table 7.5). */
#define DWARF_ATTRIBUTES(X) \
    X(SIBLING, 0x01) \
    X(LOCATION, 0x02) \
    X(NAME, 0x03) \
    X(BYTE_SIZE, 0x0b) \
    X(LOW_PC, 0x11) \
    X(HIGH_PC, 0x12) \
    X(LANGUAGE, 0x13) \
    X(CONST_VALUE, 0x1c) \
    X(PRODUCER, 0x25) \
    X(PROTOTYPED, 0x27) \
    X(ABSTRACT_ORIGIN, 0x31) \
    X(CALLING_CONVENTION, 0x36) \
    X(DECL_LINE, 0x3b) \
    X(DECLARATION, 0x3c) \
    X(ENCODING, 0x3e) \
    X(EXTERNAL, 0x3f) \
    X(SPECIFICATION, 0x47) \
    X(TYPE, 0x49) \
    X(ENTRY_PC, 0x52) \
    X(RANGES, 0x55) \
    X(SIGNATURE, 0x69) \
    X(LINKAGE_NAME, 0x6e) \
    X(STR_OFFSETS_BASE, 0x72) \
    X(ADDR_BASE, 0x73) \
    X(RNGLISTS_BASE, 0x74) \
    X(DWO_NAME, 0x76) \
    X(MIPS_LINKAGE_NAME, 0x2007) \
    X(GNU_VECTOR, 0x2107) \
    X(GNU_DWO_NAME, 0x2130) \
    X(GNU_ADDR_BASE, 0x2133)

enum dwarf_attribute {
#define X(id, number) DWARF_AT_##id,
    DWARF_ATTRIBUTES(X)
#undef X
        DWARF_NATTRIBUTES
};

/* Table 7.3. */
enum dwarf_tag {
    DWARF_TAG_array_type = 0x01,
    DWARF_TAG_class_type = 0x02,
    DWARF_TAG_entry_point = 0x03,
    DWARF_TAG_enumeration_type = 0x04,
    DWARF_TAG_formal_parameter = 0x05,
    DWARF_TAG_pointer_type = 0x0f,
    DWARF_TAG_reference_type = 0x10,
    DWARF_TAG_string_type = 0x12,
    DWARF_TAG_structure_type = 0x13,
    DWARF_TAG_subroutine_type = 0x15,
    DWARF_TAG_typedef = 0x16,
    DWARF_TAG_union_type = 0x17,
    DWARF_TAG_unspecified_parameters = 0x18,
    DWARF_TAG_ptr_to_member_type = 0x1f,
    DWARF_TAG_subrange_type = 0x21,
    DWARF_TAG_base_type = 0x24,
    DWARF_TAG_const_type = 0x26,
    DWARF_TAG_enumerator = 0x28,
    DWARF_TAG_packed_type = 0x2d,
    DWARF_TAG_subprogram = 0x2e,
    DWARF_TAG_volatile_type = 0x35,
    DWARF_TAG_restrict_type = 0x37,
    DWARF_TAG_interface_type = 0x38,
    DWARF_TAG_unspecified_type = 0x3b,
    DWARF_TAG_shared_type = 0x40,
    DWARF_TAG_rvalue_reference_type = 0x42,
    DWARF_TAG_template_alias = 0x43,
    DWARF_TAG_atomic_type = 0x47,
    DWARF_TAG_immutable_type = 0x4b,
    DWARF_TAG_GNU_formal_parameter_pack = 0x4108,
};

/* An attribute as the DIE has it: its form, a number or an offset, and what a block holds. */
struct dwarf_value {
    uint16_t form;
    uint64_t number;
    const uint8_t *block; /* blocks, inline strings */
    size_t length;
};

struct dwarf_die {
    size_t offset, next; /* in the section; next is where its attributes end */
    uint64_t tag;
    bool has_children;
    uint32_t present; /* bit i: value[i] is set */
    struct dwarf_value value[DWARF_NATTRIBUTES];
};
_Static_assert(DWARF_NATTRIBUTES <= 32, "a bit an attribute");

struct dwarf_unit {
    enum dwarf_section section;
    size_t start, root, end;
    bool usable;    /* version, address size and abbreviations can be read */
    bool type_unit; /* holds one type, found by SIGNATURE */
    uint16_t version;
    uint8_t offset_size;
    uint64_t abbrev_table, signature, type_offset;
    /* From the root DIE. */
    uint64_t language, str_offsets_base, addr_base, rnglists_base, low_pc;
};

/* A DIE by where it is. */
struct dwarf_place {
    struct dwarf_unit unit;
    size_t offset;
};

static inline bool dwarf_has(const struct dwarf_die *die, enum dwarf_attribute which)
{
    return (die->present >> which & 1) != 0;
}

enum dwarf_read { DWARF_DIE, DWARF_NULL, DWARF_BROKEN };

/*
 * Reads the header of the unit at OFFSET: false at the end of the section, or where it is so
 * broken that the next cannot be found.
 */
bool dwarf_unit_at(struct dwarf *d, enum dwarf_section section, size_t offset,
                   struct dwarf_unit *unit) OFFCHIP_SYMBOL(dwarf_unit_at);
/* Reads the root DIE of a usable unit and takes over what the forms of the others need. */
bool dwarf_unit_root(struct dwarf *d, struct dwarf_unit *unit, struct dwarf_die *root)
    OFFCHIP_SYMBOL(dwarf_unit_root);
/* Reads the DIE at OFFSET. DWARF_BROKEN is noted as malformed only when the budget is spent. */
enum dwarf_read dwarf_die_at(struct dwarf *d, const struct dwarf_unit *unit, size_t offset,
                             struct dwarf_die *die) OFFCHIP_SYMBOL(dwarf_die_at);
/* Reads the value of an attribute at C; false if the form is not known. IMPLICIT is the constant
 * that the abbreviation gives. */
bool dwarf_read_form(struct dwarf_cursor *c, const struct dwarf_unit *unit, uint64_t form,
                     int64_t implicit, struct dwarf_value *value) OFFCHIP_SYMBOL(dwarf_read_form);
/* Where the DIE after DIE and its children is; 0 if that cannot be found. */
size_t dwarf_after(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die)
    OFFCHIP_SYMBOL(dwarf_after);

/* What a value means. The text of a string is not longer than *LENGTH, which excludes the NUL. */
bool dwarf_flag(const struct dwarf_die *die, enum dwarf_attribute which) OFFCHIP_SYMBOL(dwarf_flag);
bool dwarf_address(const struct dwarf *d, const struct dwarf_unit *unit,
                   const struct dwarf_value *value, uint64_t *address)
    OFFCHIP_SYMBOL(dwarf_address);
bool dwarf_indexed_address(const struct dwarf *d, const struct dwarf_unit *unit, uint64_t index,
                           uint64_t *address) OFFCHIP_SYMBOL(dwarf_indexed_address);
bool dwarf_is_constant(const struct dwarf_value *value) OFFCHIP_SYMBOL(dwarf_is_constant);
bool dwarf_is_local_reference(const struct dwarf_value *value)
    OFFCHIP_SYMBOL(dwarf_is_local_reference);
const char *dwarf_string(struct dwarf *d, const struct dwarf_unit *unit,
                         const struct dwarf_value *value, size_t *length)
    OFFCHIP_SYMBOL(dwarf_string);
/* The DIE that VALUE refers to; FROM may be the unit in *TO. False if there is none. */
bool dwarf_refer(struct dwarf *d, const struct dwarf_unit *from, const struct dwarf_value *value,
                 struct dwarf_place *to) OFFCHIP_SYMBOL(dwarf_refer);

/* ------------------------------------------------------------------ ranges and locations */

/* The ranges of a DIE one by one. */
struct dwarf_ranges {
    struct dwarf_cursor cursor;
    uint64_t base;
    bool lists; /* DWARF 5 encoding */
};

bool dwarf_ranges_of(const struct dwarf *d, const struct dwarf_unit *unit,
                     const struct dwarf_value *value, struct dwarf_ranges *ranges)
    OFFCHIP_SYMBOL(dwarf_ranges_of);
/* 1: a range, 0: the end, -1: broken. */
int dwarf_ranges_next(struct dwarf *d, const struct dwarf_unit *unit, struct dwarf_ranges *ranges,
                      uint64_t *begin, uint64_t *end) OFFCHIP_SYMBOL(dwarf_ranges_next);

/* How a variable of Fortran was handed over, as its location at the start of the function says. */
enum dwarf_passing { DWARF_UNKNOWN, DWARF_BY_VALUE, DWARF_BY_REFERENCE };
enum dwarf_passing dwarf_passing(struct dwarf *d, const struct dwarf_unit *unit,
                                 const struct dwarf_value *location) OFFCHIP_SYMBOL(dwarf_passing);

/* ------------------------------------------------------------------ types */

#define DWARF_TYPE_NAME 64

/*
 * The letter of a value of the type that VALUE of a DIE in UNIT refers to (NULL: no type, void);
 * 0 with a name for the type if it has none. IS_RESULT: arrays and functions do not decay.
 * Returns false, after dwarf_fail(), if the type cannot be read.
 */
bool dwarf_type_letter(struct dwarf *d, const struct dwarf_unit *unit,
                       const struct dwarf_value *value, bool is_result, char *letter,
                       char name[DWARF_TYPE_NAME]) OFFCHIP_SYMBOL(dwarf_type_letter);

/*
 * The name of DIE, in plain text: it comes from the file and goes to messages. False if it has
 * none.
 */
bool dwarf_copy_name(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                     char name[DWARF_TYPE_NAME]) OFFCHIP_SYMBOL(dwarf_copy_name);

#endif
