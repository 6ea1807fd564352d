/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/formats/lines.c
 *
 * Line tables of DPU programs, written by hand: every opcode, names, several units, and damage.
 */
#include "formats/lines.h"

#include <string.h>

#include "tests/support/elf_builder.h"

/* The first byte of IRAM, and the parameters of the tables here. */
enum { IRAM = 0x80000000, WORD = 8, LINE_BASE = -3, LINE_RANGE = 12, OPCODE_BASE = 13 };
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, ADD_PC, FIXED_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };

/* The special opcode that advances by so many words and lines, and makes a row. */
#define SPECIAL(words, lines) (OPCODE_BASE + (words) * LINE_RANGE + (lines) - LINE_BASE)

#define BYTES(b, ...) \
    bytes_add(b, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Where the lengths of the unit are, to be filled in. */
struct lengths {
    size_t unit, header;
};

static void fill_in(struct bytes *b, size_t at)
{
    uint32_t length = (uint32_t)(b->size - at - 4);
    memcpy(b->data + at, &length, 4);
}

static struct lengths begin_unit(struct bytes *b, unsigned version)
{
    struct lengths at = {.unit = b->size};
    bytes_number(b, 0, 4);
    bytes_number(b, version, 2);
    at.header = b->size;
    bytes_number(b, 0, 4);
    BYTES(b, WORD);
    if (version == 4)
        BYTES(b, 1);
    BYTES(b, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE);
    BYTES(b, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1); /* operands of opcodes 1 to 12 */
    bytes_string(b, "/home");
    bytes_string(b, "lib");
    bytes_string(b, "");
    bytes_string(b, "main.c");
    ULEBS(b, 0, 0, 0);
    bytes_string(b, "sum.c");
    ULEBS(b, 2, 300, 300);
    bytes_string(b, "/root.c");
    ULEBS(b, 1, 0, 0);
    bytes_string(b, "odd.c");
    ULEBS(b, 9, 0, 0);
    bytes_string(b, "");
    fill_in(b, at.header);
    return at;
}

static void set_address(struct bytes *b, uint32_t address)
{
    BYTES(b, 0, 5, SET_ADDRESS);
    bytes_number(b, address, 4);
}

static void end_unit(struct bytes *b, struct lengths at)
{
    BYTES(b, 0, 1, END_SEQUENCE);
    fill_in(b, at.unit);
}

/* Looks it up in a block of exactly the table's size, so that a sanitizer sees a read beyond it. */
static bool find(const struct bytes *b, size_t size, uint32_t word, struct dpu_line *line,
                 uint8_t **table)
{
    *table = malloc(size);
    CHECK(*table != NULL || size == 0);
    if (size > 0)
        memcpy(*table, b->data, size);
    return dpu_lines_find(*table, size, IRAM + WORD * word, line);
}

#define EXPECT(b, word, folder, file, line) expect(b, word, folder, file, line, __LINE__)
static void expect(const struct bytes *b, uint32_t word, const char *folder, const char *file,
                   uint32_t number, int at)
{
    struct dpu_line line;
    uint8_t *table;
    bool found = find(b, b->size, word, &line, &table);
    bool same = found == (file != NULL) && line.line == number &&
                (line.folder == NULL) == (folder == NULL) && (line.file == NULL) == (file == NULL);
    same = same && (folder == NULL || strcmp(line.folder, folder) == 0);
    same = same && (file == NULL || strcmp(line.file, file) == 0);
    if (!same)
        fprintf(stderr, "line %d: found %d: %s of %s, line %u\n", at, found, found ? line.file : "",
                line.folder != NULL ? line.folder : "", line.line);
    free(table);
    CHECK(same);
}
#define EXPECT_NONE(b, word) EXPECT(b, word, NULL, NULL, 0)

static void test_a_row_holds_up_to_the_next(void)
{
    for (unsigned version = 2; version <= 4; version++) {
        struct bytes b = {0};
        struct lengths at = begin_unit(&b, version);
        set_address(&b, IRAM + 2 * WORD);
        BYTES(&b, SPECIAL(0, 4), SPECIAL(3, -2), ADVANCE_PC, 2);
        end_unit(&b, at);

        EXPECT_NONE(&b, 1);
        EXPECT(&b, 2, NULL, "main.c", 5);
        EXPECT(&b, 4, NULL, "main.c", 5);
        EXPECT(&b, 5, NULL, "main.c", 3);
        EXPECT(&b, 6, NULL, "main.c", 3);
        EXPECT_NONE(&b, 7);
        bytes_free(&b);
    }
}

/* Each opcode, before a row at the next word. */
static void test_every_opcode_advances_as_it_says(void)
{
    static const struct {
        uint8_t code[12];
        size_t size;
        uint32_t word, line;
    } cases[] = {
        {{COPY}, 1, 0, 1},
        {{ADVANCE_PC, 5, COPY}, 3, 5, 1},
        {{ADVANCE_PC, 0x80, 2, COPY}, 4, 256, 1},
        {{ADVANCE_LINE, 63, COPY}, 3, 0, 64},
        {{ADVANCE_LINE, 0xC8, 1, ADVANCE_LINE, 0x7E, COPY}, 6, 0, 199},
        {{SET_COLUMN, 0xFF, 1, NEGATE, BLOCK, COPY}, 6, 0, 1},
        {{ADD_PC, COPY}, 2, (255 - OPCODE_BASE) / LINE_RANGE, 1},
        {{FIXED_PC, 24, 0, COPY}, 4, 3, 1},
        {{10, 11, 12, 0x81, 1, COPY}, 6, 0, 1}, /* of the prologue, and of the standard's next */
        {{0, 3, 0x80, 7, 7, COPY}, 6, 0, 1},    /* an extension of a vendor */
        {{0, 2, 4, 9, ADVANCE_LINE, 2, COPY}, 7, 0, 3}, /* a discriminator */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {0};
        struct lengths at = begin_unit(&b, 3);
        set_address(&b, IRAM);
        bytes_add(&b, cases[i].code, cases[i].size);
        BYTES(&b, ADVANCE_PC, 1);
        end_unit(&b, at);

        EXPECT(&b, cases[i].word, NULL, "main.c", cases[i].line);
        EXPECT_NONE(&b, cases[i].word + 1);
        bytes_free(&b);
    }
}

static void test_files_are_named_with_their_folders(void)
{
    static const struct {
        uint8_t file;
        const char *folder, *name;
    } cases[] = {
        {1, NULL, "main.c"}, {2, "lib", "sum.c"}, {3, NULL, "/root.c"},
        {4, NULL, "odd.c"},  {5, NULL, NULL},     {0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {0};
        struct lengths at = begin_unit(&b, 4);
        set_address(&b, IRAM);
        BYTES(&b, SET_FILE, cases[i].file, COPY, ADVANCE_PC, 1);
        end_unit(&b, at);

        EXPECT(&b, 0, cases[i].folder, cases[i].name, cases[i].name != NULL);
        bytes_free(&b);
    }
}

/* Code that no line is the source of counts to the line before it. */
static void test_line_0_is_the_line_before(void)
{
    struct bytes b = {0};
    struct lengths at = begin_unit(&b, 3);
    set_address(&b, IRAM);
    BYTES(&b, SPECIAL(0, 3), ADVANCE_PC, 2, ADVANCE_LINE, 0x7C, COPY, ADVANCE_PC, 2);
    end_unit(&b, at);

    EXPECT(&b, 1, NULL, "main.c", 4);
    EXPECT(&b, 3, NULL, "main.c", 4);
    bytes_free(&b);
}

static void test_a_sequence_starts_at_file_1_and_line_1(void)
{
    struct bytes b = {0};
    struct lengths at = begin_unit(&b, 3);
    set_address(&b, IRAM);
    BYTES(&b, SET_FILE, 2, SPECIAL(0, 5), ADVANCE_PC, 1, 0, 1, END_SEQUENCE);
    set_address(&b, IRAM + 10 * WORD);
    BYTES(&b, COPY, ADVANCE_PC, 1);
    end_unit(&b, at);

    EXPECT(&b, 0, "lib", "sum.c", 6);
    EXPECT_NONE(&b, 1); /* between the sequences */
    EXPECT(&b, 10, NULL, "main.c", 1);
    bytes_free(&b);
}

/* A unit of a version that is not known, and one without a row for the address, are passed over. */
static void test_later_units_are_searched(void)
{
    struct bytes b = {0};
    for (unsigned unit = 0; unit < 3; unit++) {
        struct lengths at = begin_unit(&b, unit == 0 ? 5 : 2);
        set_address(&b, IRAM + unit * 100 * WORD);
        BYTES(&b, SPECIAL(0, 2), ADVANCE_PC, 1);
        end_unit(&b, at);
    }

    EXPECT_NONE(&b, 0);
    EXPECT(&b, 100, NULL, "main.c", 3);
    EXPECT(&b, 200, NULL, "main.c", 3);
    bytes_free(&b);
}

static void test_damaged_units_have_no_lines(void)
{
    enum { HEADER = 10 }; /* behind the two lengths and the version */
    static const struct {
        size_t at;
        uint32_t value;
        size_t bytes;
    } damage[] = {
        {0, 0xFFFFFFFF, 4}, {0, 0x7FFFFFFF, 4}, {4, 1, 2},          {4, 6, 2},
        {6, 0x7FFFFFFF, 4}, {6, 3, 4},          {HEADER + 3, 0, 1}, /* the range of lines */
        {HEADER + 4, 0, 1},                                         /* the first special opcode */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        struct bytes b = {0};
        struct lengths at = begin_unit(&b, 3);
        set_address(&b, IRAM);
        BYTES(&b, COPY, ADVANCE_PC, 1);
        end_unit(&b, at);
        EXPECT(&b, 0, NULL, "main.c", 1);

        memcpy(b.data + damage[i].at, &damage[i].value, damage[i].bytes);
        EXPECT_NONE(&b, 0);
        bytes_free(&b);
    }
}

/* Cut anywhere: with the unit's length as it was, and made to fit. */
static void test_a_table_that_is_cut_has_no_lines(void)
{
    struct bytes b = {0};
    struct lengths at = begin_unit(&b, 3);
    set_address(&b, IRAM);
    BYTES(&b, ADVANCE_LINE, 0x81, 0x7F, ADVANCE_LINE, 0x90, 1, COPY, FIXED_PC, 8, 0);
    end_unit(&b, at);
    EXPECT(&b, 0, NULL, "main.c", 18);

    for (int fits = 0; fits < 2; fits++) {
        for (size_t size = 0; size < b.size; size++) {
            struct dpu_line line;
            uint8_t *table;
            uint32_t length = (uint32_t)(size - 4);
            if (fits == 1 && size >= 4)
                memcpy(b.data, &length, 4);
            CHECK(!find(&b, size, 0, &line, &table));
            CHECK(line.file == NULL && line.folder == NULL && line.line == 0);
            free(table);
        }
    }
    bytes_free(&b);
}

static void test_no_table_has_no_lines(void)
{
    struct dpu_line line = {"a", "b", 3};
    CHECK(!dpu_lines_find(NULL, 0, IRAM, &line));
    CHECK(line.file == NULL && line.folder == NULL && line.line == 0);
}

int main(void)
{
    test_a_row_holds_up_to_the_next();
    test_every_opcode_advances_as_it_says();
    test_files_are_named_with_their_folders();
    test_line_0_is_the_line_before();
    test_a_sequence_starts_at_file_1_and_line_1();
    test_later_units_are_searched();
    test_damaged_units_have_no_lines();
    test_a_table_that_is_cut_has_no_lines();
    test_no_table_has_no_lines();
    return 0;
}
