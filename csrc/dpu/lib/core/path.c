/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/core/path.h"

#include <stdio.h>
#include <unistd.h>

char *dpulib_make_path(const char *pattern)
{
    char *path = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&path, &size);
    if (text == NULL)
        return NULL;

    for (const char *at = pattern; *at != 0; at++)
        if (at[0] == '%' && at[1] == 'p') {
            fprintf(text, "%ld", (long)getpid());
            at++;
        } else {
            fputc(*at, text);
        }
    return fclose(text) == 0 ? path : NULL;
}
