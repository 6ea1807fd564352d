/* SPDX-License-Identifier: BSD-3-Clause */
/* check_words.h: the checks that VEO_CHECK may ask for: what they find is in csrc/veo/checks. */
#ifndef VEO_CHECK_WORDS_H
#define VEO_CHECK_WORDS_H

/*
 * X(identifier, name for users, value). "all" is without ALIGN_SCALAR: scalar accesses may have any
 * address, and code of LLVM relies on that.
 */
#define VE_CHECK_LIST(X) \
    X(UNINITIALISED, "uninitialised", 1) \
    X(BOUNDS, "bounds", 2) \
    X(ALIGN, "align", 4) \
    X(ALIGN_SCALAR, "align_scalar", 8)

#define VE_CHECK_ALL 7u

/* A list of struct check_word, for check_options_read(). */
#define VE_CHECK_WORD(identifier, name, value) {name, value},
#define VE_CHECK_WORDS \
    { \
        VE_CHECK_LIST(VE_CHECK_WORD){"all", VE_CHECK_ALL}, \
    }

#endif
