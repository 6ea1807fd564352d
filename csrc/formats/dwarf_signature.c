/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the DIE of a function. What it says about arguments is read in dwarf_function.c. */
#include "formats/dwarf_signature.h"

#include <string.h>

#include "formats/dwarf_elf.h"
#include "formats/dwarf_forms.h"
#include "formats/dwarf_function.h"
#include "formats/dwarf_index.h"
#include "formats/dwarf_ranges.h"
#include "formats/dwarf_unit.h"

/* How well a DIE matches what is looked for; several may, since linkers fold equal functions. */
enum match { MATCH_NONE, MATCH_NAME, MATCH_ADDRESS, MATCH_BOTH };

struct search {
    struct dwarf_index *index;
    uint64_t vaddr;
    const char *symbol; /* may be NULL */
    enum match best;
    struct dwarf_place place;
    bool split, broken; /* some unit could not be searched */
};

/* --- addresses --- */

struct wanted {
    uint64_t vaddr;
    bool found;
};

static bool look_at_start(void *argument, uint64_t vaddr)
{
    struct wanted *wanted = argument;
    wanted->found = vaddr == wanted->vaddr;
    return !wanted->found;
}

/* True if the function has an address at all, and whether it starts at the one looked for. */
static bool has_address(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                        uint64_t vaddr, bool *here)
{
    struct wanted wanted = {vaddr, false};
    bool some = dwarf_visit_starts(d, unit, die, look_at_start, &wanted);
    *here = wanted.found;
    return some;
}

/* False only if the unit says clearly which addresses it has, and VADDR is not one of them. */
static bool may_cover(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *root,
                      uint64_t vaddr)
{
    uint64_t begin, end;
    const struct dwarf_value *v = root->value;
    if (dwarf_has(root, DWARF_AT_RANGES)) {
        struct dwarf_ranges ranges;
        int got = -1;
        if (dwarf_ranges_of(d, unit, &v[DWARF_AT_RANGES], &ranges))
            while ((got = dwarf_ranges_next(d, unit, &ranges, &begin, &end)) == 1)
                if (vaddr >= begin && vaddr < end)
                    return true;

        return got != 0;
    }

    /* DWARF 2 has no ranges: a unit in several sections gives the limits of one of them. */
    if (unit->version < 3 || !dwarf_has(root, DWARF_AT_LOW_PC) ||
        !dwarf_has(root, DWARF_AT_HIGH_PC) || !dwarf_address(d, unit, &v[DWARF_AT_LOW_PC], &begin))
        return true;

    if (dwarf_is_constant(&v[DWARF_AT_HIGH_PC]))
        end = begin + v[DWARF_AT_HIGH_PC].number;
    else if (!dwarf_address(d, unit, &v[DWARF_AT_HIGH_PC], &end))
        return true;

    return end <= begin || (vaddr >= begin && vaddr < end);
}

/* --- names --- */

static bool is_symbol(struct dwarf *d, const struct dwarf_unit *unit,
                      const struct dwarf_value *value, const char *symbol)
{
    size_t length;
    const char *text = dwarf_string(d, unit, value, &length);
    return text != NULL && strlen(symbol) == length && memcmp(text, symbol, length) == 0;
}

/*
 * True if the function's linkage name, or its name where it has no other, is SYMBOL. Both may be
 * at the declaration that the DIE refers to, and so may EXTERNAL.
 */
static bool has_name(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                     const char *symbol, bool *external)
{
    struct dwarf_place at = {.unit = *unit, .offset = die->offset};
    struct dwarf_die here = *die;
    bool name = false;
    *external = false;

    for (int depth = 0; depth < DWARF_MAX_ORIGINS; depth++) {
        *external = *external || dwarf_flag(&here, DWARF_AT_EXTERNAL);
        for (int i = 0; i < 2; i++) {
            enum dwarf_attribute which =
                i == 0 ? DWARF_AT_LINKAGE_NAME : DWARF_AT_MIPS_LINKAGE_NAME;
            if (!dwarf_has(&here, which))
                continue;
            if (!is_symbol(d, &at.unit, &here.value[which], symbol))
                return false;

            name = true;
        }

        if (!name && dwarf_has(&here, DWARF_AT_NAME))
            name = is_symbol(d, &at.unit, &here.value[DWARF_AT_NAME], symbol);

        bool is_abstract;
        if (!dwarf_origin(d, &at, &here, &is_abstract))
            break;
    }

    return name;
}

/* --- search --- */

static enum match match_die(struct dwarf *d, const struct search *s, const struct dwarf_unit *unit,
                            const struct dwarf_die *die)
{
    bool here, external;
    if (has_address(d, unit, die, s->vaddr, &here)) {
        if (!here || s->vaddr == 0)
            return MATCH_NONE;

        return s->symbol == NULL || has_name(d, unit, die, s->symbol, &external) ? MATCH_BOTH
                                                                                 : MATCH_ADDRESS;
    }

    /* A declaration may lack the parameters; and static functions of one name may be many. */
    if (s->symbol == NULL || s->best != MATCH_NONE || dwarf_flag(die, DWARF_AT_DECLARATION) ||
        !has_name(d, unit, die, s->symbol, &external))
        return MATCH_NONE;

    return external ? MATCH_NAME : MATCH_NONE;
}

/* Notes the function at OFFSET if it matches better than those before. */
static void consider(struct dwarf *d, struct search *s, const struct dwarf_unit *unit,
                     size_t offset)
{
    struct dwarf_die die;
    if (dwarf_die_at(d, unit, offset, &die) != DWARF_DIE)
        return;

    enum match match = match_die(d, s, unit, &die);
    if (match > s->best) {
        s->best = match;
        s->place = (struct dwarf_place){*unit, offset};
    }
}

static void search_unit(struct dwarf *d, struct search *s, struct dwarf_unit *unit)
{
    struct dwarf_die die;
    if (!dwarf_unit_root(d, unit, &die)) {
        s->broken = true;
        return;
    }

    if (!may_cover(d, unit, &die, s->vaddr))
        return;

    if (dwarf_has(&die, DWARF_AT_DWO_NAME) || dwarf_has(&die, DWARF_AT_GNU_DWO_NAME)) {
        s->split = true;
        return;
    }

    const struct dwarf_functions *functions = dwarf_index_unit(d, s->index, unit, &die);
    if (functions == NULL) {
        s->broken = true;
        return;
    }

    size_t at = dwarf_first_start(functions, s->vaddr);
    for (; at < functions->nstarts && functions->starts[at].vaddr == s->vaddr; at++)
        if (s->best != MATCH_BOTH)
            consider(d, s, unit, functions->starts[at].offset);
    for (size_t i = 0; i < functions->nunplaced && s->best == MATCH_NONE; i++)
        consider(d, s, unit, functions->unplaced[i]);
    s->broken = s->broken || (functions->broken && s->best != MATCH_BOTH);
}

static void search(struct dwarf *d, struct search *s)
{
    struct dwarf_unit unit;
    for (size_t at = 0; s->best != MATCH_BOTH && dwarf_unit_at(d, DWARF_INFO, at, &unit);
         at = unit.end) {
        /* Linkers may leave zeros between units. */
        if (unit.end == unit.start + unit.offset_size || unit.type_unit)
            continue;

        if (!unit.usable)
            s->broken = true;
        else
            search_unit(d, s, &unit);
    }
}

/* Describes what the search found, or notes why it found nothing. */
static void conclude(struct dwarf *d, const struct search *s, struct dwarf_signature *out)
{
    if (d->steps > 0 && s->best != MATCH_NONE) {
        /* Damage elsewhere does not matter. */
        d->result = DWARF_FOUND;
        if (!dwarf_describe_function(d, &s->place, out))
            dwarf_fail(d, DWARF_MALFORMED, "the description of the function is broken");
    } else if (s->split) {
        dwarf_fail(d, DWARF_UNSUPPORTED,
                   "the debug information is in .dwo files; compile without -gsplit-dwarf");
    } else if (s->broken) {
        dwarf_fail(d, DWARF_MALFORMED, "a unit of the debug information cannot be read");
    } else {
        dwarf_fail(
            d, DWARF_NOT_DESCRIBED,
            "the debug information does not describe the function; compile all of it with -g");
    }
}

enum dwarf_lookup dwarf_find_signature(struct dwarf_index *index, const uint8_t *image, size_t size,
                                       uint64_t vaddr, const char *symbol,
                                       struct dwarf_signature *out, char *why)
{
    struct dwarf d;
    struct dwarf_index *own = index == NULL ? dwarf_index_new() : NULL;
    struct search s = {.index = index != NULL ? index : own, .vaddr = vaddr, .symbol = symbol};
    memset(out, 0, sizeof *out);
    out->ret = 'v';
    why[0] = '\0';

    if (dwarf_open(&d, image, size, why)) {
        if (s.index != NULL)
            search(&d, &s);
        else
            s.broken = true;
        conclude(&d, &s, out);
    }

    dwarf_close(&d);
    dwarf_index_free(own);

    if (d.result == DWARF_FOUND)
        why[0] = '\0';
    else
        *out = (struct dwarf_signature){.ret = 'v'};
    return d.result;
}
