/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * build: csrc/formats/dwarf*.c
 *
 * How the signature reader turns types and parameters into letters.
 */
/* clang-format on */
#include <stdbool.h>

#include "dwarf_builder.h"

/* --- types --- */

static void letters_follow_encoding_and_size(void)
{
    static const struct {
        unsigned encoding, size;
        const char *expected;
    } cases[] = {
        {ATE_signed, 1, "v(b)"},  {ATE_unsigned, 1, "v(B)"},
        {ATE_signed, 2, "v(h)"},  {ATE_unsigned, 2, "v(H)"},
        {ATE_signed, 4, "v(i)"},  {ATE_unsigned, 4, "v(I)"},
        {ATE_signed, 8, "v(l)"},  {ATE_unsigned, 8, "v(L)"},
        {ATE_float, 4, "v(f)"},   {ATE_float, 8, "v(d)"},
        {ATE_boolean, 1, "v(B)"}, {6, 1, "v(b)"},
        {8, 1, "v(B)"},           {16, 2, "v(H)"},
        {16, 4, "v(I)"},          {1, 8, "v(p)"},
        {ATE_boolean, 4, "v(I)"},
    };
    struct dwarf_file f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dw_begin(&f, 4, LANG_C99);
        uint32_t type = dw_base(&f, "t", cases[i].encoding, cases[i].size);
        dw_function(&f, "f", VADDR, 0);
        dw_reference(&f, A_PARAMETER, type);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, cases[i].expected);
    }
}

static void what_cannot_be_passed_is_named(void)
{
    static const struct {
        unsigned encoding, size;
    } cases[] = {{ATE_float, 2},  {ATE_float, 16},   {ATE_signed, 16}, {ATE_complex, 8},
                 {ATE_signed, 3}, {ATE_unsigned, 0}, {15, 4},          {0x80, 8}};
    struct dwarf_file f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int result = 0; result < 2; result++) {
            dw_begin(&f, 4, LANG_C99);
            uint32_t fine = dw_base(&f, "int", ATE_signed, 4);
            uint32_t odd = dw_base(&f, "odd one", cases[i].encoding, cases[i].size);
            uint32_t alias = dw_here(&f);
            DIE(&f, A_TYPEDEF);
            bytes_string(dw_info(&f), "alias");
            bytes_number(dw_info(&f), odd, 4);
            dw_function(&f, "f", VADDR, result ? alias : fine);
            dw_reference(&f, A_PARAMETER, fine);
            if (!result)
                dw_reference(&f, A_PARAMETER, alias);
            dw_close(&f);
            dw_close(&f);
            dw_unit_end(&f);
            EXPECT(&f, DWARF_UNSUPPORTED,
                   result ? "the result has type odd one, which"
                          : "parameter 2 has type odd one, which the soft twin cannot pass");
        }
    }
}

static void aggregates_and_hostile_names(void)
{
    struct dwarf_file f;
    dw_begin(&f, 4, LANG_C99);
    uint32_t type = dw_here(&f);
    DIE(&f, A_STRUCT);
    bytes_string(dw_info(&f), "po\033[1m\xff\nnt");
    bytes_number(dw_info(&f), 8, 1);
    dw_function(&f, "f", VADDR, 0);
    dw_reference(&f, A_PARAMETER, type);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_UNSUPPORTED, "parameter 1 has type struct po?[1m??nt, which");

    char name[4000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    dw_begin(&f, 4, LANG_C99);
    type = dw_here(&f);
    DIE(&f, A_STRUCT);
    bytes_string(dw_info(&f), name);
    bytes_number(dw_info(&f), 8, 1);
    dw_function(&f, "f", VADDR, type);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_UNSUPPORTED, "x, which the soft twin cannot return");
}

static void an_old_enumeration_is_signed_if_a_member_is_negative(void)
{
    struct dwarf_file f;
    for (int negative = 0; negative < 2; negative++) {
        dw_begin(&f, 2, LANG_C99);
        ABBREV(&f, OWN, TAG_enumeration, 1, AT_byte_size, FORM_data1);
        ABBREV(&f, OWN + 1, TAG_enumerator, 0, AT_const_value, FORM_sdata);
        uint32_t type = dw_here(&f);
        DIE(&f, OWN);
        bytes_number(dw_info(&f), 4, 1);
        DIE(&f, OWN + 1, 3, OWN + 1, negative ? 0x7f : 5);
        dw_close(&f);
        dw_function(&f, "f", VADDR, type);
        dw_reference(&f, A_PARAMETER, type);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, negative ? "i(i)" : "I(I)");
    }
}

static void endless_chains_end(void)
{
    struct dwarf_file f;
    dw_begin(&f, 4, LANG_C99);
    uint32_t type = dw_here(&f);
    dw_reference(&f, A_CONST, type);
    dw_function(&f, "f", VADDR, 0);
    dw_reference(&f, A_PARAMETER, type);
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_MALFORMED, "type");

    dw_begin(&f, 4, LANG_C99);
    ABBREV(&f, OWN, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_abstract_origin, FORM_ref4);
    uint32_t self = dw_here(&f);
    DIE(&f, OWN);
    bytes_number(dw_info(&f), VADDR, 8);
    bytes_number(dw_info(&f), self, 4);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, DWARF_MALFORMED, "function is broken");
}

/* --- parameters --- */

static void up_to_256_parameters(void)
{
    struct dwarf_file f;
    char expected[300];
    for (int count = 255; count <= 257; count++) {
        dw_begin(&f, 5, LANG_C99);
        uint32_t type = dw_base(&f, "double", ATE_float, 8);
        dw_function(&f, "f", VADDR, type);
        for (int i = 0; i < count; i++)
            dw_reference(&f, A_PARAMETER, type);
        DIE(&f, A_ELLIPSIS);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        memset(expected, 'd', sizeof expected);
        expected[1] = '(';
        memcpy(expected + 2 + count, "...)", 5);
        if (count <= 256)
            EXPECT(&f, DWARF_FOUND, expected);
        else
            EXPECT(&f, DWARF_UNSUPPORTED, "more than 256 parameters");
    }
}

static void without_a_prototype_float_is_promoted_in_c_only(void)
{
    struct dwarf_file f;
    static const unsigned languages[] = {LANG_C99, LANG_CPP};
    for (size_t i = 0; i < 2; i++) {
        dw_begin(&f, 4, (uint16_t)languages[i]);
        ABBREV(&f, OWN, TAG_subprogram, 1, AT_low_pc, FORM_addr, AT_type, FORM_ref4);
        uint32_t type = dw_base(&f, "float", ATE_float, 4);
        DIE(&f, OWN);
        bytes_number(dw_info(&f), VADDR, 8);
        bytes_number(dw_info(&f), type, 4);
        dw_reference(&f, A_PARAMETER, type);
        dw_close(&f);
        dw_close(&f);
        dw_unit_end(&f);
        EXPECT(&f, DWARF_FOUND, languages[i] == LANG_C99 ? "f(d)" : "f(f)");
    }
}

/* The location as block or list; EXPECTED is for a parameter of type real(8). */
static void fortran(const uint8_t *location, size_t size, uint16_t version, bool list,
                    const char *expected)
{
    struct dwarf_file f;
    dw_begin(&f, version, LANG_FORTRAN);
    ABBREV(&f, OWN, TAG_parameter, 0, AT_type, FORM_ref4, AT_location,
           list ? (version < 4 ? FORM_data4 : FORM_sec_offset)
                : (version < 4 ? FORM_block1 : FORM_exprloc));
    uint32_t type = dw_base(&f, "real(kind=8)", ATE_float, 8);
    dw_function(&f, "f", VADDR, 0);
    DIE(&f, OWN);
    bytes_number(dw_info(&f), type, 4);
    if (list) {
        struct bytes *lists = elf_section(&f.elf, version < 5 ? ".debug_loc" : ".debug_loclists");
        bytes_string(lists, "something before it");
        bytes_number(dw_info(&f), lists->size, 4);
        bytes_add(lists, location, size);
    } else {
        bytes_uleb(dw_info(&f), size);
        bytes_add(dw_info(&f), location, size);
    }
    dw_close(&f);
    dw_close(&f);
    dw_unit_end(&f);
    EXPECT(&f, *expected == 'v' ? DWARF_FOUND : DWARF_AMBIGUOUS, expected);
}

static void fortran_locations_tell_reference_from_value(void)
{
    static const struct {
        uint8_t code[8];
        size_t size;
        const char *expected;
    } cases[] = {
        {{0x61}, 1, "v(d)"},                        /* reg17 (xmm0) */
        {{0x90, 0x11}, 2, "v(d)"},                  /* regx 17 */
        {{0x91, 0x48}, 2, "v(d)"},                  /* fbreg -56 */
        {{0x91, 0xb8, 0x7f}, 3, "v(d)"},            /* fbreg -72 */
        {{0x91, 0x48, 0x06}, 3, "v(p)"},            /* fbreg, deref */
        {{0x77, 0x08}, 2, "v(d)"},                  /* breg7 (rsp) 8 */
        {{0x77, 0x08, 0x06}, 3, "v(p)"},            /* breg7 8, deref */
        {{0x75, 0x00}, 2, "v(p)"},                  /* breg5 (rdi) 0 */
        {{0xa3, 0x01, 0x55}, 3, "v(p)"},            /* entry_value(rdi) */
        {{0xf3, 0x01, 0x55}, 3, "v(p)"},            /* the GNU one */
        {{0xa3, 0x01, 0x55, 0x9f}, 4, "v(d)"},      /* entry_value(rdi), stack_value */
        {{0x91}, 1, "reference or by value"},       /* cut off */
        {{0xa3, 0x7f, 0x55}, 3, "reference or by"}, /* longer than its block */
        {{0x03, 1, 2, 3}, 4, "reference or by"},    /* at an address */
        {{0}, 0, "reference or by"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *code = cases[i].code;
        size_t size = cases[i].size;
        struct bytes pairs = {0}, lists = {0};
        fortran(code, size, 2, false, cases[i].expected);
        fortran(code, size, 5, false, cases[i].expected);

        bytes_number(&pairs, UINT64_MAX, 8); /* a base address */
        bytes_number(&pairs, 0x1000, 8);
        bytes_number(&pairs, 0x140, 8);
        bytes_number(&pairs, 0x150, 8);
        bytes_number(&pairs, size, 2);
        bytes_add(&pairs, code, size);
        fortran(pairs.data, pairs.size, 3, true, cases[i].expected);
        fortran(pairs.data, pairs.size, 4, true, cases[i].expected);
        bytes_free(&pairs);

        for (uint8_t kind = 2; kind <= 8; kind++) {
            lists.size = 0;
            if (kind == 6)
                continue;
            bytes_number(&lists, 9, 1); /* a pair of views */
            ULEBS(&lists, 300, 4);
            bytes_number(&lists, 1, 1); /* base_addressx */
            ULEBS(&lists, 200);
            bytes_number(&lists, 6, 1); /* base_address */
            bytes_number(&lists, 0x1000, 8);
            bytes_number(&lists, kind, 1);
            if (kind <= 4)
                ULEBS(&lists, 0x140, 0x150);
            if (kind >= 7)
                bytes_number(&lists, VADDR, 8);
            if (kind == 7)
                bytes_number(&lists, VADDR, 8);
            if (kind == 8)
                ULEBS(&lists, 0x150);
            ULEBS(&lists, size);
            bytes_add(&lists, code, size);
            fortran(lists.data, lists.size, 5, true, cases[i].expected);
        }
        bytes_free(&lists);
    }
    static const uint8_t empty[18] = {0};
    fortran(empty, 1, 5, true, "reference or by value");
    fortran(empty, 18, 4, true, "reference or by value");
}

int main(void)
{
    letters_follow_encoding_and_size();
    what_cannot_be_passed_is_named();
    aggregates_and_hostile_names();
    an_old_enumeration_is_signed_if_a_member_is_negative();
    endless_chains_end();
    up_to_256_parameters();
    without_a_prototype_float_is_promoted_in_c_only();
    fortran_locations_tell_reference_from_value();
    puts("ok");
    return 0;
}
