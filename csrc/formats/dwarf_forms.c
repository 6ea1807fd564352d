/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_forms.h"

#include <string.h>

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
    if (form == DWARF_FORM_indirect) {
        form = dwarf_uleb(c);
        if (form == DWARF_FORM_indirect || form == DWARF_FORM_implicit_const)
            return false;
    }

    value->form = form <= UINT16_MAX ? (uint16_t)form : 0;
    switch (form) {
    case DWARF_FORM_flag_present: value->number = 1; return true;
    case DWARF_FORM_implicit_const: value->number = (uint64_t)implicit; return true;
    case DWARF_FORM_data1:
    case DWARF_FORM_flag:
    case DWARF_FORM_ref1:
    case DWARF_FORM_strx1:
    case DWARF_FORM_addrx1: return read_number(c, 1, value);
    case DWARF_FORM_data2:
    case DWARF_FORM_ref2:
    case DWARF_FORM_strx2:
    case DWARF_FORM_addrx2: return read_number(c, 2, value);
    case DWARF_FORM_strx3:
    case DWARF_FORM_addrx3: return read_number(c, 3, value);
    case DWARF_FORM_data4:
    case DWARF_FORM_ref4:
    case DWARF_FORM_strx4:
    case DWARF_FORM_addrx4:
    case DWARF_FORM_ref_sup4: return read_number(c, 4, value);
    case DWARF_FORM_addr:
    case DWARF_FORM_data8:
    case DWARF_FORM_ref8:
    case DWARF_FORM_ref_sig8:
    case DWARF_FORM_ref_sup8: return read_number(c, 8, value);
    case DWARF_FORM_ref_addr:
        /* DWARF 2 had it as long as an address. */
        return read_number(c, unit->version == 2 ? 8 : unit->offset_size, value);
    case DWARF_FORM_strp:
    case DWARF_FORM_line_strp:
    case DWARF_FORM_sec_offset:
    case DWARF_FORM_strp_sup:
    case DWARF_FORM_GNU_ref_alt:
    case DWARF_FORM_GNU_strp_alt: return read_number(c, unit->offset_size, value);
    case DWARF_FORM_sdata: value->number = (uint64_t)dwarf_sleb(c); return !c->bad;
    case DWARF_FORM_udata:
    case DWARF_FORM_ref_udata:
    case DWARF_FORM_strx:
    case DWARF_FORM_addrx:
    case DWARF_FORM_loclistx:
    case DWARF_FORM_rnglistx:
    case DWARF_FORM_GNU_addr_index:
    case DWARF_FORM_GNU_str_index: value->number = dwarf_uleb(c); return !c->bad;
    case DWARF_FORM_LLVM_addrx_offset:
        value->number = dwarf_uleb(c);
        value->length = (size_t)dwarf_fixed(c, 4);
        return !c->bad;
    case DWARF_FORM_data16: return read_block(c, 16, value);
    case DWARF_FORM_block1: return read_block(c, dwarf_fixed(c, 1), value);
    case DWARF_FORM_block2: return read_block(c, dwarf_fixed(c, 2), value);
    case DWARF_FORM_block4: return read_block(c, dwarf_fixed(c, 4), value);
    case DWARF_FORM_block:
    case DWARF_FORM_exprloc: return read_block(c, dwarf_uleb(c), value);
    case DWARF_FORM_string: return read_inline_string(c, value);
    default: return false;
    }
}

/* --- what a value means --- */

bool dwarf_flag(const struct dwarf_die *die, enum dwarf_attribute which)
{
    return dwarf_has(die, which) && die->value[which].number != 0;
}

bool dwarf_is_constant(const struct dwarf_value *value)
{
    switch (value->form) {
    case DWARF_FORM_data1:
    case DWARF_FORM_data2:
    case DWARF_FORM_data4:
    case DWARF_FORM_data8:
    case DWARF_FORM_sdata:
    case DWARF_FORM_udata:
    case DWARF_FORM_implicit_const: return true;
    default: return false;
    }
}

bool dwarf_is_local_reference(const struct dwarf_value *value)
{
    switch (value->form) {
    case DWARF_FORM_ref1:
    case DWARF_FORM_ref2:
    case DWARF_FORM_ref4:
    case DWARF_FORM_ref8:
    case DWARF_FORM_ref_udata: return true;
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
    case DWARF_FORM_addr: *address = value->number; return true;
    case DWARF_FORM_addrx:
    case DWARF_FORM_addrx1:
    case DWARF_FORM_addrx2:
    case DWARF_FORM_addrx3:
    case DWARF_FORM_addrx4:
    case DWARF_FORM_GNU_addr_index: return dwarf_indexed_address(d, unit, value->number, address);
    case DWARF_FORM_LLVM_addrx_offset:
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
    case DWARF_FORM_string: *length = value->length; return (const char *)value->block;
    case DWARF_FORM_strp: return string_at(d, DWARF_STR, value->number, length);
    case DWARF_FORM_line_strp: return string_at(d, DWARF_LINE_STR, value->number, length);
    case DWARF_FORM_strx:
    case DWARF_FORM_strx1:
    case DWARF_FORM_strx2:
    case DWARF_FORM_strx3:
    case DWARF_FORM_strx4: {
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
