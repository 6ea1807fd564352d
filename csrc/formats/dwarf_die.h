/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_die.h: what is read from units of debug information: DIEs (debugging information entries)
 * and their attributes. Types only; dwarf_unit.h reads them.
 */
#ifndef OFFCHIP_DWARF_DIE_H
#define OFFCHIP_DWARF_DIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dwarf_elf.h"

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
_Static_assert(DWARF_NATTRIBUTES <= 32, "one bit per attribute");

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

#endif
