/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * build: csrc/formats/dwarf*.c -Wl,--wrap=realloc
 *
 * The encodings that DIEs are read by: forms, abbreviations, indices; and the limit to the work.
 */
/* clang-format on */
#include <stdbool.h>

#include "dwarf_builder.h"

/* The builder uses realloc() as well: only while the reader runs, and if told so, does it fail. */
static bool no_memory;
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
    return no_memory ? NULL : __real_realloc(p, size);
}

/* --- forms --- */

/* A DIE with an attribute of each form that a version knows, before the ones that matter. */
static void every_form_has_its_length(void)
{
    for (uint16_t version = 2; version <= 5; version++) {
        for (uint8_t offset_size = 4; offset_size <= 8; offset_size += 4) {
            struct dwarf_file f = {0};
            const struct {
                uint64_t form;
                size_t size; /* 0: something of its own */
            } forms[] = {
                {FORM_addr, 8},
                {FORM_block2, 0},
                {FORM_block4, 0},
                {FORM_data2, 2},
                {FORM_data4, 4},
                {FORM_data8, 8},
                {FORM_string, 0},
                {FORM_block, 0},
                {FORM_block1, 0},
                {FORM_data1, 1},
                {FORM_flag, 1},
                {FORM_sdata, 0},
                {FORM_strp, offset_size},
                {FORM_udata, 0},
                {FORM_ref_addr, version == 2 ? 8 : offset_size},
                {FORM_ref1, 1},
                {FORM_ref2, 2},
                {FORM_ref4, 4},
                {FORM_ref8, 8},
                {FORM_ref_udata, 0},
                {FORM_indirect, 0},
                {FORM_sec_offset, offset_size},
                {FORM_exprloc, 0},
                {FORM_flag_present, 0},
                {FORM_strx, 0},
                {FORM_addrx, 0},
                {FORM_ref_sup4, 4},
                {FORM_strp_sup, offset_size},
                {FORM_data16, 16},
                {FORM_line_strp, offset_size},
                {FORM_ref_sig8, 8},
                {FORM_implicit_const, 0},
                {FORM_loclistx, 0},
                {FORM_rnglistx, 0},
                {FORM_ref_sup8, 8},
                {FORM_strx1, 1},
                {FORM_strx2, 2},
                {FORM_strx3, 3},
                {FORM_strx4, 4},
                {FORM_addrx1, 1},
                {FORM_addrx2, 2},
                {FORM_addrx3, 3},
                {FORM_addrx4, 4},
                {FORM_GNU_addr_index, 0},
                {FORM_GNU_str_index, 0},
                {FORM_GNU_ref_alt, offset_size},
                {FORM_GNU_strp_alt, offset_size},
            };
            size_t nforms = sizeof forms / sizeof *forms;
            dw_vocabulary(&f);
            ULEBS(dw_abbrevs(&f), OWN, TAG_subprogram);
            bytes_number(dw_abbrevs(&f), 1, 1);
            for (size_t i = 0; i < nforms; i++) {
                ULEBS(dw_abbrevs(&f), AT_unknown + i, forms[i].form);
                if (forms[i].form == FORM_implicit_const)
                    ULEBS(dw_abbrevs(&f), 12345);
            }
            ULEBS(dw_abbrevs(&f), AT_low_pc, FORM_addr, AT_type, FORM_ref4, AT_prototyped,
                  FORM_flag_present, 0, 0);

            dw_unit(&f, version, offset_size);
            DIE(&f, A_UNIT);
            bytes_number(dw_info(&f), LANG_C99, 2);
            uint32_t type = dw_base(&f, "float", ATE_float, 4);
            DIE(&f, OWN);
            struct bytes *info = dw_info(&f);
            static const uint8_t filler[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                               9, 10, 11, 12, 13, 14, 15, 16};
            for (size_t i = 0; i < nforms; i++) {
                switch (forms[i].form) {
                case FORM_block1:
                case FORM_block2:
                case FORM_block4:
                    bytes_number(info, 5,
                                 forms[i].form == FORM_block1   ? 1
                                 : forms[i].form == FORM_block2 ? 2
                                                                : 4);
                    bytes_add(info, filler, 5);
                    break;
                case FORM_block:
                case FORM_exprloc:
                    ULEBS(info, 9);
                    bytes_add(info, filler, 9);
                    break;
                case FORM_string: bytes_string(info, "text"); break;
                case FORM_indirect:
                    ULEBS(info, FORM_data2);
                    bytes_add(info, filler, 2);
                    break;
                case FORM_flag_present:
                case FORM_implicit_const: break;
                default:
                    if (forms[i].size > 0)
                        bytes_add(info, filler, forms[i].size);
                    else
                        ULEBS(info, UINT64_C(1) << 40);
                }
            }
            bytes_number(info, VADDR, 8);
            bytes_number(info, type, 4);
            dw_reference(&f, A_PARAMETER, type);
            dw_close(&f);
            dw_close(&f);
            dw_unit_end(&f);
            EXPECT(&f, DWARF_FOUND, "f(f)");
        }
    }
}

static void an_unknown_form_is_not_guessed(void)
{
    struct dwarf_file f;
    static const uint64_t forms[] = {0, 0x02, 0x2d, 0x7777, 0x10001, UINT64_MAX};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        dw_begin(&f, 5, LANG_C99);
        ABBREV(&f, OWN, TAG_base, 0, AT_unknown, forms[i]);
        DIE(&f, OWN);
        dw_function(&f, "f", VADDR, 0);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_MALFORMED, "cannot be read");
    }
}

static void names_and_addresses_by_index(void)
{
    struct dwarf_file f = {0};
    dw_vocabulary(&f);
    ABBREV(&f, OWN, TAG_unit, 1, AT_str_offsets_base, FORM_sec_offset, AT_addr_base,
           FORM_sec_offset);
    ABBREV(&f, OWN + 1, TAG_subprogram, 0, AT_name, FORM_strx1, AT_low_pc, FORM_addrx,
           AT_prototyped, FORM_flag_present);
    struct bytes *strings = elf_section(&f.elf, ".debug_str");
    bytes_string(strings, "not this one");
    size_t name = strings->size;
    bytes_string(strings, "f");
    struct bytes *offsets = elf_section(&f.elf, ".debug_str_offsets");
    bytes_string(offsets, "a header, say");
    size_t offsets_base = offsets->size;
    bytes_number(offsets, 0, 4);
    bytes_number(offsets, name, 4);
    struct bytes *addresses = elf_section(&f.elf, ".debug_addr");
    bytes_string(addresses, "header");
    size_t addresses_base = addresses->size;
    bytes_number(addresses, 1, 8);
    bytes_number(addresses, 2, 8);
    bytes_number(addresses, VADDR, 8);
    dw_unit(&f, 5, 4);
    DIE(&f, OWN);
    bytes_number(dw_info(&f), offsets_base, 4);
    bytes_number(dw_info(&f), addresses_base, 4);
    DIE(&f, OWN + 1, 1, 2);
    DIE(&f, OWN + 1, 1, 3); /* beyond the table */
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_FOUND, "v()");
}

/* --- abbreviations --- */

static void an_unknown_abbreviation_is_not_guessed(void)
{
    static const uint64_t codes[] = {OWN - 1, 127, 128, 65535, 65536, UINT64_MAX};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct dwarf_file f = {0};
        /* Reads as an abbreviation also from its code on, as if that were the tag. */
        ABBREV(&f, 36, 0, 0, );
        dw_vocabulary(&f);
        dw_unit(&f, 4, 4);
        DIE(&f, A_UNIT);
        bytes_number(dw_info(&f), LANG_C99, 2);
        DIE(&f, codes[i]);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_MALFORMED, "cannot be read");
    }
}

static void large_abbreviation_codes_and_no_memory(void)
{
    struct dwarf_file f;
    struct dwarf_signature s;
    char why[DWARF_WHY];
    for (int lacking = 0; lacking < 2; lacking++) {
        dw_begin(&f, 4, LANG_C99);
        ABBREV(&f, 70000, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_prototyped,
               FORM_flag_present);
        ABBREV(&f, UINT64_MAX, TAG_base, 0, );
        DIE(&f, UINT64_MAX, 70000);
        bytes_number(dw_info(&f), VADDR, 8);
        dw_close(&f);
        dw_unit_end(&f);
        size_t size;
        uint8_t *image = elf_image(&f.elf, &size);
        no_memory = lacking;
        enum dwarf_lookup got = dwarf_find_signature(NULL, image, size, VADDR, NULL, &s, why);
        no_memory = false;
        CHECK(got == DWARF_FOUND && s.ret == 'v' && s.nargs == 0);
        free(image);
        elf_free(&f.elf);
    }
}

/* Many DIEs of a byte each, with many attributes of none: work must not grow with the product. */
static void work_is_bounded(void)
{
    struct dwarf_file f;
    dw_begin(&f, 5, LANG_C99);
    ULEBS(dw_abbrevs(&f), OWN, TAG_base);
    bytes_number(dw_abbrevs(&f), 0, 1);
    for (int i = 0; i < 20000; i++)
        ULEBS(dw_abbrevs(&f), AT_unknown, FORM_flag_present);
    ULEBS(dw_abbrevs(&f), 0, 0);
    for (int i = 0; i < 20000; i++)
        DIE(&f, OWN);
    dw_function(&f, "f", VADDR, 0);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_MALFORMED, "does not come to an end");
}

/* Many functions whose name is one that takes long to read. */
static void work_on_strings_is_bounded(void)
{
    struct dwarf_file f;
    enum { LONG = 1 << 20 };
    dw_begin(&f, 5, LANG_C99);
    ABBREV(&f, OWN, TAG_subprogram, 0, AT_name, FORM_strp);
    struct bytes *strings = elf_section(&f.elf, ".debug_str");
    for (int i = 0; i < LONG / 8; i++)
        bytes_number(strings, UINT64_C(0x7878787878787878), 8);
    for (int i = 0; i < 20000; i++)
        dw_reference(&f, OWN, 0);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_MALFORMED, "does not come to an end");
}

int main(void)
{
    every_form_has_its_length();
    an_unknown_form_is_not_guessed();
    names_and_addresses_by_index();
    an_unknown_abbreviation_is_not_guessed();
    large_abbreviation_codes_and_no_memory();
    work_is_bounded();
    work_on_strings_is_bounded();
    puts("ok");
    return 0;
}
