/* SPDX-License-Identifier: BSD-3-Clause */
/* The cursor, the encodings of attribute values, and what the values mean. */
#include <string.h>

#include "formats/dwarf.h"

/* Section 7.5.6, and the extensions of GNU and LLVM. */
enum form {
    FORM_addr = 0x01,
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_ref_addr = 0x10,
    FORM_ref1 = 0x11,
    FORM_ref2 = 0x12,
    FORM_ref4 = 0x13,
    FORM_ref8 = 0x14,
    FORM_ref_udata = 0x15,
    FORM_indirect = 0x16,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19,
    FORM_strx = 0x1a,
    FORM_addrx = 0x1b,
    FORM_ref_sup4 = 0x1c,
    FORM_strp_sup = 0x1d,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
    FORM_ref_sig8 = 0x20,
    FORM_implicit_const = 0x21,
    FORM_loclistx = 0x22,
    FORM_rnglistx = 0x23,
    FORM_ref_sup8 = 0x24,
    FORM_strx1 = 0x25,
    FORM_strx2 = 0x26,
    FORM_strx3 = 0x27,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_addrx2 = 0x2a,
    FORM_addrx3 = 0x2b,
    FORM_addrx4 = 0x2c,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_str_index = 0x1f02,
    FORM_GNU_ref_alt = 0x1f20,
    FORM_GNU_strp_alt = 0x1f21,
    FORM_LLVM_addrx_offset = 0x2001,
};

/* ------------------------------------------------------------------ cursor */

struct dwarf_cursor dwarf_cursor(const struct dwarf *d, enum dwarf_section section, uint64_t at)
{
    size_t size = d->section[section].size;
    struct dwarf_cursor c = {d->section[section].data, 0, size, at > size};
    c.at = c.bad ? size : (size_t)at;
    return c;
}

const uint8_t *dwarf_skip(struct dwarf_cursor *c, uint64_t bytes)
{
    if (c->bad || bytes > c->end - c->at) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *here = c->base + c->at;
    c->at += (size_t)bytes;
    return here;
}

uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned bytes)
{
    const uint8_t *p = dwarf_skip(c, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; p != NULL && i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

/* Bits above 64 are dropped; *SIGN is the last byte's sign bit, *BITS how many were read. */
static uint64_t leb(struct dwarf_cursor *c, bool *sign, unsigned *bits)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        if (c->bad || c->at >= c->end) {
            c->bad = true;
            return 0;
        }
        uint8_t byte = c->base[c->at++];
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
        if ((byte & 0x80) == 0) {
            *sign = (byte & 0x40) != 0;
            *bits = shift;
            return value;
        }
    }
}

uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
    bool sign;
    unsigned bits;
    return leb(c, &sign, &bits);
}

int64_t dwarf_sleb(struct dwarf_cursor *c)
{
    bool sign = false;
    unsigned bits = 64;
    uint64_t value = leb(c, &sign, &bits);
    if (sign && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

/* ------------------------------------------------------------------ reading a value */

static bool read_block(struct dwarf_cursor *c, uint64_t length, struct dwarf_value *value)
{
    value->block = dwarf_skip(c, length);
    value->length = value->block != NULL ? (size_t)length : 0;
    return !c->bad;
}

static bool read_number(struct dwarf_cursor *c, unsigned bytes, struct dwarf_value *value)
{
    value->number = dwarf_fixed(c, bytes);
    return !c->bad;
}

static bool read_inline_string(struct dwarf_cursor *c, struct dwarf_value *value)
{
    const uint8_t *text = c->base + c->at;
    const uint8_t *nul = c->at < c->end ? memchr(text, 0, c->end - c->at) : NULL;
    if (nul == NULL)
        return false;
    value->block = text;
    value->length = (size_t)(nul - text);
    c->at += value->length + 1;
    return true;
}

bool dwarf_read_form(struct dwarf_cursor *c, const struct dwarf_unit *unit, uint64_t form,
                     int64_t implicit, struct dwarf_value *value)
{
    *value = (struct dwarf_value){0};
    if (form == FORM_indirect) {
        form = dwarf_uleb(c);
        if (form == FORM_indirect || form == FORM_implicit_const)
            return false;
    }
    value->form = form <= UINT16_MAX ? (uint16_t)form : 0;
    switch (form) {
    case FORM_flag_present: value->number = 1; return true;
    case FORM_implicit_const: value->number = (uint64_t)implicit; return true;
    case FORM_data1:
    case FORM_flag:
    case FORM_ref1:
    case FORM_strx1:
    case FORM_addrx1: return read_number(c, 1, value);
    case FORM_data2:
    case FORM_ref2:
    case FORM_strx2:
    case FORM_addrx2: return read_number(c, 2, value);
    case FORM_strx3:
    case FORM_addrx3: return read_number(c, 3, value);
    case FORM_data4:
    case FORM_ref4:
    case FORM_strx4:
    case FORM_addrx4:
    case FORM_ref_sup4: return read_number(c, 4, value);
    case FORM_addr:
    case FORM_data8:
    case FORM_ref8:
    case FORM_ref_sig8:
    case FORM_ref_sup8: return read_number(c, 8, value);
    case FORM_ref_addr:
        /* DWARF 2 had it as long as an address. */
        return read_number(c, unit->version == 2 ? 8 : unit->offset_size, value);
    case FORM_strp:
    case FORM_line_strp:
    case FORM_sec_offset:
    case FORM_strp_sup:
    case FORM_GNU_ref_alt:
    case FORM_GNU_strp_alt: return read_number(c, unit->offset_size, value);
    case FORM_sdata: value->number = (uint64_t)dwarf_sleb(c); return !c->bad;
    case FORM_udata:
    case FORM_ref_udata:
    case FORM_strx:
    case FORM_addrx:
    case FORM_loclistx:
    case FORM_rnglistx:
    case FORM_GNU_addr_index:
    case FORM_GNU_str_index: value->number = dwarf_uleb(c); return !c->bad;
    case FORM_LLVM_addrx_offset:
        value->number = dwarf_uleb(c);
        value->length = (size_t)dwarf_fixed(c, 4);
        return !c->bad;
    case FORM_data16: return read_block(c, 16, value);
    case FORM_block1: return read_block(c, dwarf_fixed(c, 1), value);
    case FORM_block2: return read_block(c, dwarf_fixed(c, 2), value);
    case FORM_block4: return read_block(c, dwarf_fixed(c, 4), value);
    case FORM_block:
    case FORM_exprloc: return read_block(c, dwarf_uleb(c), value);
    case FORM_string: return read_inline_string(c, value);
    default: return false;
    }
}

/* ------------------------------------------------------------------ what a value means */

bool dwarf_flag(const struct dwarf_die *die, enum dwarf_attribute which)
{
    return dwarf_has(die, which) && die->value[which].number != 0;
}

bool dwarf_is_constant(const struct dwarf_value *value)
{
    switch (value->form) {
    case FORM_data1:
    case FORM_data2:
    case FORM_data4:
    case FORM_data8:
    case FORM_sdata:
    case FORM_udata:
    case FORM_implicit_const: return true;
    default: return false;
    }
}

bool dwarf_is_local_reference(const struct dwarf_value *value)
{
    switch (value->form) {
    case FORM_ref1:
    case FORM_ref2:
    case FORM_ref4:
    case FORM_ref8:
    case FORM_ref_udata: return true;
    default: return false;
    }
}

bool dwarf_indexed_address(const struct dwarf *d, const struct dwarf_unit *unit, uint64_t index,
                           uint64_t *address)
{
    uint64_t at;
    *address = 0;
    if (__builtin_mul_overflow(index, 8, &at) || __builtin_add_overflow(at, unit->addr_base, &at))
        return false;
    struct dwarf_cursor c = dwarf_cursor(d, DWARF_ADDR, at);
    *address = dwarf_fixed(&c, 8);
    return !c.bad;
}

bool dwarf_address(const struct dwarf *d, const struct dwarf_unit *unit,
                   const struct dwarf_value *value, uint64_t *address)
{
    *address = 0;
    switch (value->form) {
    case FORM_addr: *address = value->number; return true;
    case FORM_addrx:
    case FORM_addrx1:
    case FORM_addrx2:
    case FORM_addrx3:
    case FORM_addrx4:
    case FORM_GNU_addr_index: return dwarf_indexed_address(d, unit, value->number, address);
    case FORM_LLVM_addrx_offset:
        if (!dwarf_indexed_address(d, unit, value->number, address))
            return false;
        *address += value->length;
        return true;
    default: return false;
    }
}

static const char *string_at(struct dwarf *d, enum dwarf_section section, uint64_t at,
                             size_t *length)
{
    struct dwarf_cursor c = dwarf_cursor(d, section, at);
    if (c.bad || c.at >= c.end)
        return NULL;
    const uint8_t *text = c.base + c.at;
    const uint8_t *nul = memchr(text, 0, c.end - c.at);
    size_t searched = nul != NULL ? (size_t)(nul - text) : c.end - c.at;
    if (!dwarf_step(d, 1 + searched / 64) || nul == NULL)
        return NULL;
    *length = searched;
    return (const char *)text;
}

const char *dwarf_string(struct dwarf *d, const struct dwarf_unit *unit,
                         const struct dwarf_value *value, size_t *length)
{
    *length = 0;
    switch (value->form) {
    case FORM_string: *length = value->length; return (const char *)value->block;
    case FORM_strp: return string_at(d, DWARF_STR, value->number, length);
    case FORM_line_strp: return string_at(d, DWARF_LINE_STR, value->number, length);
    case FORM_strx:
    case FORM_strx1:
    case FORM_strx2:
    case FORM_strx3:
    case FORM_strx4: {
        uint64_t at;
        if (__builtin_mul_overflow(value->number, unit->offset_size, &at) ||
            __builtin_add_overflow(at, unit->str_offsets_base, &at))
            return NULL;
        struct dwarf_cursor c = dwarf_cursor(d, DWARF_STR_OFFSETS, at);
        at = dwarf_fixed(&c, unit->offset_size);
        return c.bad ? NULL : string_at(d, DWARF_STR, at, length);
    }
    default: return NULL;
    }
}

/* The type unit with SIGNATURE, in either of the sections that may hold it. */
static bool find_type_unit(struct dwarf *d, uint64_t signature, struct dwarf_place *to)
{
    static const enum dwarf_section sections[] = {DWARF_TYPES, DWARF_INFO};
    for (size_t i = 0; i < 2; i++) {
        struct dwarf_unit *unit = &to->unit;
        for (size_t at = 0; dwarf_unit_at(d, sections[i], at, unit); at = unit->end) {
            if (!unit->usable || !unit->type_unit || unit->signature != signature)
                continue;
            if (unit->type_offset >= unit->end - unit->start)
                return false;
            to->offset = unit->start + (size_t)unit->type_offset;
            return true;
        }
    }
    return false;
}

bool dwarf_refer(struct dwarf *d, const struct dwarf_unit *from, const struct dwarf_value *value,
                 struct dwarf_place *to)
{
    struct dwarf_die root;
    uint64_t number = value->number;
    if (dwarf_is_local_reference(value)) {
        if (number >= from->end - from->start || from->start + number < from->root)
            return false;
        to->offset = from->start + (size_t)number;
        if (from != &to->unit)
            to->unit = *from;
        return true;
    }
    switch (value->form) {
    case FORM_ref_addr:
        if (from->section == DWARF_INFO && number >= from->root && number < from->end) {
            to->offset = (size_t)number;
            if (from != &to->unit)
                to->unit = *from;
            return true;
        }
        for (size_t at = 0; dwarf_unit_at(d, DWARF_INFO, at, &to->unit); at = to->unit.end) {
            if (number >= to->unit.end)
                continue;
            to->offset = (size_t)number;
            return number >= to->unit.root && dwarf_unit_root(d, &to->unit, &root);
        }
        return false;
    case FORM_ref_sig8:
        return find_type_unit(d, number, to) && dwarf_unit_root(d, &to->unit, &root);
    case FORM_GNU_ref_alt:
    case FORM_ref_sup4:
    case FORM_ref_sup8:
        return dwarf_fail(d, VEOW_UNSUPPORTED,
                          "part of the debug information is in a supplementary file (dwz)");
    default: return false;
    }
}
