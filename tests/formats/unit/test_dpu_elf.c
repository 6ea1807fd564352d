/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/formats/dpu_elf.c csrc/formats/dpu_elf_sections.c -Wl,--wrap=calloc
 *
 * The reader of DPU programs: a program with everything, and what is wrong with others.
 */
#include "formats/dpu_elf.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/dpu_elf_builder.h"

/* --- failing calloc --- */

static long allocations_left = -1; /* -1: no limit */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return __real_calloc(n, size);
}

/* --- a program --- */

enum { TEXT = DPU_SECTION_FIRST, DATA, HOST, MRAM, ATOMIC, ATTRIBUTES };
enum { S_TEXT, S_DATA, S_HOST, S_MRAM }; /* segments */

static void add_attributes(struct dpu_program *p)
{
    /* Attribute 4 is 300, attribute 5 the chip; then a subsection of somebody else. */
    static const uint8_t attributes[] = "A\x17\0\0\0upmem\0\x01\x0d\0\0\0\x04\xac\x02\x05v1B\0"
                                        "\x0a\0\0\0other";
    dpu_program_section(p, ".dpu.attributes", SHT_LOPROC + 3, 0, attributes,
                        sizeof attributes - 1 + 1);
}

static void make_program(struct dpu_program *p)
{
    static const uint64_t text[6] = {0x7ef320000000, 1, 2, 3, 4, 0xffff123456789abc};
    static const uint32_t data[4] = {0, 0, 7, 8}, host[2] = {5, 0};
    static const uint8_t mram[12] = "mram";
    dpu_program_start(p);
    uint16_t made[] = {
        dpu_program_section(p, ".text", SHT_PROGBITS, 0x80000000, text, sizeof text),
        dpu_program_section(p, ".data", SHT_PROGBITS, 0, data, sizeof data),
        dpu_program_section(p, ".data.__sys_host", SHT_PROGBITS, 0x40, host, sizeof host),
        dpu_program_section(p, ".mram", SHT_PROGBITS, 0x08000100, mram, sizeof mram),
        dpu_program_section(p, ".atomic", SHT_NOBITS, 0xF00000C8, NULL, 2),
    };
    CHECK(made[0] == TEXT && made[4] == ATOMIC);
    add_attributes(p);
    for (uint16_t i = TEXT; i <= MRAM; i++)
        dpu_program_segment(p, i, i == DATA ? 32 : 0);
    const uint32_t text_at = 0x80000000;
    dpu_program_symbol(p, "program.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
    dpu_program_symbol(p, "", text_at, 0, STB_LOCAL, STT_SECTION, TEXT);
    dpu_program_symbol(p, "main", text_at + 16, 16, STB_GLOBAL, STT_FUNC, TEXT);
    dpu_program_symbol(p, "main", 0x30, 4, STB_LOCAL, STT_OBJECT, DATA);
    dpu_program_symbol(p, "__bootstrap", text_at, 0, STB_GLOBAL, STT_NOTYPE, TEXT);
    dpu_program_symbol(p, "start", text_at, 16, STB_LOCAL, STT_FUNC, TEXT);
    dpu_program_symbol(p, ".label", text_at + 24, 0, STB_LOCAL, STT_NOTYPE, TEXT);
    dpu_program_symbol(p, "last", text_at + 40, 8, STB_GLOBAL, STT_FUNC, TEXT);
    dpu_program_symbol(p, "counter", 0x40, 4, STB_GLOBAL, STT_OBJECT, HOST);
    dpu_program_symbol(p, "buffer", 0x08000100, 12, STB_GLOBAL, STT_OBJECT, MRAM);
    dpu_program_symbol(p, "__atomic_bit_m", 0xF00000C8, 1, STB_GLOBAL, STT_OBJECT, ATOMIC);
    dpu_program_symbol(p, "NR_TASKLETS", 16, 0, STB_GLOBAL, STT_NOTYPE, SHN_ABS);
    dpu_program_symbol(p, "undefined", 0, 0, STB_GLOBAL, STT_NOTYPE, SHN_UNDEF);
    dpu_program_symbol(p, "__stdout_buffer_state", 0x10, 8, STB_GLOBAL, STT_OBJECT, DATA);
}

/* Result of opening a program; it is freed. */
static enum dpu_elf_status status_of(struct dpu_program *p)
{
    size_t size;
    struct dpu_elf elf;
    uint8_t *image = dpu_program_image(p, &size);
    enum dpu_elf_status status = dpu_elf_open_image(&elf, image, size);
    if (status != DPU_ELF_OK)
        CHECK(elf.segments == NULL && elf.symbols == NULL && elf.code == NULL &&
              elf.nsegments == 0 && elf.nsymbols == 0);
    dpu_elf_close_image(&elf);
    free(image);
    return status;
}

static void test_segments(void)
{
    struct dpu_program p;
    struct dpu_elf elf;
    size_t size;
    make_program(&p);
    uint8_t *image = dpu_program_image(&p, &size);
    CHECK(dpu_elf_open_image(&elf, image, size) == DPU_ELF_OK);
    CHECK(elf.nsegments == 4 && elf.entry == 0x80000000);
    const struct dpu_elf_segment *s = elf.segments;
    CHECK(s[0].memory == DPU_ELF_IRAM && s[0].offset == 0 && s[0].size == 48);
    CHECK(s[1].memory == DPU_ELF_WRAM && s[1].offset == 0 && s[1].size == 48);
    CHECK(s[1].data_size == 16);
    CHECK(s[2].memory == DPU_ELF_WRAM && s[2].offset == 0x40 && s[2].size == 8);
    CHECK(s[3].memory == DPU_ELF_MRAM && s[3].offset == 0x100 && s[3].size == 12);
    CHECK(memcmp(s[3].data, "mram", 5) == 0);

    uint8_t got[48];
    uint32_t number;
    memset(got, 0x55, sizeof got);
    CHECK(dpu_elf_copy(&s[1], 0, got, 48)); /* with the zeros that the file does not have */
    memcpy(&number, got + 12, 4);
    CHECK(number == 8);
    for (size_t i = 16; i < 48; i++)
        CHECK(got[i] == 0);
    memset(got, 0x55, sizeof got);
    CHECK(dpu_elf_copy(&s[1], 40, got, 8) && got[0] == 0 && got[7] == 0 && got[8] == 0x55);
    CHECK(dpu_elf_copy(&s[1], 48, got, 0));
    CHECK(!dpu_elf_copy(&s[1], 41, got, 8) && !dpu_elf_copy(&s[1], 49, got, 0));
    CHECK(!dpu_elf_copy(&s[1], 8, got, SIZE_MAX - 4));
    dpu_elf_close_image(&elf);
    CHECK(elf.segments == NULL);
    free(image);
}

static void test_symbols(void)
{
    struct dpu_program p;
    struct dpu_elf elf;
    size_t size;
    make_program(&p);
    uint8_t *image = dpu_program_image(&p, &size);
    CHECK(dpu_elf_open_image(&elf, image, size) == DPU_ELF_OK);
    CHECK(elf.nsymbols == 11); /* no file, section, undefined one */
    CHECK(elf.nr_tasklets == 16 && strcmp(elf.chip, "v1B") == 0);

    static const struct {
        const char *name;
        uint32_t value, size;
        enum dpu_elf_kind kind;
        enum dpu_elf_memory memory;
        bool global, for_host;
    } expected[] = {
        {"counter", 0x40, 4, DPU_ELF_OBJECT, DPU_ELF_WRAM, true, true},
        {"buffer", 0x08000100, 12, DPU_ELF_OBJECT, DPU_ELF_MRAM, true, true},
        {"__atomic_bit_m", 0xF00000C8, 1, DPU_ELF_OBJECT, DPU_ELF_ATOMIC, true, true},
        {"__stdout_buffer_state", 0x10, 8, DPU_ELF_OBJECT, DPU_ELF_WRAM, true, false},
        {"NR_TASKLETS", 16, 0, DPU_ELF_LABEL, DPU_ELF_NOWHERE, true, false},
        {"start", 0x80000000, 16, DPU_ELF_FUNCTION, DPU_ELF_IRAM, false, true},
        {"main", 0x80000010, 16, DPU_ELF_FUNCTION, DPU_ELF_IRAM, true, true}, /* not the local */
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct dpu_elf_symbol *s = dpu_elf_find(&elf, expected[i].name);
        CHECK(s != NULL && strcmp(s->name, expected[i].name) == 0);
        CHECK(s->value == expected[i].value && s->size == expected[i].size);
        CHECK(s->kind == expected[i].kind && s->memory == expected[i].memory);
        CHECK(s->global == expected[i].global && s->for_host == expected[i].for_host);
    }
    CHECK(dpu_elf_find(&elf, "undefined") == NULL && dpu_elf_find(&elf, "") == NULL);
    CHECK(elf.known[DPU_ELF_KNOWN_STDOUT_STATE] == dpu_elf_find(&elf, "__stdout_buffer_state"));
    CHECK(elf.known[DPU_ELF_KNOWN_MCOUNT] == NULL);
    dpu_elf_close_image(&elf);
    free(image);
}

static void check_code(const struct dpu_elf *elf, uint32_t pc, const char *name, uint32_t expected)
{
    uint32_t offset = 77;
    const struct dpu_elf_symbol *s = dpu_elf_find_code(elf, pc, &offset);
    CHECK(s != NULL && strcmp(s->name, name) == 0);
    CHECK(offset == expected);
    CHECK(dpu_elf_find_code(elf, pc, NULL) == s);
}

static void test_code(void)
{
    struct dpu_program p;
    struct dpu_elf elf;
    size_t size;
    make_program(&p);
    uint8_t *image = dpu_program_image(&p, &size);
    CHECK(dpu_elf_open_image(&elf, image, size) == DPU_ELF_OK);
    check_code(&elf, 0, "start", 0); /* a function rather than a label */
    check_code(&elf, 1, "start", 1);
    check_code(&elf, 2, "main", 0);
    check_code(&elf, 3, "main", 1); /* not the local label */
    check_code(&elf, 4, "main", 2); /* beyond its end, but nothing is nearer */
    check_code(&elf, 5, "last", 0);
    check_code(&elf, 4095, "last", 4090);
    check_code(&elf, UINT32_MAX, "last", UINT32_MAX - 5);
    dpu_elf_close_image(&elf);
    free(image);

    dpu_program_start(&p);
    uint64_t text[4] = {0};
    uint16_t section =
        dpu_program_section(&p, ".text", SHT_PROGBITS, 0x80000000, text, sizeof text);
    dpu_program_segment(&p, section, 0);
    dpu_program_symbol(&p, "late", 0x80000010, 8, STB_GLOBAL, STT_FUNC, section);
    image = dpu_program_image(&p, &size);
    CHECK(dpu_elf_open_image(&elf, image, size) == DPU_ELF_OK);
    uint32_t offset = 77;
    CHECK(dpu_elf_find_code(&elf, 1, &offset) == NULL && offset == 0);
    check_code(&elf, 2, "late", 0);
    CHECK(elf.nr_tasklets == DPU_ELF_TASKLETS_UNKNOWN && elf.chip[0] == '\0');
    dpu_elf_close_image(&elf);
    free(image);
}

/* --- what is wrong --- */

/* Each changes one thing of the program, and says what is then wrong with it. */
#define BROKEN(X) \
    X(NOT_ELF, p->header.e_ident[0] = 'E') \
    X(NOT_32_BIT, p->header.e_ident[EI_CLASS] = ELFCLASS64) \
    X(NOT_LITTLE_ENDIAN, p->header.e_ident[EI_DATA] = ELFDATA2MSB) \
    X(OTHER_MACHINE, p->header.e_machine = EM_386) \
    X(NOT_LINKED, p->header.e_type = ET_REL) \
    X(NO_SEGMENTS, p->nsegments = 0) \
    X(NO_SEGMENTS, for (size_t i = 0; i < p->nsegments; i++) p->segment[i].p_type = PT_NOTE) \
    X(HEADERS_OUTSIDE_FILE, p->header.e_phentsize = 31) \
    X(HEADERS_OUTSIDE_FILE, p->header.e_phentsize = 0xffff) \
    X(SEGMENT_OUTSIDE_FILE, p->segment[S_MRAM].p_offset = 0x7fffff00) \
    X(SEGMENT_OUTSIDE_FILE, p->segment[S_MRAM].p_filesz = p->segment[S_MRAM].p_memsz = 0xfff) \
    X(SEGMENT_TOO_LONG, p->segment[S_DATA].p_memsz = 15) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_DATA].p_memsz = 0x40001) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_DATA].p_vaddr = 0x40000) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_HOST].p_vaddr = 0x07fffffc) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_MRAM].p_vaddr = 0x0bfffff8) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_TEXT].p_memsz = 0x8008) \
    X(SEGMENT_OUTSIDE_MEMORY, p->segment[S_TEXT].p_vaddr = 0x80007fd8) \
    X(SEGMENT_MISALIGNED, p->segment[S_TEXT].p_vaddr = 0x80000004) \
    X(SEGMENT_MISALIGNED, p->segment[S_TEXT].p_filesz = p->segment[S_TEXT].p_memsz = 44) \
    X(SECTIONS_OUTSIDE_FILE, p->header.e_shentsize = 39) \
    X(SECTIONS_OUTSIDE_FILE, p->header.e_shentsize = 0xffff) \
    X(NO_SECTION_NAMES, p->header.e_shstrndx = 99) \
    X(NO_SECTION_NAMES, p->header.e_shstrndx = TEXT) \
    X(NO_SECTION_NAMES, p->section[DPU_SECTION_SHSTRTAB].sh_size = 0xffffff) \
    X(NO_SECTION_NAMES, p->section[DPU_SECTION_SHSTRTAB].sh_size = 3) \
    X(NO_SYMBOL_TABLE, p->section[DPU_SECTION_SYMTAB].sh_type = SHT_PROGBITS) \
    X(NO_SYMBOL_TABLE, p->nsections = 0) \
    X(SECTIONS_OUTSIDE_FILE, p->section[DPU_SECTION_SYMTAB].sh_size = 0xfffffff0) \
    X(SECTIONS_OUTSIDE_FILE, p->section[DPU_SECTION_STRTAB].sh_size = 0xffffff) \
    X(SYMBOLS_MALFORMED, p->section[DPU_SECTION_STRTAB].sh_size = 5) \
    X(SYMBOLS_MALFORMED, p->section[DPU_SECTION_SYMTAB].sh_entsize = 24) \
    X(SYMBOLS_MALFORMED, p->section[DPU_SECTION_SYMTAB].sh_link = 99) \
    X(SYMBOLS_MALFORMED, p->symbols.data[2 * sizeof(Elf32_Sym) + 2] = 0x7f)

static void test_broken_files(void)
{
    struct dpu_program program, *p = &program;
    make_program(p);
    CHECK(status_of(p) == DPU_ELF_OK);
#define X(status, statement) \
    make_program(p); \
    statement; \
    CHECK(status_of(p) == DPU_ELF_##status);
    BROKEN(X)
#undef X
}

/* Files that are allowed, though it may look odd. */
static void test_odd_files(void)
{
    struct dpu_program program, *p = &program;
    make_program(p); /* to the last byte of each memory */
    p->segment[S_TEXT].p_memsz = 0x8000;
    p->segment[S_DATA].p_memsz = 0x40000;
    p->segment[S_HOST].p_vaddr = 0x3fff8;
    p->segment[S_MRAM].p_vaddr = 0x0bfffff4;
    CHECK(status_of(p) == DPU_ELF_OK);
    make_program(p); /* registers of a core dump, atomic bits, nothing at all */
    p->segment[S_HOST].p_vaddr = 0xa0000000;
    p->segment[S_MRAM].p_vaddr = 0xf00000c8;
    p->segment[S_DATA].p_memsz = p->segment[S_DATA].p_filesz = 0;
    p->segment[S_DATA].p_offset = 0x70000000;
    CHECK(status_of(p) == DPU_ELF_OK);
    make_program(p); /* one byte too few for another symbol */
    p->section[DPU_SECTION_SYMTAB].sh_size = (uint32_t)p->symbols.size - 1;
    CHECK(status_of(p) == DPU_ELF_OK);
    make_program(p); /* symbols of sections that do not exist; more than 255 tasklets */
    dpu_program_symbol(p, "lost", 5, 0, STB_GLOBAL, STT_OBJECT, 77);
    p->symbols.data[12 * sizeof(Elf32_Sym) + 6] = 1;
    CHECK(status_of(p) == DPU_ELF_OK);
}

static void test_attributes(void)
{
    static const struct {
        const char *data;
        uint32_t size;
        const char *chip;
    } cases[] = {
        {"", 0, ""},
        {"B", 1, ""},
        {"A", 1, ""},
        {"A\x05\0\0", 4, ""},
        {"A\xff\xff\xff\xffupmem\0\x01", 12, ""},
        {"A\x03\0\0\0upmem\0\x01", 12, ""},
        {"A\x14\0\0\0upmem\0\x01\x0a\0\0\0\x05v1A\0", 21, "v1A"},
        {"A\x14\0\0\0upmem\0\x02\x0a\0\0\0\x05v1A\0", 21, ""}, /* of a section, not the file */
        {"A\x14\0\0\0other\0\x01\x0a\0\0\0\x05v1A\0", 21, ""},
        {"A\x13\0\0\0upmem\0\x01\x09\0\0\0\x05v1A", 20, ""},   /* no end */
        {"A\x14\0\0\0upmem\0\x01\x0b\0\0\0\x05v1A\0", 21, ""}, /* beyond its subsection */
        {"A\x22\0\0\0upmem\0\x01\x18\0\0\0\x05v1A-and-much-more\0", 35, ""},
        {"A\x14\0\0\0upmem\0\x81\0\x0a\0\0\0\x05v1\0", 21, "v1"}, /* a long 1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dpu_program p;
        struct dpu_elf elf;
        size_t size;
        dpu_program_start(&p);
        uint16_t text = dpu_program_section(&p, ".text", SHT_PROGBITS, 0x80000000, "1234567", 8);
        dpu_program_segment(&p, text, 0);
        dpu_program_section(&p, ".dpu.attributes", SHT_LOPROC + 3, 0, cases[i].data, cases[i].size);
        uint8_t *image = dpu_program_image(&p, &size);
        CHECK(dpu_elf_open_image(&elf, image, size) == DPU_ELF_OK);
        CHECK(strcmp(elf.chip, cases[i].chip) == 0);
        dpu_elf_close_image(&elf);
        free(image);
    }
}

/* Wherever a file is cut off, it is noticed; behind the headers a section is missing. */
static void test_truncated_files(void)
{
    struct dpu_program p;
    struct dpu_elf elf;
    size_t size;
    make_program(&p);
    uint8_t *whole = dpu_program_image(&p, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *image = malloc(cut > 0 ? cut : 1);
        CHECK(image != NULL);
        memcpy(image, whole, cut);
        enum dpu_elf_status status = dpu_elf_open_image(&elf, image, cut);
        if (cut < sizeof(Elf32_Ehdr))
            CHECK(status == DPU_ELF_NOT_ELF);
        else if (cut < p.header.e_shoff)
            CHECK(status == DPU_ELF_HEADERS_OUTSIDE_FILE);
        else
            CHECK(dpu_elf_status_class(status) == DPU_ELF_CLASS_NO_SECTION);
        free(image);
    }
    CHECK(dpu_elf_open_image(&elf, NULL, 0) == DPU_ELF_NOT_ELF);
    free(whole);
}

static void test_without_memory(void)
{
    struct dpu_program p;
    struct dpu_elf elf;
    size_t size;
    make_program(&p);
    uint8_t *image = dpu_program_image(&p, &size);
    long needed = 0;
    for (;; needed++) {
        allocations_left = needed;
        enum dpu_elf_status status = dpu_elf_open_image(&elf, image, size);
        allocations_left = -1;
        if (status == DPU_ELF_OK)
            break;
        CHECK(status == DPU_ELF_NO_MEMORY);
        CHECK(dpu_elf_status_class(status) == DPU_ELF_CLASS_SYSTEM);
    }
    CHECK(needed == 3);
    dpu_elf_close_image(&elf);
    free(image);
}

static void test_texts(void)
{
    for (int i = 0; i <= DPU_ELF_SYMBOLS_MALFORMED; i++) {
        enum dpu_elf_status status = (enum dpu_elf_status)i;
        CHECK(strlen(dpu_elf_status_text(status)) > 10);
        CHECK((dpu_elf_status_class(status) == DPU_ELF_CLASS_OK) == (status == DPU_ELF_OK));
    }
    CHECK(strcmp(dpu_elf_status_name(DPU_ELF_NOT_ELF), "NOT_ELF") == 0);
    enum dpu_elf_status none = (enum dpu_elf_status)999;
    CHECK(strcmp(dpu_elf_status_name(none), "UNKNOWN") == 0 && dpu_elf_status_text(none) != NULL);
    CHECK(dpu_elf_status_class(none) == DPU_ELF_CLASS_SYSTEM);
}

int main(void)
{
    test_segments();
    test_symbols();
    test_code();
    test_broken_files();
    test_odd_files();
    test_attributes();
    test_truncated_files();
    test_without_memory();
    test_texts();
    return 0;
}
