/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * build: csrc/formats/dwarf*.c
 *
 * Line tables written by hand: every opcode, the names of both layouts, several tables, damage.
 */
/* clang-format on */
#include "formats/dwarf_lines.h"

#include "dwarf_builder.h"

enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13 };
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, ADD_PC, FIXED_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };
enum { CONTENT_PATH = 1, CONTENT_FOLDER };

/* The special opcode that advances by so many bytes and lines, and makes a row. */
#define SPECIAL(bytes, lines) (OPCODE_BASE + (bytes) * LINE_RANGE + (lines) - LINE_BASE)

#define BYTES(b, ...) \
    bytes_add(b, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

struct table {
    struct elf elf;
    size_t unit, header; /* where the two lengths are */
    uint8_t offset_size;
};

static struct bytes *lines(struct table *t)
{
    return elf_section(&t->elf, ".debug_line");
}

static void fill_in(struct table *t, size_t at)
{
    uint64_t length = lines(t)->size - at - t->offset_size;
    memcpy(lines(t)->data + at, &length, t->offset_size);
}

static void begin_header(struct table *t, unsigned version, uint8_t offset_size)
{
    struct bytes *b = lines(t);
    /* Files without these have no debug information at all. */
    BYTES(elf_section(&t->elf, ".debug_info"), 0);
    BYTES(elf_section(&t->elf, ".debug_abbrev"), 0);
    t->offset_size = offset_size;
    if (offset_size == 8)
        bytes_number(b, UINT32_MAX, 4);
    t->unit = b->size;
    bytes_number(b, 0, offset_size);
    bytes_number(b, version, 2);
    if (version == 5)
        BYTES(b, 8, 0);
    t->header = b->size;
    bytes_number(b, 0, offset_size);
    BYTES(b, 1);
    if (version >= 4)
        BYTES(b, 1);
    BYTES(b, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE);
    BYTES(b, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1); /* operands of opcodes 1 to 12 */
}

static void add_old_names(struct bytes *b)
{
    bytes_string(b, "/home");
    bytes_string(b, "");
    bytes_string(b, "sub/main.c");
    ULEBS(b, 0, 300, 300);
    bytes_string(b, "sum\n.c");
    ULEBS(b, 1, 0, 0);
    bytes_string(b, "folder/");
    ULEBS(b, 0, 0, 0);
    bytes_string(b, "");
}

/* File 1 by its text, file 2 by an offset in .debug_line_str. */
static void add_new_names(struct table *t, uint64_t form)
{
    struct bytes *b = lines(t);
    if (form == FORM_line_strp) {
        struct bytes *strings = elf_section(&t->elf, ".debug_line_str");
        bytes_string(strings, "/home");
        bytes_string(strings, "sub/main.c");
    }
    BYTES(b, 1, CONTENT_PATH, FORM_string, 1);
    bytes_string(b, "/home");
    BYTES(b, 2, CONTENT_PATH, (uint8_t)form, CONTENT_FOLDER, FORM_udata, 2);
    for (int i = 0; i < 2; i++) {
        if (form == FORM_string)
            bytes_string(b, i == 0 ? "zero.c" : "sub/main.c");
        else
            bytes_number(b, i == 0 ? 0 : 6, t->offset_size);
        BYTES(b, 0);
    }
}

static void set_address(struct bytes *b, uint64_t address)
{
    BYTES(b, 0, 9, SET_ADDRESS);
    bytes_number(b, address, 8);
}

/* A table of that version up to its program, which starts at VADDR. */
static void begin(struct table *t, unsigned version)
{
    begin_header(t, version, 4);
    if (version == 5)
        add_new_names(t, FORM_string);
    else
        add_old_names(lines(t));
    fill_in(t, t->header);
    set_address(lines(t), VADDR);
}

static void end(struct table *t)
{
    BYTES(lines(t), 0, 1, END_SEQUENCE);
    fill_in(t, t->unit);
}

/* FILE is NULL if there is nothing to be found. */
#define EXPECT_LINE(t, offset, file, number) expect(t, offset, file, number, __LINE__)
static void expect(struct table *t, uint64_t offset, const char *file, uint32_t number, int at)
{
    struct dwarf_line line = {.file = "untouched"};
    size_t size;
    uint8_t *image = elf_image(&t->elf, &size);
    bool found = dwarf_find_line(image, size, VADDR + offset, &line);
    free(image);
    if (found != (file != NULL) ||
        (found && (strcmp(line.file, file) != 0 || line.line != number))) {
        fprintf(stderr, "line %d: found %d: line %u of %s\n", at, found, line.line, line.file);
        abort();
    }
}

static void test_a_row_holds_up_to_the_next(void)
{
    for (unsigned version = 2; version <= 5; version++) {
        struct table t = {0};
        begin(&t, version);
        BYTES(lines(&t), SPECIAL(0, 4), SPECIAL(3, -2), ADVANCE_PC, 2);
        end(&t);

        EXPECT_LINE(&t, UINT64_MAX, NULL, 0);
        EXPECT_LINE(&t, 0, "main.c", 5);
        EXPECT_LINE(&t, 2, "main.c", 5);
        EXPECT_LINE(&t, 3, "main.c", 3);
        EXPECT_LINE(&t, 4, "main.c", 3);
        EXPECT_LINE(&t, 5, NULL, 0);
        elf_free(&t.elf);
    }
}

/* Each opcode, before a row. */
static void test_every_opcode_advances_as_it_says(void)
{
    static const struct {
        uint8_t code[12];
        size_t size;
        uint32_t offset, line;
    } cases[] = {
        {{COPY}, 1, 0, 1},
        {{ADVANCE_PC, 0x80, 2, COPY}, 4, 256, 1},
        {{ADVANCE_LINE, 63, COPY}, 3, 0, 64},
        {{ADVANCE_LINE, 0xC8, 1, ADVANCE_LINE, 0x7E, COPY}, 6, 0, 199},
        {{SET_COLUMN, 0xFF, 1, NEGATE, BLOCK, COPY}, 6, 0, 1},
        {{ADD_PC, COPY}, 2, (255 - OPCODE_BASE) / LINE_RANGE, 1},
        {{FIXED_PC, 24, 1, COPY}, 4, 280, 1},
        {{10, 11, 12, 0x81, 1, COPY}, 6, 0, 1},
        {{0, 3, 0x80, 7, 7, COPY}, 6, 0, 1},              /* an extension of a vendor */
        {{0, 2, 4, 9, ADVANCE_LINE, 2, COPY}, 7, 0, 3},   /* a discriminator */
        {{0, 5, SET_ADDRESS, 1, 2, 3, 4, COPY}, 8, 0, 1}, /* an address of another size */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t = {0};
        begin(&t, 3);
        bytes_add(lines(&t), cases[i].code, cases[i].size);
        BYTES(lines(&t), ADVANCE_PC, 1);
        end(&t);

        EXPECT_LINE(&t, cases[i].offset, "main.c", cases[i].line);
        EXPECT_LINE(&t, cases[i].offset + 1, NULL, 0);
        elf_free(&t.elf);
    }
}

/* Without folders, as plain text; a name that has nothing behind its folder is none. */
static void test_names_of_files(void)
{
    static const char *const names[] = {NULL, "main.c", "sum?.c", NULL, NULL};
    for (uint8_t file = 0; file < 5; file++) {
        struct table t = {0};
        begin(&t, 4);
        BYTES(lines(&t), SET_FILE, file, COPY, ADVANCE_PC, 1);
        end(&t);

        EXPECT_LINE(&t, 0, names[file], 1);
        elf_free(&t.elf);
    }
}

static void test_a_long_name_is_cut(void)
{
    struct table t = {0};
    char name[101], cut[64];
    memset(name, 'n', 100);
    name[100] = '\0';
    memset(cut, 'n', 63);
    cut[63] = '\0';
    begin_header(&t, 2, 4);
    bytes_string(lines(&t), "");
    bytes_string(lines(&t), name);
    ULEBS(lines(&t), 0, 0, 0);
    fill_in(&t, t.header);
    set_address(lines(&t), VADDR);
    BYTES(lines(&t), COPY, ADVANCE_PC, 1);
    end(&t);

    EXPECT_LINE(&t, 0, cut, 1);
    elf_free(&t.elf);
}

static void test_names_elsewhere_in_both_sizes_of_offsets(void)
{
    for (uint8_t size = 4; size <= 8; size += 4) {
        struct table t = {0};
        begin_header(&t, 5, size);
        add_new_names(&t, FORM_line_strp);
        fill_in(&t, t.header);
        set_address(lines(&t), VADDR);
        BYTES(lines(&t), COPY, ADVANCE_PC, 1);
        end(&t);

        EXPECT_LINE(&t, 0, "main.c", 1);
        elf_free(&t.elf);
    }
}

/* Entries of a table of DWARF 5 for names that cannot be used. */
static void test_names_that_cannot_be_read(void)
{
    static const struct {
        uint8_t names[12];
        size_t size;
    } cases[] = {
        {{17}, 1},                                                       /* too many columns */
        {{0, 0, 1, CONTENT_PATH, 0x7F, 2, 'a', 0, 'b', 0}, 10},          /* an unknown form */
        {{0, 0, 1, CONTENT_FOLDER, FORM_data1, 2, 1, 1}, 8},             /* no column of names */
        {{0, 0, 1, CONTENT_PATH, FORM_string, 1, 'a', 0}, 8},            /* too few files */
        {{0, 0, 1, CONTENT_PATH, FORM_line_strp, 2, 9, 9, 9, 9, 9}, 11}, /* outside */
        {{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 11}, /* 2**64 - 1 of no columns */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t = {0};
        begin_header(&t, 5, 4);
        bytes_add(lines(&t), cases[i].names, cases[i].size);
        fill_in(&t, t.header);
        set_address(lines(&t), VADDR);
        BYTES(lines(&t), COPY, ADVANCE_PC, 1);
        end(&t);

        EXPECT_LINE(&t, 0, NULL, 0);
        elf_free(&t.elf);
    }
}

static void test_a_sequence_starts_at_file_1_and_line_1(void)
{
    struct table t = {0};
    begin(&t, 3);
    BYTES(lines(&t), SET_FILE, 2, SPECIAL(0, 5), ADVANCE_PC, 1, 0, 1, END_SEQUENCE);
    set_address(lines(&t), VADDR + 10);
    BYTES(lines(&t), COPY, ADVANCE_PC, 1);
    end(&t);

    EXPECT_LINE(&t, 0, "sum?.c", 6);
    EXPECT_LINE(&t, 1, NULL, 0); /* between the sequences */
    EXPECT_LINE(&t, 10, "main.c", 1);
    elf_free(&t.elf);
}

/* The first table is of a version that is not known, the second of other addresses. */
static void test_tables_that_do_not_have_it_are_passed_over(void)
{
    struct table t = {0};
    for (unsigned i = 0; i < 3; i++) {
        begin_header(&t, i == 0 ? 6 : 2, 4);
        add_old_names(lines(&t));
        fill_in(&t, t.header);
        set_address(lines(&t), VADDR + (i == 1 ? 100 : 0));
        BYTES(lines(&t), (uint8_t)SPECIAL(0, (int)i), ADVANCE_PC, 1);
        end(&t);
    }

    EXPECT_LINE(&t, 0, "main.c", 3);
    EXPECT_LINE(&t, 100, "main.c", 2);
    elf_free(&t.elf);
}

static void test_damaged_tables_have_no_lines(void)
{
    enum { HEADER = 10 }; /* behind the two lengths and the version */
    static const struct {
        size_t at;
        uint32_t value;
        size_t bytes;
    } damage[] = {
        {0, 0xFFFFFFFF, 4}, {0, 0x7FFFFFFF, 4}, {4, 1, 2},
        {6, 0x7FFFFFFF, 4}, {6, 3, 4},          {HEADER + 3, 0, 1}, /* the range of lines */
        {HEADER + 4, 0, 1},                                         /* the first special opcode */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        struct table t = {0};
        begin(&t, 3);
        BYTES(lines(&t), COPY, ADVANCE_PC, 1);
        end(&t);
        EXPECT_LINE(&t, 0, "main.c", 1);

        memcpy(lines(&t)->data + damage[i].at, &damage[i].value, damage[i].bytes);
        EXPECT_LINE(&t, 0, NULL, 0);
        elf_free(&t.elf);
    }
}

static void test_an_extended_opcode_of_no_length_ends_the_search(void)
{
    for (uint8_t length = 0; length < 128; length += 127) {
        struct table t = {0};
        begin(&t, 3);
        BYTES(lines(&t), 0, length, COPY, ADVANCE_PC, 1);
        end(&t);

        EXPECT_LINE(&t, 0, NULL, 0);
        elf_free(&t.elf);
    }
}

static void test_a_line_beyond_32_bits_is_none(void)
{
    struct table t = {0};
    begin(&t, 3);
    BYTES(lines(&t), ADVANCE_LINE, 0x7E, COPY, ADVANCE_PC, 1); /* 1 - 2 */
    end(&t);

    EXPECT_LINE(&t, 0, NULL, 0);
    elf_free(&t.elf);
}

/* The section is cut anywhere, and what the lengths say is as it was. */
static void test_a_table_that_is_cut_has_no_lines(void)
{
    struct table t = {0};
    begin(&t, 5);
    BYTES(lines(&t), COPY, ADVANCE_PC, 1);
    end(&t);
    struct bytes *b = lines(&t);

    for (size_t full = b->size; b->size > 0;) {
        b->size--;
        EXPECT_LINE(&t, 0, NULL, 0);
        CHECK(b->size < full);
    }
    elf_free(&t.elf);
}

static void test_what_is_no_elf_file_has_no_lines(void)
{
    static const uint8_t text[] = "no ELF file";
    struct dwarf_line line;
    CHECK(!dwarf_find_line(text, sizeof text, VADDR, &line));
    CHECK(!dwarf_find_line(text, 0, VADDR, &line));
}

int main(void)
{
    test_a_row_holds_up_to_the_next();
    test_every_opcode_advances_as_it_says();
    test_names_of_files();
    test_a_long_name_is_cut();
    test_names_elsewhere_in_both_sizes_of_offsets();
    test_names_that_cannot_be_read();
    test_a_sequence_starts_at_file_1_and_line_1();
    test_tables_that_do_not_have_it_are_passed_over();
    test_damaged_tables_have_no_lines();
    test_an_extended_opcode_of_no_length_ends_the_search();
    test_a_line_beyond_32_bits_is_none();
    test_a_table_that_is_cut_has_no_lines();
    test_what_is_no_elf_file_has_no_lines();
    return 0;
}
