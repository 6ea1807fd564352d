/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h: the symbols that a link did not find, listed in its error. */
#ifndef VELINK_MISSING_H
#define VELINK_MISSING_H

#include <stddef.h>

#include "veo/link/error.h"
#include "veo/link/names.h"

struct velink_missing {
    struct velink_names known; /* each is listed once */
    size_t count;
    size_t used;
    char names[800]; /* the first of them */
};

void velink_missing_add(struct velink_missing *missing, const char *name);

/* Writes the list, if there is any, into the error. False if so. Ends the list. */
bool velink_missing_end(struct velink_missing *missing, struct velink_error *error);

#endif
