/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For C tests: DWARF written by hand. Numbers are written out here once more, from the standard's
 * tables, so that a wrong one in the reader is seen.
 */
#ifndef OFFCHIP_TESTS_DWARF_BUILDER_H
#define OFFCHIP_TESTS_DWARF_BUILDER_H

#include "tests/support/elf_builder.h"
#include "formats/dwarf_signature.h"

enum {
    TAG_array = 0x01,
    TAG_enumeration = 0x04,
    TAG_parameter = 0x05,
    TAG_pointer = 0x0f,
    TAG_unit = 0x11,
    TAG_structure = 0x13,
    TAG_typedef = 0x16,
    TAG_ellipsis = 0x18,
    TAG_base = 0x24,
    TAG_const = 0x26,
    TAG_enumerator = 0x28,
    TAG_subprogram = 0x2e,
    TAG_namespace = 0x39,
    TAG_unspecified = 0x3b,
    TAG_type_unit = 0x41,
    TAG_skeleton = 0x4a,

    AT_sibling = 0x01,
    AT_location = 0x02,
    AT_name = 0x03,
    AT_byte_size = 0x0b,
    AT_low_pc = 0x11,
    AT_high_pc = 0x12,
    AT_language = 0x13,
    AT_const_value = 0x1c,
    AT_prototyped = 0x27,
    AT_abstract_origin = 0x31,
    AT_calling_convention = 0x36,
    AT_decl_line = 0x3b,
    AT_declaration = 0x3c,
    AT_encoding = 0x3e,
    AT_external = 0x3f,
    AT_specification = 0x47,
    AT_type = 0x49,
    AT_entry_pc = 0x52,
    AT_ranges = 0x55,
    AT_linkage_name = 0x6e,
    AT_str_offsets_base = 0x72,
    AT_addr_base = 0x73,
    AT_rnglists_base = 0x74,
    AT_dwo_name = 0x76,
    AT_unknown = 0x3ffe,

    FORM_addr = 0x01,
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_ref_addr = 0x10,
    FORM_ref1 = 0x11,
    FORM_ref2 = 0x12,
    FORM_ref4 = 0x13,
    FORM_ref8 = 0x14,
    FORM_ref_udata = 0x15,
    FORM_indirect = 0x16,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19,
    FORM_strx = 0x1a,
    FORM_addrx = 0x1b,
    FORM_ref_sup4 = 0x1c,
    FORM_strp_sup = 0x1d,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
    FORM_ref_sig8 = 0x20,
    FORM_implicit_const = 0x21,
    FORM_loclistx = 0x22,
    FORM_rnglistx = 0x23,
    FORM_ref_sup8 = 0x24,
    FORM_strx1 = 0x25,
    FORM_strx2 = 0x26,
    FORM_strx3 = 0x27,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_addrx2 = 0x2a,
    FORM_addrx3 = 0x2b,
    FORM_addrx4 = 0x2c,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_str_index = 0x1f02,
    FORM_GNU_ref_alt = 0x1f20,
    FORM_GNU_strp_alt = 0x1f21,

    LANG_C99 = 0x0c,
    LANG_CPP = 0x04,
    LANG_FORTRAN = 0x08,
    ATE_boolean = 2,
    ATE_complex = 3,
    ATE_float = 4,
    ATE_signed = 5,
    ATE_unsigned = 7,
};

#define VADDR UINT64_C(0x1140)

struct dwarf_file {
    struct elf elf;
    size_t unit_start; /* in .debug_info, or .debug_types */
    uint8_t offset_size;
    uint16_t version;
};

static inline struct bytes *dw_info(struct dwarf_file *f)
{
    return elf_section(&f->elf, ".debug_info");
}

static inline struct bytes *dw_abbrevs(struct dwarf_file *f)
{
    return elf_section(&f->elf, ".debug_abbrev");
}

/* An abbreviation: its attributes and forms follow as pairs. */
#define ABBREV(f, code, tag, children, ...) \
    do { \
        ULEBS(dw_abbrevs(f), code, tag); \
        bytes_number(dw_abbrevs(f), children, 1); \
        ULEBS(dw_abbrevs(f), __VA_ARGS__ __VA_OPT__(, ) 0, 0); \
    } while (0)

static inline void dw_unit(struct dwarf_file *f, uint16_t version, uint8_t offset_size)
{
    struct bytes *b = dw_info(f);
    f->unit_start = b->size;
    f->version = version;
    f->offset_size = offset_size;
    if (offset_size == 8)
        bytes_number(b, 0xffffffff, 4);
    bytes_number(b, 0, offset_size); /* filled in at the end */
    bytes_number(b, version, 2);
    if (version >= 5)
        bytes_number(b, 0x0801, 2);
    bytes_number(b, 0, offset_size);
    if (version < 5)
        bytes_number(b, 8, 1);
}

static inline void dw_unit_end_in(struct dwarf_file *f, struct bytes *b)
{
    size_t at = f->unit_start + (f->offset_size == 8 ? 4 : 0);
    uint64_t length = b->size - at - f->offset_size;
    memcpy(b->data + at, &length, f->offset_size);
}

static inline void dw_unit_end(struct dwarf_file *f)
{
    dw_unit_end_in(f, dw_info(f));
}

/* Offset of the next DIE from the start of the unit: what the local reference forms hold. */
static inline uint32_t dw_here(struct dwarf_file *f)
{
    return (uint32_t)(dw_info(f)->size - f->unit_start);
}

#define DIE(f, ...) ULEBS(dw_info(f), __VA_ARGS__)

/* --- a vocabulary --- */

/* Abbreviations that most tests need; their own start at OWN. */
enum {
    A_UNIT = 1,  /* language (data2) */
    A_BASE,      /* name, encoding (data1), size (data1) */
    A_FUNCTION,  /* name, address, type (ref4); prototyped, external */
    A_VOID,      /* name, address */
    A_PARAMETER, /* type (ref4) */
    A_TYPEDEF,   /* name, type */
    A_CONST,     /* type */
    A_POINTER,   /* */
    A_STRUCT,    /* name, size */
    A_ELLIPSIS,  /* */
    OWN = 20
};

static inline void dw_vocabulary(struct dwarf_file *f)
{
    ABBREV(f, A_UNIT, TAG_unit, 1, AT_language, FORM_data2);
    ABBREV(f, A_BASE, TAG_base, 0, AT_name, FORM_string, AT_encoding, FORM_data1, AT_byte_size,
           FORM_data1);
    ABBREV(f, A_FUNCTION, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_type,
           FORM_ref4, AT_prototyped, FORM_flag_present, AT_external, FORM_flag_present);
    ABBREV(f, A_VOID, TAG_subprogram, 1, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_prototyped,
           FORM_flag_present, AT_external, FORM_flag_present);
    ABBREV(f, A_PARAMETER, TAG_parameter, 0, AT_type, FORM_ref4);
    ABBREV(f, A_TYPEDEF, TAG_typedef, 0, AT_name, FORM_string, AT_type, FORM_ref4);
    ABBREV(f, A_CONST, TAG_const, 0, AT_type, FORM_ref4);
    ABBREV(f, A_POINTER, TAG_pointer, 0, );
    ABBREV(f, A_STRUCT, TAG_structure, 0, AT_name, FORM_string, AT_byte_size, FORM_data1);
    ABBREV(f, A_ELLIPSIS, TAG_ellipsis, 0, );
}

/* A unit of DWARF VERSION with the root open. */
static inline void dw_begin(struct dwarf_file *f, uint16_t version, uint16_t language)
{
    *f = (struct dwarf_file){0};
    dw_vocabulary(f);
    dw_unit(f, version, 4);
    DIE(f, A_UNIT);
    bytes_number(dw_info(f), language, 2);
}

static inline uint32_t dw_base(struct dwarf_file *f, const char *name, unsigned encoding,
                               unsigned size)
{
    uint32_t here = dw_here(f);
    DIE(f, A_BASE);
    bytes_string(dw_info(f), name);
    bytes_number(dw_info(f), encoding, 1);
    bytes_number(dw_info(f), size, 1);
    return here;
}

static inline void dw_reference(struct dwarf_file *f, uint64_t code, uint32_t type)
{
    DIE(f, code);
    bytes_number(dw_info(f), type, 4);
}

/* Leaves the function open for its parameters; TYPE 0 is void. */
static inline void dw_function(struct dwarf_file *f, const char *name, uint64_t address,
                               uint32_t type)
{
    DIE(f, type != 0 ? A_FUNCTION : A_VOID);
    bytes_string(dw_info(f), name);
    bytes_number(dw_info(f), address, 8);
    if (type != 0)
        bytes_number(dw_info(f), type, 4);
}

static inline void dw_close(struct dwarf_file *f)
{
    DIE(f, 0);
}

/* --- looking it up --- */

static inline enum dwarf_lookup dw_lookup(struct dwarf_file *f, uint64_t address,
                                          const char *symbol, struct dwarf_signature *signature,
                                          char *why)
{
    size_t size;
    uint8_t *image = elf_image(&f->elf, &size);
    enum dwarf_lookup got =
        dwarf_find_signature(NULL, image, size, address, symbol, signature, why);
    free(image);
    CHECK(memchr(why, 0, DWARF_WHY) != NULL);
    CHECK((got == DWARF_FOUND) == (why[0] == '\0'));
    CHECK(signature->nargs <= DWARF_SIGNATURE_ARGS);
    CHECK(strlen(signature->args) == signature->nargs);
    return got;
}

/* Ends the unit, looks the function "f" at VADDR up and compares with EXPECTED: "d(if...)", or
 * what the reason contains where RESULT is not DWARF_FOUND. */
#define EXPECT(f, result, expected) dw_expect(f, "f", result, expected, __LINE__)
static inline void dw_expect(struct dwarf_file *f, const char *symbol, enum dwarf_lookup result,
                             const char *expected, int line)
{
    static struct dwarf_signature s;
    char why[DWARF_WHY], text[DWARF_SIGNATURE_ARGS + 16];
    enum dwarf_lookup got = dw_lookup(f, VADDR, symbol, &s, why);
    snprintf(text, sizeof text, "%c(%s%s)", s.ret, s.args, s.variadic ? "..." : "");
    const char *saw = got == DWARF_FOUND ? text : why;
    if (got != result ||
        (got == DWARF_FOUND ? strcmp(saw, expected) != 0 : strstr(saw, expected) == NULL)) {
        fprintf(stderr, "line %d: result %d: %s; expected %d: %s\n", line, (int)got, saw,
                (int)result, expected);
        abort();
    }
    elf_free(&f->elf);
}

#endif
