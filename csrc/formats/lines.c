/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the line number programs of DWARF. */
#include "formats/lines.h"

#include <string.h>

enum {
    STANDARD_COPY = 1,
    STANDARD_ADVANCE_PC,
    STANDARD_ADVANCE_LINE,
    STANDARD_SET_FILE,
    STANDARD_SET_COLUMN,
    STANDARD_NEGATE_STATEMENT,
    STANDARD_SET_BASIC_BLOCK,
    STANDARD_CONST_ADD_PC,
    STANDARD_FIXED_ADVANCE_PC,
};
enum { EXTENDED_END_SEQUENCE = 1, EXTENDED_SET_ADDRESS = 2 };

/* Bytes left to read; once it is too short for something it is bad, and all it gives is 0. */
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

struct unit {
    struct reader program;
    struct reader folders, files; /* the tables of names in the header */
    uint8_t minimum_length, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *operand_counts;
};

struct row {
    uint32_t address, file;
    uint64_t line; /* modulo 2**64, as damaged tables have it */
};

static size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->at);
}

static uint64_t take(struct reader *r, size_t bytes)
{
    uint64_t value = 0;
    if (r->bad || left(r) < bytes) {
        r->bad = true;
        return 0;
    }

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)r->at[i] << (8 * i);

    r->at += bytes;
    return value;
}

static struct reader take_part(struct reader *r, uint64_t bytes)
{
    struct reader part = {r->at, r->at, true};
    if (r->bad || left(r) < bytes) {
        r->bad = true;
        return part;
    }
    r->at += bytes;
    return (struct reader){part.at, r->at, false};
}

static uint64_t take_uleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take(r, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
}

static int64_t take_sleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take(r, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            if (shift + 7 < 64 && (byte & 0x40) != 0)
                value |= UINT64_MAX << (shift + 7);
            return (int64_t)value;
        }
    }
}

/* "" ends a table of names, and so does the end of what can be read. */
static const char *take_string(struct reader *r)
{
    const char *text = (const char *)r->at;
    const uint8_t *end = r->bad || left(r) == 0 ? NULL : memchr(r->at, 0, left(r));
    if (end == NULL) {
        r->bad = true;
        return "";
    }

    r->at = end + 1;
    return text;
}

/* False if the unit is of another version, or damaged. */
static bool read_unit(struct reader *from, struct unit *unit)
{
    uint64_t length = take(from, 4);
    if (length >= 0xFFFFFFF0) {
        from->bad = true; /* 64-bit DWARF: there is no 4 GiB of it for a DPU */
        return false;
    }

    struct reader body = take_part(from, length);
    uint64_t version = take(&body, 2);
    struct reader header = take_part(&body, take(&body, 4));
    if (body.bad || version < 2 || version > 4)
        return false;

    unit->program = body;
    unit->minimum_length = (uint8_t)take(&header, 1);
    if (version == 4)
        take(&header, 1);
    take(&header, 1);
    unit->line_base = (int8_t)take(&header, 1);
    unit->line_range = (uint8_t)take(&header, 1);
    unit->opcode_base = (uint8_t)take(&header, 1);
    if (unit->opcode_base == 0 || unit->line_range == 0)
        return false;

    unit->operand_counts = take_part(&header, unit->opcode_base - 1u).at;
    unit->folders = header;
    while (*take_string(&header) != '\0')
        continue;

    unit->files = header;
    return !header.bad;
}

static void name_file(const struct unit *unit, const struct row *row, struct dpu_line *line)
{
    struct reader files = unit->files, folders = unit->folders;
    uint64_t folder = 0;
    for (uint32_t i = 0; i < row->file; i++) {
        line->file = take_string(&files);
        folder = take_uleb(&files);
        take_uleb(&files);
        take_uleb(&files);
        if (*line->file == '\0' || files.bad) {
            line->file = NULL;
            return;
        }
    }

    for (uint64_t i = 0; i < folder && line->file != NULL && *line->file != '/'; i++) {
        line->folder = take_string(&folders);
        if (*line->folder == '\0' || folders.bad) {
            line->folder = NULL;
            return;
        }
    }
}

/* The row before this one holds for the instructions from its address up to this one's. */
static bool ends_at(const struct row *before, const struct row *row, uint32_t address)
{
    return before->line > 0 && before->line <= UINT32_MAX && before->address <= address &&
           address < row->address;
}

/* Effects of an instruction of the program beside changing the row. */
enum effect {
    CHANGES, /* nothing */
    EMITS,   /* the row is one of the table */
    ENDS,    /* the same, and the next row starts a new sequence */
};

static void advance(const struct unit *unit, struct row *row, uint32_t steps)
{
    row->address += steps * unit->minimum_length;
}

static enum effect run_extended(struct reader *program, struct row *row)
{
    struct reader operand = take_part(program, take_uleb(program));
    uint64_t code = take(&operand, 1);
    if (code == EXTENDED_SET_ADDRESS)
        row->address = (uint32_t)take(&operand, 4);

    return code == EXTENDED_END_SEQUENCE ? ENDS : CHANGES;
}

static enum effect run_standard(struct unit *unit, uint8_t opcode, struct row *row)
{
    struct reader *program = &unit->program;
    uint64_t file;
    switch (opcode) {
    case STANDARD_COPY: return EMITS;
    case STANDARD_ADVANCE_PC: advance(unit, row, (uint32_t)take_uleb(program)); break;
    case STANDARD_ADVANCE_LINE: row->line += (uint64_t)take_sleb(program); break;
    case STANDARD_SET_FILE:
        file = take_uleb(program);
        row->file = file <= UINT32_MAX ? (uint32_t)file : 0;
        break;
    case STANDARD_CONST_ADD_PC:
        advance(unit, row, (255u - unit->opcode_base) / unit->line_range);
        break;
    case STANDARD_FIXED_ADVANCE_PC: row->address += (uint32_t)take(program, 2); break;
    default:
        for (uint8_t i = 0; i < unit->operand_counts[opcode - 1]; i++)
            take_uleb(program);
    }

    return CHANGES;
}

/* Executes the next instruction of the unit's program. */
static enum effect step(struct unit *unit, struct row *row)
{
    uint8_t opcode = (uint8_t)take(&unit->program, 1);
    if (opcode >= unit->opcode_base) {
        uint32_t special = opcode - (uint32_t)unit->opcode_base;
        advance(unit, row, special / unit->line_range);
        row->line += (uint64_t)(int64_t)unit->line_base + special % unit->line_range;
        return EMITS;
    }

    return opcode == 0 ? run_extended(&unit->program, row) : run_standard(unit, opcode, row);
}

/* Finds the row whose instructions include the one at ADDRESS. */
static bool find(struct unit *unit, uint32_t address, struct row *found)
{
    const struct row start = {.file = 1, .line = 1};
    struct row row = start, before = {0};
    while (unit->program.at < unit->program.end) {
        enum effect effect = step(unit, &row);
        if (unit->program.bad)
            return false;

        /* Line 0 is code of no line: it counts to the one before. */
        if (effect == CHANGES || (effect == EMITS && row.line == 0))
            continue;

        if (ends_at(&before, &row, address)) {
            *found = before;
            return true;
        }

        before = row;
        if (effect == ENDS) {
            row = start;
            before = (struct row){0};
        }
    }

    return false;
}

bool dpu_lines_find(const uint8_t *table, size_t size, uint32_t address, struct dpu_line *line)
{
    *line = (struct dpu_line){0};
    if (table == NULL)
        return false;

    struct reader from = {table, table + size, false};
    while (!from.bad && from.at < from.end) {
        struct unit unit;
        struct row row;
        if (!read_unit(&from, &unit) || !find(&unit, address, &row))
            continue;

        name_file(&unit, &row, line);
        line->line = (uint32_t)row.line;
        if (line->file != NULL)
            return true;

        *line = (struct dpu_line){0};
    }

    return false;
}
