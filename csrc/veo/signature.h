/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a function's C type says about argument passing: one letter an argument and one for the
 * result, in the alphabet of veosoft_args_set_signature(): b B h H i I l L integers, p pointer,
 * f float, d double, v void (result only).
 */
#ifndef VEO_WORKER_SIGNATURE_H
#define VEO_WORKER_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VEOW_SIGNATURE_ARGS 256
#define VEOW_SIGNATURE_NAME 32 /* of a parameter, with the NUL; longer ones are cut */
#define VEOW_SIGNATURE_WHY 160

struct veow_signature {
    uint16_t nargs;
    bool variadic;                                        /* has "..." after the named arguments */
    char ret;                                             /* 'v' for void */
    char args[VEOW_SIGNATURE_ARGS + 1];                   /* NUL-terminated */
    char names[VEOW_SIGNATURE_ARGS][VEOW_SIGNATURE_NAME]; /* "" where there is none */
};

enum veow_lookup {
    VEOW_FOUND = 0,
    VEOW_NO_DEBUG_INFO = 1, /* the file has none (or it is stripped) */
    VEOW_NOT_DESCRIBED = 2, /* it has, but not of this function */
    VEOW_UNSUPPORTED = 3,   /* a type or encoding that cannot be served; see why */
    VEOW_MALFORMED = 4,     /* not an ELF64 file, or broken debug info; see why */
    VEOW_AMBIGUOUS = 5,     /* by reference or by value: the debug info does not say which */
};

/*
 * Finds the function that starts at VADDR (an address of the file, before relocation) in the
 * DWARF 2-5 debug info of the ELF file at IMAGE. SYMBOL, which may be NULL, is its linkage name:
 * used where the DIE gives a name and no address. WHY (VEOW_SIGNATURE_WHY bytes) gets a sentence
 * where the result is not VEOW_FOUND. Reads nothing outside IMAGE, whatever it holds; allocates
 * nothing that outlives the call; safe from any thread.
 */
enum veow_lookup veow_dwarf_signature(const uint8_t *image, size_t size, uint64_t vaddr,
                                      const char *symbol, struct veow_signature *out, char *why);

#endif
