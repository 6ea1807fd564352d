/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_ranges.h"

#include "formats/dwarf_forms.h"

/* Range and location lists of DWARF 5 share these (tables 7.10 and 7.30 up to 4). */
enum list_entry {
    LE_end_of_list = 0,
    LE_base_addressx = 1,
    LE_startx_endx = 2,
    LE_startx_length = 3,
    LE_offset_pair = 4,
};
enum range_entry { RLE_base_address = 5, RLE_start_end = 6, RLE_start_length = 7 };
enum location_entry {
    LLE_default_location = 5,
    LLE_base_address = 6,
    LLE_start_end = 7,
    LLE_start_length = 8,
    LLE_GNU_view_pair = 9,
};

/* --- ranges --- */

bool dwarf_ranges_of(const struct dwarf *d, const struct dwarf_unit *unit,
                     const struct dwarf_value *value, struct dwarf_ranges *ranges)
{
    uint64_t at = value->number;
    ranges->base = unit->low_pc;
    ranges->lists = unit->version >= 5;

    if (value->form == DWARF_FORM_rnglistx) {
        uint64_t entry;
        if (__builtin_mul_overflow(at, unit->offset_size, &entry) ||
            __builtin_add_overflow(entry, unit->rnglists_base, &entry))
            return false;

        struct dwarf_cursor c = dwarf_cursor(d, DWARF_RNGLISTS, entry);
        at = dwarf_fixed(&c, unit->offset_size);
        if (c.bad || __builtin_add_overflow(at, unit->rnglists_base, &at))
            return false;
    }

    ranges->cursor = dwarf_cursor(d, ranges->lists ? DWARF_RNGLISTS : DWARF_RANGES, at);
    return !ranges->cursor.bad;
}

/* The pairs of DWARF 2 to 4. */
static int next_pair(struct dwarf *d, struct dwarf_ranges *ranges, uint64_t *begin, uint64_t *end)
{
    struct dwarf_cursor *c = &ranges->cursor;
    while (dwarf_step(d, 1)) {
        *begin = dwarf_fixed(c, 8);
        *end = dwarf_fixed(c, 8);
        if (c->bad)
            return -1;

        if (*begin == 0 && *end == 0)
            return 0;

        if (*begin != UINT64_MAX) {
            *begin += ranges->base;
            *end += ranges->base;
            return 1;
        }

        ranges->base = *end;
    }

    return -1;
}

/* Kinds of entries in a list of DWARF 5. */
enum entry { ENTRY_RANGE, ENTRY_BASE, ENTRY_END, ENTRY_BROKEN };

static enum entry read_entry(struct dwarf *d, const struct dwarf_unit *unit,
                             struct dwarf_ranges *ranges, uint64_t *begin, uint64_t *end)
{
    struct dwarf_cursor *c = &ranges->cursor;
    enum entry entry = ENTRY_RANGE;
    bool known = true;
    switch (dwarf_fixed(c, 1)) {
    case LE_end_of_list: entry = ENTRY_END; break;
    case LE_base_addressx:
        known = dwarf_indexed_address(d, unit, dwarf_uleb(c), &ranges->base);
        entry = ENTRY_BASE;
        break;
    case RLE_base_address:
        ranges->base = dwarf_fixed(c, 8);
        entry = ENTRY_BASE;
        break;
    case LE_startx_endx:
        known = dwarf_indexed_address(d, unit, dwarf_uleb(c), begin);
        known = dwarf_indexed_address(d, unit, dwarf_uleb(c), end) && known;
        break;
    case LE_startx_length:
        known = dwarf_indexed_address(d, unit, dwarf_uleb(c), begin);
        *end = *begin + dwarf_uleb(c);
        break;
    case LE_offset_pair:
        *begin = ranges->base + dwarf_uleb(c);
        *end = ranges->base + dwarf_uleb(c);
        break;
    case RLE_start_end:
        *begin = dwarf_fixed(c, 8);
        *end = dwarf_fixed(c, 8);
        break;
    case RLE_start_length:
        *begin = dwarf_fixed(c, 8);
        *end = *begin + dwarf_uleb(c);
        break;
    default: known = false; break;
    }

    return c->bad || !known ? ENTRY_BROKEN : entry;
}

int dwarf_ranges_next(struct dwarf *d, const struct dwarf_unit *unit, struct dwarf_ranges *ranges,
                      uint64_t *begin, uint64_t *end)
{
    *begin = *end = 0;
    if (!ranges->lists)
        return next_pair(d, ranges, begin, end);

    while (dwarf_step(d, 1)) {
        switch (read_entry(d, unit, ranges, begin, end)) {
        case ENTRY_RANGE: return 1;
        case ENTRY_BASE: continue;
        case ENTRY_END: return 0;
        case ENTRY_BROKEN: return -1;
        }
    }

    return -1;
}

/* --- locations --- */

/* Makes C the first expression of the list at C; compilers start with the function's entry. */
static bool first_of_list(struct dwarf *d, struct dwarf_cursor *c)
{
    while (dwarf_step(d, 1)) {
        switch (dwarf_fixed(c, 1)) {
        case LE_base_addressx: dwarf_uleb(c); continue;
        case LLE_base_address: dwarf_fixed(c, 8); continue;
        case LLE_GNU_view_pair:
            dwarf_uleb(c);
            dwarf_uleb(c);
            continue;
        case LE_startx_endx:
        case LE_startx_length:
        case LE_offset_pair:
            dwarf_uleb(c);
            dwarf_uleb(c);
            break;
        case LLE_default_location: break;
        case LLE_start_end: dwarf_skip(c, 16); break;
        case LLE_start_length:
            dwarf_fixed(c, 8);
            dwarf_uleb(c);
            break;
        default: return false;
        }

        uint64_t length = dwarf_uleb(c);
        if (c->bad || length > c->end - c->at)
            return false;

        c->end = c->at + (size_t)length;
        return true;
    }

    return false;
}

static bool first_of_pairs(struct dwarf *d, struct dwarf_cursor *c)
{
    while (dwarf_step(d, 1)) {
        uint64_t begin = dwarf_fixed(c, 8), end = dwarf_fixed(c, 8);
        if (c->bad || (begin == 0 && end == 0))
            return false;
        if (begin == UINT64_MAX)
            continue;

        uint64_t length = dwarf_fixed(c, 2);
        if (c->bad || length > c->end - c->at)
            return false;

        c->end = c->at + (size_t)length;
        return true;
    }

    return false;
}

/* Section 7.7.1. */
enum operation {
    OP_deref = 0x06,
    OP_reg0 = 0x50,
    OP_reg31 = 0x6f,
    OP_breg0 = 0x70,
    OP_breg31 = 0x8f,
    OP_regx = 0x90,
    OP_fbreg = 0x91,
    OP_stack_value = 0x9f,
    OP_entry_value = 0xa3,
    OP_GNU_entry_value = 0xf3,
};
enum { REGISTER_RBP = 6, REGISTER_RSP = 7 };

/*
 * A variable in a register or in the frame was passed by value. One that is where a register
 * or a word of the frame points to was passed by reference.
 */
static enum dwarf_passing passing_of_expression(struct dwarf_cursor *c)
{
    bool frame;
    uint64_t op = dwarf_fixed(c, 1);
    if (c->bad)
        return DWARF_UNKNOWN;

    if ((op >= OP_reg0 && op <= OP_reg31) || op == OP_regx)
        return DWARF_BY_VALUE;

    if (op == OP_fbreg || (op >= OP_breg0 && op <= OP_breg31)) {
        frame = op == OP_fbreg || op == OP_breg0 + REGISTER_RBP || op == OP_breg0 + REGISTER_RSP;
        dwarf_sleb(c);
    } else if (op == OP_entry_value || op == OP_GNU_entry_value) {
        frame = false;
        dwarf_skip(c, dwarf_uleb(c));
    } else {
        return DWARF_UNKNOWN;
    }

    if (c->bad)
        return DWARF_UNKNOWN;

    if (c->at == c->end)
        return frame ? DWARF_BY_VALUE : DWARF_BY_REFERENCE;

    op = dwarf_fixed(c, 1);
    if (op == OP_stack_value)
        return DWARF_BY_VALUE;
    return op == OP_deref && frame ? DWARF_BY_REFERENCE : DWARF_UNKNOWN;
}

enum dwarf_passing dwarf_passing(struct dwarf *d, const struct dwarf_unit *unit,
                                 const struct dwarf_value *location)
{
    struct dwarf_cursor c;
    if (location->form == DWARF_FORM_exprloc || location->block != NULL) {
        c = (struct dwarf_cursor){location->block, 0, location->length, false};
    } else if (location->form == DWARF_FORM_loclistx) {
        return DWARF_UNKNOWN;
    } else if (unit->version >= 5) {
        c = dwarf_cursor(d, DWARF_LOCLISTS, location->number);
        if (!first_of_list(d, &c))
            return DWARF_UNKNOWN;
    } else {
        c = dwarf_cursor(d, DWARF_LOC, location->number);
        if (!first_of_pairs(d, &c))
            return DWARF_UNKNOWN;
    }

    return passing_of_expression(&c);
}
