/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs line number programs (section 6.2). */
#include "formats/dwarf_lines.h"

#include <string.h>

#include "formats/dwarf_cursor.h"
#include "formats/dwarf_elf.h"
#include "formats/dwarf_forms.h"

enum standard {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNS_NEGATE_STATEMENT,
    LNS_SET_BASIC_BLOCK,
    LNS_CONST_ADD_PC,
    LNS_FIXED_ADVANCE_PC,
};
enum extended { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS };
enum { CONTENT_PATH = 1, MAX_FORMATS = 16 };

/* A table of one unit. The unit in it serves for reading forms. */
struct table {
    struct dwarf_unit unit;
    struct dwarf_cursor names;   /* the folders, then the files */
    struct dwarf_cursor program; /* to its end */
    uint8_t minimum_length, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256]; /* of standard opcodes */
};

struct row {
    uint64_t address, file, line;
};

/* Reads a header; false, and *NEXT 0, where the next table cannot be found. */
static bool read_table(struct dwarf *d, size_t at, struct table *t, size_t *next)
{
    struct dwarf_cursor c = dwarf_cursor(d, DWARF_LINE, at);
    *next = 0;

    uint64_t length = dwarf_fixed(&c, 4);
    t->unit = (struct dwarf_unit){.offset_size = 4};
    if (length == UINT32_MAX) {
        t->unit.offset_size = 8;
        length = dwarf_fixed(&c, 8);
    }

    if (c.bad || length > c.end - c.at)
        return false;

    c.end = *next = c.at + (size_t)length;

    t->unit.version = (uint16_t)dwarf_fixed(&c, 2);
    if (t->unit.version < 2 || t->unit.version > 5)
        return false;

    if (t->unit.version == 5)
        dwarf_skip(&c, 2);

    uint64_t header = dwarf_fixed(&c, t->unit.offset_size);
    if (c.bad || header > c.end - c.at)
        return false;

    t->program = c;
    t->program.at += (size_t)header;
    c.end = t->program.at;

    t->minimum_length = (uint8_t)dwarf_fixed(&c, 1);
    dwarf_skip(&c, t->unit.version >= 4 ? 2 : 1);
    t->line_base = (int8_t)dwarf_fixed(&c, 1);
    t->line_range = (uint8_t)dwarf_fixed(&c, 1);
    t->opcode_base = (uint8_t)dwarf_fixed(&c, 1);
    for (unsigned i = 1; i < t->opcode_base; i++)
        t->operands[i] = (uint8_t)dwarf_fixed(&c, 1);
    t->names = c;
    return !c.bad && t->line_range != 0 && t->opcode_base != 0;
}

/* --- rows --- */

static void advance(const struct table *t, struct row *row, uint64_t operations)
{
    row->address += operations * t->minimum_length;
}

/* Effects of an instruction of the program beside changing the row. */
enum effect {
    EFFECT_NONE,
    EFFECT_EMIT,   /* the row is one of the table */
    EFFECT_END,    /* the same, and the next row starts a new sequence */
    EFFECT_BROKEN, /* the instruction cannot be read */
};

static enum effect run_extended(struct dwarf_cursor *c, struct row *row)
{
    uint64_t length = dwarf_uleb(c);
    if (c->bad || length == 0 || length > c->end - c->at)
        return EFFECT_BROKEN;

    struct dwarf_cursor operand = *c;
    dwarf_skip(c, length);
    uint64_t code = dwarf_fixed(&operand, 1);
    if (code == LNE_SET_ADDRESS && length == 9)
        row->address = dwarf_fixed(&operand, 8);

    return code == LNE_END_SEQUENCE ? EFFECT_END : EFFECT_NONE;
}

static enum effect run_standard(struct table *t, uint8_t opcode, struct row *row)
{
    struct dwarf_cursor *c = &t->program;
    switch ((enum standard)opcode) {
    case LNS_COPY: return EFFECT_EMIT;
    case LNS_ADVANCE_PC: advance(t, row, dwarf_uleb(c)); break;
    case LNS_ADVANCE_LINE: row->line += (uint64_t)dwarf_sleb(c); break;
    case LNS_SET_FILE: row->file = dwarf_uleb(c); break;
    case LNS_CONST_ADD_PC: advance(t, row, (255U - t->opcode_base) / t->line_range); break;
    case LNS_FIXED_ADVANCE_PC: row->address += dwarf_fixed(c, 2); break;
    default:
        for (unsigned i = 0; i < t->operands[opcode]; i++)
            dwarf_uleb(c);
    }

    return EFFECT_NONE;
}

/* Executes the next instruction of the table's program. */
static enum effect step(struct table *t, struct row *row)
{
    uint8_t opcode = (uint8_t)dwarf_fixed(&t->program, 1);
    if (opcode >= t->opcode_base) {
        unsigned special = opcode - t->opcode_base;
        advance(t, row, special / t->line_range);
        row->line += (uint64_t)(int64_t)(t->line_base + (int)(special % t->line_range));
        return EFFECT_EMIT;
    }

    return opcode == 0 ? run_extended(&t->program, row) : run_standard(t, opcode, row);
}

/*
 * Runs the program. *FOUND becomes the last row at or before VADDR of the sequence that has it;
 * a table with several such rows has the same function twice, and the first one counts.
 */
static bool find_row(struct dwarf *d, struct table *t, uint64_t vaddr, struct row *found)
{
    const struct dwarf_cursor *c = &t->program;
    const struct row start = {.file = 1, .line = 1};
    struct row row = start;
    struct row before = start;
    bool has_before = false;

    while (!c->bad && c->at < c->end && dwarf_step(d, 1)) {
        enum effect effect = step(t, &row);
        if (effect == EFFECT_BROKEN)
            return false;
        if (effect == EFFECT_NONE)
            continue;

        if (has_before && before.address <= vaddr && vaddr < row.address) {
            *found = before;
            return !c->bad;
        }

        before = row;
        has_before = effect != EFFECT_END;
        if (effect == EFFECT_END)
            row = start;
    }

    return false;
}

/* --- names --- */

static bool old_name(struct dwarf *d, struct dwarf_cursor *c, uint64_t number,
                     struct dwarf_value *name)
{
    const struct dwarf_unit none = {.offset_size = 4};

    /* Folders up to an empty one, then files, which have three numbers after the name. */
    for (int list = 0; list < 2; list++) {
        for (uint64_t i = 1; dwarf_step(d, 1); i++) {
            if (!dwarf_read_form(c, &none, DWARF_FORM_string, 0, name) || c->bad)
                return false;
            if (name->length == 0)
                break;

            for (int k = 0; list == 1 && k < 3; k++)
                dwarf_uleb(c);

            if (list == 1 && i == number)
                return true;
        }
    }

    return false;
}

static bool new_name(struct dwarf *d, const struct dwarf_unit *unit, struct dwarf_cursor *c,
                     uint64_t number, struct dwarf_value *name)
{
    for (int list = 0; list < 2; list++) {
        uint64_t contents[MAX_FORMATS];
        uint64_t forms[MAX_FORMATS];
        unsigned n = (unsigned)dwarf_fixed(c, 1);
        if (n > MAX_FORMATS)
            return false;

        for (unsigned i = 0; i < n; i++) {
            contents[i] = dwarf_uleb(c);
            forms[i] = dwarf_uleb(c);
        }

        uint64_t count = dwarf_uleb(c);
        for (uint64_t i = 0; i < count && !c->bad; i++) {
            bool have = false;
            /* An entry may have no columns, and so no bytes. */
            if (!dwarf_step(d, 1))
                return false;

            for (unsigned k = 0; k < n; k++) {
                struct dwarf_value value;
                if (!dwarf_step(d, 1) || !dwarf_read_form(c, unit, forms[k], 0, &value))
                    return false;

                if (contents[k] == CONTENT_PATH) {
                    *name = value;
                    have = true;
                }
            }

            if (list == 1 && i == number)
                return have && !c->bad;
        }
    }

    return false;
}

static bool copy_name(struct dwarf *d, struct table *t, uint64_t number, struct dwarf_line *out)
{
    struct dwarf_value value;
    size_t length;
    bool there = t->unit.version == 5 ? new_name(d, &t->unit, &t->names, number, &value)
                                      : old_name(d, &t->names, number, &value);
    const char *text = there ? dwarf_string(d, &t->unit, &value, &length) : NULL;
    if (text == NULL)
        return false;

    for (size_t i = length; i > 0; i--) {
        if (text[i - 1] == '/') {
            text += i;
            length -= i;
            break;
        }
    }

    length = length < sizeof out->file - 1 ? length : sizeof out->file - 1;
    for (size_t i = 0; i < length; i++)
        out->file[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    out->file[length] = '\0';
    return length > 0;
}

bool dwarf_find_line(const uint8_t *image, size_t size, uint64_t vaddr, struct dwarf_line *out)
{
    struct dwarf d;
    struct table table;
    struct row row;
    char why[DWARF_WHY];
    if (!dwarf_open(&d, image, size, why))
        return false;

    bool found = false;
    size_t next = 0;
    for (size_t at = 0; !found && at < d.section[DWARF_LINE].size; at = next) {
        bool usable = read_table(&d, at, &table, &next);
        found = usable && find_row(&d, &table, vaddr, &row) && row.line <= UINT32_MAX &&
                copy_name(&d, &table, row.file, out);
        if (next == 0 || !dwarf_step(&d, 1))
            break;
    }

    if (found)
        out->line = (uint32_t)row.line;
    dwarf_close(&d);
    return found;
}
