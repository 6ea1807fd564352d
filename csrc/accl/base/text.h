/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that is put together piece by piece. */
#ifndef ACCL_TEXT_H
#define ACCL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* LENGTH counts all that was added, also what did not fit into SPACE. */
struct text_out {
    char *text;
    size_t space, length;
};

void acclib_text_add(struct text_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
