/* SPDX-License-Identifier: BSD-3-Clause */
#include "formats/dwarf_index.h"

#include <stdlib.h>

#include "formats/dwarf_forms.h"
#include "formats/dwarf_ranges.h"
#include "formats/dwarf_unit.h"

/* Entries for a byte of debug information: each takes more than so many. */
#define BYTES_PER_ENTRY 4

struct dwarf_index {
    struct dwarf_functions *units;
    size_t count;
};

struct dwarf_index *dwarf_index_new(void)
{
    return calloc(1, sizeof(struct dwarf_index));
}

static void free_functions(struct dwarf_functions *functions)
{
    free(functions->starts);
    free(functions->unplaced);
}

void dwarf_index_free(struct dwarf_index *index)
{
    for (size_t i = 0; index != NULL && i < index->count; i++)
        free_functions(&index->units[i]);
    if (index != NULL)
        free(index->units);
    free(index);
}

/* Room for one more of COUNT elements, which double: the array, or NULL without memory. */
static void *grow(void *array, size_t count, size_t size)
{
    bool is_full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);
    if (!is_full)
        return array;
    size_t room = count < 16 ? 16 : 2 * count;
    return reallocarray(array, room, size);
}

/* --- what a DIE says --- */

bool dwarf_visit_starts(struct dwarf *d, const struct dwarf_unit *unit, const struct dwarf_die *die,
                        bool (*visit)(void *argument, uint64_t vaddr), void *argument)
{
    const struct dwarf_value *v = die->value;
    uint64_t low = unit->low_pc, entry, begin, end;
    bool some = false;
    bool goes_on = true;

    if (dwarf_has(die, DWARF_AT_LOW_PC)) {
        some = true;
        if (dwarf_address(d, unit, &v[DWARF_AT_LOW_PC], &low))
            goes_on = visit(argument, low);
    }

    if (goes_on && dwarf_has(die, DWARF_AT_ENTRY_PC)) {
        some = true;
        if (dwarf_is_constant(&v[DWARF_AT_ENTRY_PC]))
            goes_on = visit(argument, low + v[DWARF_AT_ENTRY_PC].number);
        else if (dwarf_address(d, unit, &v[DWARF_AT_ENTRY_PC], &entry))
            goes_on = visit(argument, entry);
    }

    if (goes_on && dwarf_has(die, DWARF_AT_RANGES)) {
        some = true;
        struct dwarf_ranges ranges;
        if (dwarf_ranges_of(d, unit, &v[DWARF_AT_RANGES], &ranges))
            while (goes_on && dwarf_ranges_next(d, unit, &ranges, &begin, &end) == 1)
                goes_on = end <= begin || visit(argument, begin);
    }

    return some;
}

/* --- units --- */

/* A unit while its functions are read. */
struct reading {
    struct dwarf_functions *functions;
    size_t offset, left; /* of the DIE; entries that there may still be */
    bool failed;
};

static bool add_start(void *argument, uint64_t vaddr)
{
    struct reading *r = argument;
    struct dwarf_functions *f = r->functions;
    void *grown = r->left > 0 ? grow(f->starts, f->nstarts, sizeof *f->starts) : NULL;
    if (grown == NULL) {
        r->failed = true;
        return false;
    }

    r->left--;
    f->starts = grown;
    f->starts[f->nstarts++] = (struct dwarf_function_start){vaddr, r->offset};
    return true;
}

static void add_unplaced(struct reading *r)
{
    struct dwarf_functions *f = r->functions;
    void *grown = r->left > 0 ? grow(f->unplaced, f->nunplaced, sizeof *f->unplaced) : NULL;
    if (grown == NULL) {
        r->failed = true;
        return;
    }

    r->left--;
    f->unplaced = grown;
    f->unplaced[f->nunplaced++] = r->offset;
}

static void read_functions(struct dwarf *d, struct reading *r, const struct dwarf_unit *unit,
                           struct dwarf_die *die)
{
    uint64_t depth = die->has_children ? 1 : 0;
    for (size_t at = die->next; depth > 0 && !r->failed; at = die->next) {
        enum dwarf_read got = dwarf_die_at(d, unit, at, die);
        if (got == DWARF_BROKEN) {
            r->functions->broken = true;
            return;
        }

        if (got == DWARF_NULL) {
            depth--;
            continue;
        }

        if (die->has_children)
            depth++;
        if (die->tag != DWARF_TAG_subprogram && die->tag != DWARF_TAG_entry_point)
            continue;
        r->offset = at;
        if (!dwarf_visit_starts(d, unit, die, add_start, r) &&
            !dwarf_flag(die, DWARF_AT_DECLARATION))
            add_unplaced(r);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct dwarf_function_start *left = a, *right = b;
    if (left->vaddr != right->vaddr)
        return left->vaddr > right->vaddr ? 1 : -1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

const struct dwarf_functions *dwarf_index_unit(struct dwarf *d, struct dwarf_index *index,
                                               const struct dwarf_unit *unit, struct dwarf_die *die)
{
    for (size_t i = 0; i < index->count; i++)
        if (index->units[i].unit == unit->start)
            return &index->units[i];

    struct dwarf_functions functions = {.unit = unit->start};
    struct reading r = {&functions, 0, (unit->end - unit->start) / BYTES_PER_ENTRY, false};
    read_functions(d, &r, unit, die);
    void *grown = r.failed ? NULL : grow(index->units, index->count, sizeof *index->units);
    if (grown == NULL || d->steps == 0) {
        free_functions(&functions);
        index->units = grown != NULL ? grown : index->units;
        dwarf_fail(d, DWARF_MALFORMED, "there is no memory for the functions of a unit");
        return NULL;
    }

    if (functions.nstarts > 0)
        qsort(functions.starts, functions.nstarts, sizeof *functions.starts, by_address);
    index->units = grown;
    index->units[index->count] = functions;
    return &index->units[index->count++];
}

size_t dwarf_first_start(const struct dwarf_functions *functions, uint64_t vaddr)
{
    size_t low = 0, high = functions->nstarts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->starts[middle].vaddr < vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
