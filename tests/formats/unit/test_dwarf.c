/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * build: csrc/formats/dwarf*.c
 *
 * Which function the signature reader finds in debug information written by hand, in what no
 * compiler at hand emits and what none should. Types, parameters and forms have tests of their
 * own; real files are read in tests/formats/unit/test_dwarf_matrix.py.
 */
/* clang-format on */
#include <stdbool.h>

#include "dwarf_builder.h"

/* --- which function --- */

/* Functions at VADDR by each of the attributes that may say so. */
static void entry_addresses(void)
{
    struct dwarf_file f;
    for (int kind = 0; kind < 5; kind++) {
        uint16_t version = kind == 4 ? 5 : 4;
        dw_begin(&f, version, LANG_CPP);
        static const uint64_t forms[][4] = {
            {AT_entry_pc, FORM_addr, AT_unknown, FORM_data1},
            {AT_low_pc, FORM_addr, AT_entry_pc, FORM_data1},
            {AT_ranges, FORM_sec_offset, AT_unknown, FORM_data1},
            {AT_ranges, FORM_data4, AT_unknown, FORM_data1},
            {AT_ranges, FORM_sec_offset, AT_unknown, FORM_data1},
        };
        ABBREV(&f, OWN, TAG_subprogram, 0, forms[kind][0], forms[kind][1], forms[kind][2],
               forms[kind][3], AT_type, FORM_ref4);
        uint32_t type = dw_base(&f, "float", ATE_float, 4);
        DIE(&f, OWN);
        struct bytes *b = dw_info(&f);
        if (kind < 2) {
            bytes_number(b, kind == 0 ? VADDR : VADDR - 16, 8);
            bytes_number(b, 16, 1);
        } else {
            struct bytes *r =
                elf_section(&f.elf, version == 5 ? ".debug_rnglists" : ".debug_ranges");
            bytes_string(r, "something");
            bytes_number(b, r->size, 4);
            bytes_number(b, 0, 1);
            if (kind == 4) {
                bytes_number(r, 6, 1); /* start_end */
                bytes_number(r, 0x9000, 8);
                bytes_number(r, 0x9010, 8);
                bytes_number(r, 5, 1); /* base_address */
                bytes_number(r, VADDR - 8, 8);
                bytes_number(r, 4, 1); /* offset_pair */
                ULEBS(r, 8, 16);
                bytes_number(r, 0, 1);
            } else {
                bytes_number(r, 0x9000, 8);
                bytes_number(r, 0x9010, 8);
                bytes_number(r, UINT64_MAX, 8);
                bytes_number(r, VADDR - 8, 8);
                bytes_number(r, 8, 8);
                bytes_number(r, 16, 8);
                bytes_number(r, 0, 8);
                bytes_number(r, 0, 8);
            }
        }
        bytes_number(b, type, 4);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, "f()");
    }
}

/* Every kind of entry in a range list of DWARF 5, by index of the list. */
static void range_lists(void)
{
    for (uint8_t kind = 2; kind <= 7; kind++) {
        struct dwarf_file f = {0};
        if (kind == 5)
            continue;
        dw_vocabulary(&f);
        ABBREV(&f, OWN, TAG_unit, 1, AT_rnglists_base, FORM_sec_offset, AT_addr_base,
               FORM_sec_offset);
        ABBREV(&f, OWN + 1, TAG_subprogram, 0, AT_ranges, FORM_rnglistx, AT_prototyped,
               FORM_flag_present);
        struct bytes *addresses = elf_section(&f.elf, ".debug_addr");
        bytes_number(addresses, 0, 8);
        bytes_number(addresses, VADDR, 8);
        bytes_number(addresses, VADDR + 1, 8);
        struct bytes *r = elf_section(&f.elf, ".debug_rnglists");
        bytes_string(r, "header");
        size_t base = r->size;
        bytes_number(r, 0, 4);
        bytes_number(r, 8, 4);
        bytes_number(r, kind == 4 ? 1 : kind, 1); /* base_addressx before a pair */
        if (kind == 2) {
            ULEBS(r, 1, 2);
        } else if (kind == 3) {
            ULEBS(r, 1, 400);
        } else if (kind == 4) {
            ULEBS(r, 1);
            bytes_number(r, 4, 1);
            ULEBS(r, 0, 300);
        } else {
            bytes_number(r, VADDR, 8);
            if (kind == 6)
                bytes_number(r, VADDR + 4, 8);
            else
                ULEBS(r, 4);
        }
        bytes_number(r, 0, 1);
        dw_unit(&f, 5, 4);
        DIE(&f, OWN);
        bytes_number(dw_info(&f), base, 4);
        bytes_number(dw_info(&f), 0, 4);
        DIE(&f, OWN + 1, 1);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, "v()");
    }
}

static void functions_that_share_an_address_are_told_apart_by_name(void)
{
    struct dwarf_file f;
    for (int named = 0; named < 2; named++) {
        dw_begin(&f, 4, LANG_C99);
        uint32_t i = dw_base(&f, "int", ATE_signed, 4), l = dw_base(&f, "long", ATE_signed, 8);
        dw_function(&f, "g", VADDR, i);
        dw_close(&f);
        dw_function(&f, named ? "f" : "h", VADDR, l);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, named ? "l()" : "i()");
    }
}

static void without_an_address_the_name_counts(void)
{
    struct dwarf_file f;
    enum { EXTERNAL, STATIC, DECLARATION, LINKAGE, OTHER_LINKAGE };
    for (int kind = EXTERNAL; kind <= OTHER_LINKAGE; kind++) {
        dw_begin(&f, 4, LANG_CPP);
        ABBREV(&f, OWN, TAG_subprogram, 0, AT_name, FORM_string, AT_type, FORM_ref4,
               kind == STATIC ? AT_unknown : AT_external, FORM_flag_present,
               kind == DECLARATION ? AT_declaration : AT_unknown, FORM_flag_present,
               kind >= LINKAGE ? AT_linkage_name : AT_unknown, FORM_string);
        uint32_t type = dw_base(&f, "float", ATE_float, 4);
        DIE(&f, OWN);
        bytes_string(dw_info(&f), kind == LINKAGE ? "plain" : "f");
        bytes_number(dw_info(&f), type, 4);
        bytes_string(dw_info(&f), kind == LINKAGE ? "f" : "_Z1fv");
        dw_close(&f);
        dw_unit_end(&f);
        if (kind == EXTERNAL || kind == LINKAGE)
            EXPECT(&f, DWARF_FOUND, "f()");
        else
            EXPECT(&f, DWARF_NOT_DESCRIBED, "does not describe");
    }
}

static void an_address_beats_a_name(void)
{
    struct dwarf_file f;
    dw_begin(&f, 4, LANG_C99);
    ABBREV(&f, OWN, TAG_subprogram, 0, AT_name, FORM_string, AT_type, FORM_ref4, AT_external,
           FORM_flag_present);
    uint32_t i = dw_base(&f, "int", ATE_signed, 4), l = dw_base(&f, "long", ATE_signed, 8);
    DIE(&f, OWN);
    bytes_string(dw_info(&f), "f");
    bytes_number(dw_info(&f), i, 4);
    dw_function(&f, "elsewhere", VADDR, l);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_FOUND, "l()");
}

/* A concrete instance that kept one parameter of three, its abstract one, and a declaration. */
static void origins_are_followed(void)
{
    struct dwarf_file f;
    dw_begin(&f, 5, LANG_CPP);
    ABBREV(&f, OWN, TAG_subprogram, 1, AT_linkage_name, FORM_string, AT_type, FORM_ref4,
           AT_external, FORM_flag_present, AT_declaration, FORM_flag_present);
    ABBREV(&f, OWN + 1, TAG_subprogram, 1, AT_specification, FORM_ref_addr);
    ABBREV(&f, OWN + 2, TAG_subprogram, 1, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr);
    ABBREV(&f, OWN + 3, TAG_parameter, 0, AT_abstract_origin, FORM_ref4);
    uint32_t d = dw_base(&f, "double", ATE_float, 8), i = dw_base(&f, "int", ATE_signed, 4);
    uint32_t declaration = dw_here(&f);
    DIE(&f, OWN);
    bytes_string(dw_info(&f), "f");
    bytes_number(dw_info(&f), d, 4);
    dw_close(&f);
    uint32_t abstract = dw_here(&f);
    DIE(&f, OWN + 1);
    bytes_number(dw_info(&f), declaration, 4); /* the unit is the first: offsets are the same */
    dw_reference(&f, A_PARAMETER, d);
    uint32_t middle = dw_here(&f);
    dw_reference(&f, A_PARAMETER, i);
    dw_reference(&f, A_PARAMETER, d);
    dw_close(&f);
    DIE(&f, OWN + 2);
    bytes_number(dw_info(&f), abstract, 4);
    bytes_number(dw_info(&f), VADDR, 8);
    dw_reference(&f, OWN + 3, middle);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_FOUND, "d(did)");
}

static void another_calling_convention_is_refused(void)
{
    struct dwarf_file f;
    for (uint64_t convention = 1; convention <= 3; convention += 2) {
        dw_begin(&f, 5, LANG_CPP);
        ABBREV(&f, OWN, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_calling_convention, FORM_data1,
               AT_decl_line, FORM_data1);
        DIE(&f, OWN);
        bytes_number(dw_info(&f), VADDR, 8);
        bytes_number(dw_info(&f), convention | 1 << 8, 2);
        dw_close(&f);
        dw_unit_end(&f);
        if (convention == 1)
            EXPECT(&f, DWARF_FOUND, "v()");
        else
            EXPECT(&f, DWARF_UNSUPPORTED, "calling convention");
    }
}

/* --- units --- */

static void types_in_other_units(void)
{
    for (int kind = 0; kind < 4; kind++) {
        struct dwarf_file f = {0};
        bool version5 = kind == 1;
        dw_vocabulary(&f);
        ABBREV(&f, OWN, TAG_type_unit, 1, AT_language, FORM_data2);
        ABBREV(&f, OWN + 1, TAG_parameter, 0, AT_type,
               kind <= 1   ? FORM_ref_sig8
               : kind == 2 ? FORM_ref_addr
                           : FORM_GNU_ref_alt);
        struct bytes *b = kind == 0 ? elf_section(&f.elf, ".debug_types") : dw_info(&f);
        size_t type_at = 0;
        for (uint64_t signature = 7; signature <= 9; signature++) {
            if (kind == 2) {
                dw_unit(&f, 4, 4);
                DIE(&f, A_UNIT);
                bytes_number(b, LANG_C99, 2);
                type_at = b->size;
            } else {
                f.unit_start = b->size;
                f.offset_size = 4;
                bytes_number(b, 0, 4);
                bytes_number(b, version5 ? 5 : 4, 2);
                if (version5)
                    bytes_number(b, 0x0802, 2);
                bytes_number(b, 0, 4);
                if (!version5)
                    bytes_number(b, 8, 1);
                bytes_number(b, signature, 8);
                bytes_number(b, b->size + 4 + 3 - f.unit_start, 4);
                ULEBS(b, OWN);
                bytes_number(b, LANG_C99, 2);
            }
            ULEBS(b, A_BASE);
            bytes_string(b, "t");
            bytes_number(b, ATE_float, 1);
            bytes_number(b, signature == 8 ? 8 : 4, 1);
            ULEBS(b, 0);
            dw_unit_end_in(&f, b);
            if (kind == 2 && signature == 8)
                break;
        }
        dw_unit(&f, 4, 4);
        DIE(&f, A_UNIT);
        bytes_number(dw_info(&f), LANG_C99, 2);
        dw_function(&f, "f", VADDR, 0);
        DIE(&f, OWN + 1);
        bytes_number(dw_info(&f), kind <= 1 ? 8 : type_at, kind <= 1 ? 8 : 4);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        if (kind < 3)
            EXPECT(&f, DWARF_FOUND, "v(d)");
        else
            EXPECT(&f, DWARF_UNSUPPORTED, "dwz");
    }
}

static void other_units_do_not_matter(void)
{
    struct dwarf_file f = {0};
    dw_vocabulary(&f);
    ABBREV(&f, OWN, TAG_unit, 0, AT_dwo_name, FORM_string);
    bytes_number(dw_info(&f), 0, 4); /* padding */
    dw_unit(&f, 9, 4);               /* a version of the future */
    dw_unit_end(&f);
    dw_unit(&f, 4, 4); /* split */
    DIE(&f, OWN);
    bytes_string(dw_info(&f), "a.dwo");
    dw_unit_end(&f);
    dw_unit(&f, 4, 4); /* an abbreviation that does not exist */
    DIE(&f, 999);
    dw_unit_end(&f);
    dw_unit(&f, 3, 8);
    DIE(&f, A_UNIT);
    bytes_number(dw_info(&f), LANG_C99, 2);
    dw_function(&f, "f", VADDR, 0);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    bytes_number(dw_info(&f), 0x7fffffff, 4); /* a unit beyond the section */
    EXPECT(&f, DWARF_FOUND, "v()");
}

static void split_units_are_reported(void)
{
    struct dwarf_file f = {0};
    ABBREV(&f, OWN, TAG_skeleton, 0, AT_dwo_name, FORM_string);
    dw_unit(&f, 4, 4);
    DIE(&f, OWN);
    bytes_string(dw_info(&f), "a.dwo");
    dw_unit_end(&f);
    EXPECT(&f, DWARF_UNSUPPORTED, ".dwo");
}

static void a_unit_is_skipped_only_if_it_says_so_clearly(void)
{
    static const struct {
        uint64_t low, high;
        uint16_t version;
        bool found;
    } cases[] = {
        {VADDR, 1, 4, true},      {VADDR - 1, 2, 4, true},  {VADDR - 64, 4096, 4, true},
        {VADDR - 1, 1, 4, false}, {VADDR + 1, 9, 4, false}, {0, 0, 4, true}, /* nothing said */
        {VADDR + 1, 9, 2, true}, /* may be the limits of a part */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dwarf_file f = {0};
        dw_vocabulary(&f);
        ABBREV(&f, OWN, TAG_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data8);
        dw_unit(&f, cases[i].version, 4);
        DIE(&f, OWN);
        bytes_number(dw_info(&f), cases[i].low, 8);
        bytes_number(dw_info(&f), cases[i].high, 8);
        dw_function(&f, "f", VADDR, 0);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, cases[i].found ? DWARF_FOUND : DWARF_NOT_DESCRIBED,
               cases[i].found ? "v()" : "does not describe");
    }
}

/* --- ELF --- */

static void good_file(struct dwarf_file *f)
{
    dw_begin(f, 4, LANG_C99);
    uint32_t d = dw_base(f, "double", ATE_float, 8), i = dw_base(f, "int", ATE_signed, 4);
    uint32_t p = dw_here(f);
    DIE(f, A_POINTER);
    dw_function(f, "f", VADDR, d);
    dw_reference(f, A_PARAMETER, i);
    dw_reference(f, A_PARAMETER, p);
    DIE(f, A_ELLIPSIS);
    dw_close(f);
    dw_close(f);
    dw_unit_end(f);
}

static void rename_info(struct dwarf_file *f, const char *name)
{
    for (size_t i = 0; i < f->elf.nsections; i++)
        if (strcmp(f->elf.section[i].name, ".debug_info") == 0)
            memcpy(f->elf.section[i].name, name, strlen(name) + 1);
}

static void files_of_other_kinds(void)
{
    struct dwarf_file f;
    good_file(&f);
    EXPECT(&f, DWARF_FOUND, "d(ip...)");
    good_file(&f);
    f.elf.type = ET_EXEC;
    EXPECT(&f, DWARF_FOUND, "d(ip...)");
    good_file(&f);
    f.elf.type = ET_REL;
    EXPECT(&f, DWARF_UNSUPPORTED, "not a shared object");
    good_file(&f);
    f.elf.machine = 183; /* AArch64 */
    EXPECT(&f, DWARF_MALFORMED, "another machine (ELF number 183)");
    good_file(&f);
    rename_info(&f, ".zdebug_info");
    EXPECT(&f, DWARF_UNSUPPORTED, "compressed debug information");
    good_file(&f);
    for (size_t i = 0; i < f.elf.nsections; i++)
        f.elf.section[i].flags = SHF_COMPRESSED;
    EXPECT(&f, DWARF_UNSUPPORTED, "compressed debug information");
    good_file(&f);
    for (size_t i = 0; i < f.elf.nsections; i++)
        f.elf.section[i].type = SHT_NOBITS;
    EXPECT(&f, DWARF_NO_DEBUG_INFO, "compile with -g");
    good_file(&f);
    rename_info(&f, ".info");
    EXPECT(&f, DWARF_NO_DEBUG_INFO, "compile with -g");
    f = (struct dwarf_file){0};
    elf_section(&f.elf, ".text");
    EXPECT(&f, DWARF_NO_DEBUG_INFO, "compile with -g");

    struct dwarf_signature s;
    char why[DWARF_WHY];
    good_file(&f);
    size_t size;
    uint8_t *image = elf_image(&f.elf, &size);
    uint64_t too_long = size;
    for (size_t i = 1; i <= f.elf.nsections; i++) {
        Elf64_Ehdr eh;
        memcpy(&eh, image, sizeof eh);
        uint8_t *field =
            image + eh.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
        uint64_t was;
        memcpy(&was, field, sizeof was);
        memcpy(field, &too_long, sizeof was);
        CHECK(dwarf_find_signature(NULL, image, size, VADDR, "f", &s, why) == DWARF_MALFORMED);
        CHECK(strstr(why, "beyond the file") != NULL);
        memcpy(field, &was, sizeof was);
    }
    CHECK(dwarf_find_signature(NULL, image, size, VADDR, "f", &s, why) == DWARF_FOUND);
    free(image);
    elf_free(&f.elf);
    CHECK(dwarf_find_signature(NULL, (const uint8_t *)"", 0, VADDR, "f", &s, why) ==
          DWARF_MALFORMED);
    CHECK(dwarf_find_signature(NULL, (const uint8_t *)"#!/bin/sh\n", 10, VADDR, NULL, &s, why) ==
          DWARF_MALFORMED);
}

/* A second lookup does not walk through the functions again, and so not over a damaged one. */
static void what_was_read_of_a_file_serves_later_lookups(void)
{
    enum { DAMAGED = 0x7f };
    struct dwarf_file f = {0};
    struct dwarf_signature s;
    char why[DWARF_WHY];
    size_t size, at = 0;
    dw_begin(&f, 4, LANG_C99);
    uint32_t real = dw_base(&f, "double", ATE_float, 8);
    dw_function(&f, "other", VADDR + 16, 0);
    dw_close(&f);
    dw_function(&f, "f", VADDR, real);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    uint8_t *image = elf_image(&f.elf, &size);
    while (at + 6 < size && memcmp(image + at + 1, "other", 6) != 0)
        at++;
    CHECK(at + 6 < size);

    struct dwarf_index *index = dwarf_index_new();
    CHECK(index != NULL);
    CHECK(dwarf_find_signature(index, image, size, VADDR + 16, "other", &s, why) == DWARF_FOUND);
    CHECK(s.ret == 'v');
    image[at] = DAMAGED;
    CHECK(dwarf_find_signature(NULL, image, size, VADDR, "f", &s, why) == DWARF_MALFORMED);
    for (int i = 0; i < 2; i++) {
        CHECK(dwarf_find_signature(index, image, size, VADDR, "f", &s, why) == DWARF_FOUND);
        CHECK(s.ret == 'd' && s.nargs == 0);
        CHECK(dwarf_find_signature(index, image, size, VADDR + 8, "h", &s, why) ==
              DWARF_NOT_DESCRIBED);
    }
    dwarf_index_free(index);
    free(image);
    elf_free(&f.elf);
}

/* The image in a block of its own, so that any read outside it is seen by the sanitizer. */
static void read_damaged(const uint8_t *image, size_t size)
{
    struct dwarf_signature s;
    char why[DWARF_WHY];
    uint8_t *copy = malloc(size != 0 ? size : 1);
    CHECK(copy != NULL);
    memcpy(copy, image, size);
    enum dwarf_lookup got = dwarf_find_signature(NULL, copy, size, VADDR, "f", &s, why);
    CHECK(got >= DWARF_FOUND && got <= DWARF_MALFORMED);
    CHECK((got == DWARF_FOUND) == (why[0] == '\0'));
    CHECK(strlen(s.args) == s.nargs);
    free(copy);
}

static void damaged_files_are_read_without_harm(uint64_t *random)
{
    struct dwarf_file f;
    good_file(&f);
    size_t size;
    uint8_t *image = elf_image(&f.elf, &size);
    for (size_t length = 0; length < size; length++)
        read_damaged(image, length);
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < size; at++) {
        uint8_t was = image[at];
        for (size_t i = 0; i < sizeof values; i++) {
            image[at] = values[i];
            read_damaged(image, size);
        }
        image[at] = (uint8_t)check_random(random);
        read_damaged(image, size);
        image[at] = was;
    }
    free(image);
    elf_free(&f.elf);
}

int main(void)
{
    uint64_t random = check_seed(20240612);
    entry_addresses();
    range_lists();
    functions_that_share_an_address_are_told_apart_by_name();
    what_was_read_of_a_file_serves_later_lookups();
    without_an_address_the_name_counts();
    an_address_beats_a_name();
    origins_are_followed();
    another_calling_convention_is_refused();
    types_in_other_units();
    other_units_do_not_matter();
    split_units_are_reported();
    a_unit_is_skipped_only_if_it_says_so_clearly();
    files_of_other_kinds();
    damaged_files_are_read_without_harm(&random);
    puts("ok");
    return 0;
}
