/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h: the symbols that a link did not find, listed in its error. */
#ifndef VELINK_MISSING_H
#define VELINK_MISSING_H

#include <stddef.h>

#include "veo/link/error.h"

struct velink_missing {
    size_t count;
    size_t used;
    char names[800]; /* the first of them */
};

void velink_missing_add(struct velink_missing *missing, const char *name);

/* Writes the list into the error; returns false. */
bool velink_missing_fail(const struct velink_missing *missing, struct velink_error *error);

#endif
