/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dwarf_signature.h: what a function's C type says about argument passing: one letter per argument
 * and one for the result, in the alphabet of veosoft_args_set_signature(): b B h H i I l L
 * integers, p pointer, f float, d double, v void (result only).
 */
#ifndef OFFCHIP_DWARF_SIGNATURE_H
#define OFFCHIP_DWARF_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol.h"

#define DWARF_SIGNATURE_ARGS 256
#define DWARF_SIGNATURE_NAME 32 /* of a parameter, with the NUL; longer ones are cut */
#define DWARF_WHY 160

struct dwarf_signature {
    uint16_t nargs;
    bool variadic;                       /* has "..." after the named arguments */
    char ret;                            /* 'v' for void */
    char args[DWARF_SIGNATURE_ARGS + 1]; /* NUL-terminated */
    char ret_pointee;                    /* letter of what a pointer refers to, 0: no number */
    char pointees[DWARF_SIGNATURE_ARGS]; /* same, of the arguments */
    char names[DWARF_SIGNATURE_ARGS][DWARF_SIGNATURE_NAME]; /* "" where there is none */
};

enum dwarf_lookup {
    DWARF_FOUND = 0,
    DWARF_NO_DEBUG_INFO = 1, /* the file has none (or it is stripped) */
    DWARF_NOT_DESCRIBED = 2, /* it has, but not of this function */
    DWARF_UNSUPPORTED = 3,   /* a type or encoding that cannot be served; see why */
    DWARF_MALFORMED = 4,     /* not an ELF64 file, or broken debug info; see why */
    DWARF_AMBIGUOUS = 5,     /* by reference or by value: the debug info does not say which */
};

/* The functions of a file that lookups have read of. One thread uses it at a time. */
struct dwarf_index;
/* An empty one; NULL without memory. */
struct dwarf_index *dwarf_index_new(void) OFFCHIP_SYMBOL(dwarf_index_new);
void dwarf_index_free(struct dwarf_index *index) OFFCHIP_SYMBOL(dwarf_index_free);

/*
 * Finds the function that starts at VADDR (an address of the file, before relocation) in the
 * DWARF 2-5 debug info of the ELF file at IMAGE. SYMBOL, which may be NULL, is its linkage name:
 * used where the DIE gives a name and no address. WHY (DWARF_WHY bytes) gets a sentence
 * where the result is not DWARF_FOUND. INDEX is that of this file, or NULL. Reads nothing outside
 * IMAGE, whatever it holds; allocates nothing that outlives the call but for the index; safe from
 * any thread.
 */
enum dwarf_lookup dwarf_find_signature(struct dwarf_index *index, const uint8_t *image, size_t size,
                                       uint64_t vaddr, const char *symbol,
                                       struct dwarf_signature *out, char *why)
    OFFCHIP_SYMBOL(dwarf_find_signature);

#endif
