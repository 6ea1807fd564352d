/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_unit.h"

#include <stdlib.h>

#include "formats/dwarf_cursor.h"
#include "formats/dwarf_forms.h"

/* Compilers number abbreviations from 1; one with a larger code is found by a scan. */
#define ABBREV_INDEXED 65536

enum { UT_COMPILE = 1, UT_TYPE = 2, UT_PARTIAL = 3, UT_SKELETON = 4, UT_SPLIT_TYPE = 6 };

/* --- abbreviations --- */

/* Passes over the attributes of an abbreviation; false at the end of the section. */
static bool skip_abbrev(struct dwarf *d, struct dwarf_cursor *c)
{
    for (;;) {
        uint64_t attribute = dwarf_uleb(c), form = dwarf_uleb(c);
        if (form == DWARF_FORM_implicit_const)
            dwarf_sleb(c);
        if (c->bad || !dwarf_step(d, 1))
            return false;
        if (attribute == 0 && form == 0)
            return true;
    }
}

static bool abbrev_room(struct dwarf *d, uint64_t code)
{
    if (code < d->nabbrev)
        return true;

    size_t n = d->nabbrev != 0 ? d->nabbrev : 128;
    while (n <= code)
        n *= 2;

    size_t *grown = realloc(d->abbrev, n * sizeof *grown);
    if (grown == NULL)
        return false;

    for (size_t i = d->nabbrev; i < n; i++)
        grown[i] = 0;
    d->abbrev = grown;
    d->nabbrev = n;
    return true;
}

/* Fills the index for the table at TABLE as far as it can be read and memory is there. */
static void index_abbrevs(struct dwarf *d, uint64_t table)
{
    if (d->abbrev_known && d->abbrev_table == table)
        return;

    for (size_t i = 0; i < d->nabbrev; i++)
        d->abbrev[i] = 0;
    d->abbrev_known = true;
    d->abbrev_table = table;

    /* Clearing costs as much as the largest table so far; tables that are scanned pay for it. */
    if (!dwarf_step(d, d->nabbrev / 64))
        return;

    struct dwarf_cursor c = dwarf_cursor(d, DWARF_ABBREV, table);
    for (;;) {
        uint64_t code = dwarf_uleb(&c);
        if (c.bad || code == 0)
            return;

        size_t at = c.at;
        dwarf_uleb(&c);
        dwarf_fixed(&c, 1);
        if (!skip_abbrev(d, &c))
            return;

        /* 0 stands for "not there"; no abbreviation starts at 0, its code does. */
        if (code < ABBREV_INDEXED && abbrev_room(d, code) && d->abbrev[code] == 0)
            d->abbrev[code] = at;
    }
}

/* Puts C after the code of the abbreviation CODE. */
static bool find_abbrev(struct dwarf *d, const struct dwarf_unit *unit, uint64_t code,
                        struct dwarf_cursor *c)
{
    index_abbrevs(d, unit->abbrev_table);
    if (code < d->nabbrev && d->abbrev[code] != 0) {
        *c = dwarf_cursor(d, DWARF_ABBREV, d->abbrev[code]);
        return true;
    }

    *c = dwarf_cursor(d, DWARF_ABBREV, unit->abbrev_table);
    for (;;) {
        uint64_t here = dwarf_uleb(c);
        if (c->bad || here == 0)
            return false;
        if (here == code)
            return true;

        dwarf_uleb(c);
        dwarf_fixed(c, 1);
        if (!skip_abbrev(d, c))
            return false;
    }
}

/* --- DIEs --- */

static int attribute_index(uint64_t number)
{
    switch (number) {
#define X(id, value) \
    case value: return DWARF_AT_##id;
        DWARF_ATTRIBUTES(X)
#undef X
    default: return -1;
    }
}

enum dwarf_read dwarf_die_at(struct dwarf *d, const struct dwarf_unit *unit, size_t offset,
                             struct dwarf_die *die)
{
    struct dwarf_cursor c = dwarf_cursor(d, unit->section, offset);
    c.end = unit->end < c.end ? unit->end : c.end;
    die->offset = offset;
    die->present = 0;
    die->tag = 0;
    die->has_children = false;

    uint64_t code = dwarf_uleb(&c);
    die->next = c.at;
    if (c.bad || !dwarf_step(d, 1))
        return DWARF_BROKEN;
    if (code == 0)
        return DWARF_NULL;

    struct dwarf_cursor abbrev;
    if (!find_abbrev(d, unit, code, &abbrev))
        return DWARF_BROKEN;

    die->tag = dwarf_uleb(&abbrev);
    die->has_children = dwarf_fixed(&abbrev, 1) != 0;
    for (;;) {
        uint64_t attribute = dwarf_uleb(&abbrev), form = dwarf_uleb(&abbrev);
        int64_t implicit = form == DWARF_FORM_implicit_const ? dwarf_sleb(&abbrev) : 0;
        if (abbrev.bad || !dwarf_step(d, 1))
            return DWARF_BROKEN;
        if (attribute == 0 && form == 0)
            break;

        struct dwarf_value value;
        if (!dwarf_read_form(&c, unit, form, implicit, &value))
            return DWARF_BROKEN;

        int index = attribute_index(attribute);
        if (index >= 0 && !dwarf_has(die, (enum dwarf_attribute)index)) {
            die->value[index] = value;
            die->present |= 1U << index;
        }
    }

    die->next = c.at;
    /* For the search of the ends of strings, when many refer to one DIE. */
    return dwarf_step(d, (die->next - offset) / 64) ? DWARF_DIE : DWARF_BROKEN;
}

size_t dwarf_after(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die)
{
    if (!die->has_children)
        return die->next;

    const struct dwarf_value *sibling = &die->value[DWARF_AT_SIBLING];
    if (dwarf_has(die, DWARF_AT_SIBLING) && dwarf_is_local_reference(sibling)) {
        uint64_t to = sibling->number;
        /* Only forwards, so that each walk ends. */
        if (to < unit->end - unit->start && unit->start + to > die->next)
            return unit->start + (size_t)to;
    }

    size_t at = die->next;
    struct dwarf_die inner;
    for (uint64_t depth = 1; depth > 0;) {
        enum dwarf_read got = dwarf_die_at(d, unit, at, &inner);
        if (got == DWARF_BROKEN)
            return 0;

        at = inner.next;
        if (got == DWARF_NULL)
            depth--;
        else if (inner.has_children)
            depth++;
    }

    return at;
}

/* --- units --- */

bool dwarf_unit_at(struct dwarf *d, enum dwarf_section section, size_t offset,
                   struct dwarf_unit *unit)
{
    *unit = (struct dwarf_unit){.section = section, .start = offset, .offset_size = 4};
    if (offset >= d->section[section].size || !dwarf_step(d, 1))
        return false;

    struct dwarf_cursor c = dwarf_cursor(d, section, offset);
    uint64_t length = dwarf_fixed(&c, 4);
    if (length == 0xffffffff) {
        unit->offset_size = 8;
        length = dwarf_fixed(&c, 8);
    }

    if (c.bad || length > c.end - c.at)
        return dwarf_fail(d, DWARF_MALFORMED, "a unit of the debug information has a wrong length");

    unit->end = c.end = c.at + (size_t)length;

    unit->version = (uint16_t)dwarf_fixed(&c, 2);
    if (c.bad || unit->version < 2 || unit->version > 5)
        return true;

    uint64_t kind = section == DWARF_TYPES ? UT_TYPE : UT_COMPILE, address_size;
    if (unit->version >= 5) {
        kind = dwarf_fixed(&c, 1);
        address_size = dwarf_fixed(&c, 1);
        unit->abbrev_table = dwarf_fixed(&c, unit->offset_size);
    } else {
        unit->abbrev_table = dwarf_fixed(&c, unit->offset_size);
        address_size = dwarf_fixed(&c, 1);
    }

    unit->type_unit = kind == UT_TYPE || kind == UT_SPLIT_TYPE;
    if (unit->type_unit) {
        unit->signature = dwarf_fixed(&c, 8);
        unit->type_offset = dwarf_fixed(&c, unit->offset_size);
    } else if (kind == UT_SKELETON) {
        dwarf_skip(&c, 8); /* the id of the .dwo file */
    }

    unit->root = c.at;
    unit->usable = !c.bad && address_size == 8 && kind >= UT_COMPILE && kind <= UT_SKELETON &&
                   unit->abbrev_table < d->section[DWARF_ABBREV].size;
    return true;
}

bool dwarf_unit_root(struct dwarf *d, struct dwarf_unit *unit, struct dwarf_die *root)
{
    if (!unit->usable || dwarf_die_at(d, unit, unit->root, root) != DWARF_DIE)
        return false;

    const struct dwarf_value *v = root->value;
    /* Without the attribute, the contribution of a lone unit starts after its header. */
    uint64_t header = unit->offset_size == 8 ? 16 : 8;
    unit->str_offsets_base =
        dwarf_has(root, DWARF_AT_STR_OFFSETS_BASE) ? v[DWARF_AT_STR_OFFSETS_BASE].number : header;
    unit->addr_base = dwarf_has(root, DWARF_AT_ADDR_BASE)       ? v[DWARF_AT_ADDR_BASE].number
                      : dwarf_has(root, DWARF_AT_GNU_ADDR_BASE) ? v[DWARF_AT_GNU_ADDR_BASE].number
                      : unit->version >= 5                      ? header
                                                                : 0;

    if (dwarf_has(root, DWARF_AT_RNGLISTS_BASE))
        unit->rnglists_base = v[DWARF_AT_RNGLISTS_BASE].number;
    if (dwarf_has(root, DWARF_AT_LANGUAGE))
        unit->language = v[DWARF_AT_LANGUAGE].number;
    if (!dwarf_has(root, DWARF_AT_LOW_PC) ||
        !dwarf_address(d, unit, &v[DWARF_AT_LOW_PC], &unit->low_pc))
        unit->low_pc = 0;
    return true;
}
