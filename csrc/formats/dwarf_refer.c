/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_refer.h"

#include "formats/dwarf_forms.h"
#include "formats/dwarf_unit.h"

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

/* Makes *TO the place at OFFSET in UNIT, which may be the unit in *TO. */
static bool settle(const struct dwarf_unit *unit, uint64_t offset, struct dwarf_place *to)
{
    to->offset = (size_t)offset;
    if (unit != &to->unit)
        to->unit = *unit;
    return true;
}

/* The DIE at OFFSET of the section, in whichever unit that is. */
static bool find_in_section(struct dwarf *d, const struct dwarf_unit *from, uint64_t offset,
                            struct dwarf_place *to)
{
    struct dwarf_die root;
    if (from->section == DWARF_INFO && offset >= from->root && offset < from->end)
        return settle(from, offset, to);

    for (size_t at = 0; dwarf_unit_at(d, DWARF_INFO, at, &to->unit); at = to->unit.end) {
        if (offset < to->unit.end) {
            to->offset = (size_t)offset;
            return offset >= to->unit.root && dwarf_unit_root(d, &to->unit, &root);
        }
    }

    return false;
}

bool dwarf_refer(struct dwarf *d, const struct dwarf_unit *from, const struct dwarf_value *value,
                 struct dwarf_place *to)
{
    struct dwarf_die root;
    uint64_t number = value->number;
    if (dwarf_is_local_reference(value))
        return number < from->end - from->start && from->start + number >= from->root &&
               settle(from, from->start + number, to);

    switch (value->form) {
    case DWARF_FORM_ref_addr: return find_in_section(d, from, number, to);
    case DWARF_FORM_ref_sig8:
        return find_type_unit(d, number, to) && dwarf_unit_root(d, &to->unit, &root);
    case DWARF_FORM_GNU_ref_alt:
    case DWARF_FORM_ref_sup4:
    case DWARF_FORM_ref_sup8:
        return dwarf_fail(d, DWARF_UNSUPPORTED,
                          "part of the debug information is in a supplementary file (dwz)");
    default: return false;
    }
}
