/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h: why a file could not be linked or loaded. */
#ifndef VELINK_ERROR_H
#define VELINK_ERROR_H

#include <stdbool.h>

struct velink_error {
    char text[1000]; /* "" as long as nothing failed */
};

/* Notes the reason if it is the first; returns false. */
bool velink_fail(struct velink_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
