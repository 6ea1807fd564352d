/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_forms.h: the values of attributes: how they are encoded, and what they mean.
 *
 * Nothing allocates; strings are in the image. False or NULL stands for a value that cannot be read
 * or is of another kind.
 */
#ifndef OFFCHIP_DWARF_FORMS_H
#define OFFCHIP_DWARF_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"
#include "formats/dwarf_cursor.h"
#include "formats/dwarf_die.h"

/* Section 7.5.6, and the extensions of GNU and LLVM. */
enum dwarf_form {
    DWARF_FORM_addr = 0x01,
    DWARF_FORM_block2 = 0x03,
    DWARF_FORM_block4 = 0x04,
    DWARF_FORM_data2 = 0x05,
    DWARF_FORM_data4 = 0x06,
    DWARF_FORM_data8 = 0x07,
    DWARF_FORM_string = 0x08,
    DWARF_FORM_block = 0x09,
    DWARF_FORM_block1 = 0x0a,
    DWARF_FORM_data1 = 0x0b,
    DWARF_FORM_flag = 0x0c,
    DWARF_FORM_sdata = 0x0d,
    DWARF_FORM_strp = 0x0e,
    DWARF_FORM_udata = 0x0f,
    DWARF_FORM_ref_addr = 0x10,
    DWARF_FORM_ref1 = 0x11,
    DWARF_FORM_ref2 = 0x12,
    DWARF_FORM_ref4 = 0x13,
    DWARF_FORM_ref8 = 0x14,
    DWARF_FORM_ref_udata = 0x15,
    DWARF_FORM_indirect = 0x16,
    DWARF_FORM_sec_offset = 0x17,
    DWARF_FORM_exprloc = 0x18,
    DWARF_FORM_flag_present = 0x19,
    DWARF_FORM_strx = 0x1a,
    DWARF_FORM_addrx = 0x1b,
    DWARF_FORM_ref_sup4 = 0x1c,
    DWARF_FORM_strp_sup = 0x1d,
    DWARF_FORM_data16 = 0x1e,
    DWARF_FORM_line_strp = 0x1f,
    DWARF_FORM_ref_sig8 = 0x20,
    DWARF_FORM_implicit_const = 0x21,
    DWARF_FORM_loclistx = 0x22,
    DWARF_FORM_rnglistx = 0x23,
    DWARF_FORM_ref_sup8 = 0x24,
    DWARF_FORM_strx1 = 0x25,
    DWARF_FORM_strx2 = 0x26,
    DWARF_FORM_strx3 = 0x27,
    DWARF_FORM_strx4 = 0x28,
    DWARF_FORM_addrx1 = 0x29,
    DWARF_FORM_addrx2 = 0x2a,
    DWARF_FORM_addrx3 = 0x2b,
    DWARF_FORM_addrx4 = 0x2c,
    DWARF_FORM_GNU_addr_index = 0x1f01,
    DWARF_FORM_GNU_str_index = 0x1f02,
    DWARF_FORM_GNU_ref_alt = 0x1f20,
    DWARF_FORM_GNU_strp_alt = 0x1f21,
    DWARF_FORM_LLVM_addrx_offset = 0x2001,
};

/* Reads the value of an attribute at C; false if the form is not known. IMPLICIT is the constant
 * that the abbreviation gives. */
bool dwarf_read_form(struct dwarf_cursor *c, const struct dwarf_unit *unit, uint64_t form,
                     int64_t implicit, struct dwarf_value *value) OFFCHIP_SYMBOL(dwarf_read_form);

/* Values as their types. The text of a string is not longer than *LENGTH, which excludes the NUL.
 */
bool dwarf_flag(const struct dwarf_die *die, enum dwarf_attribute which) OFFCHIP_SYMBOL(dwarf_flag);
bool dwarf_address(const struct dwarf *d, const struct dwarf_unit *unit,
                   const struct dwarf_value *value, uint64_t *address)
    OFFCHIP_SYMBOL(dwarf_address);
bool dwarf_indexed_address(const struct dwarf *d, const struct dwarf_unit *unit, uint64_t index,
                           uint64_t *address) OFFCHIP_SYMBOL(dwarf_indexed_address);
bool dwarf_is_constant(const struct dwarf_value *value) OFFCHIP_SYMBOL(dwarf_is_constant);
bool dwarf_is_local_reference(const struct dwarf_value *value)
    OFFCHIP_SYMBOL(dwarf_is_local_reference);
const char *dwarf_string(struct dwarf *d, const struct dwarf_unit *unit,
                         const struct dwarf_value *value, size_t *length)
    OFFCHIP_SYMBOL(dwarf_string);

#endif
