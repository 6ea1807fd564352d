/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/core/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpu/lib/core/verbose.h"

/* Written by constructors alone. */
static char refused[300];

void dpulib_refuse_setting(const char *name, const char *why)
{
    dpulib_log(DPULIB_WARNING, "no DPU can be allocated, as %s cannot be read: %s", name, why);
    if (refused[0] == '\0')
        snprintf(refused, sizeof refused, "%s cannot be read: %s", name, why);
}

const char *dpulib_refused_setting(void)
{
    return refused[0] != '\0' ? refused : NULL;
}

bool dpulib_is_quiet(void)
{
    const char *value = getenv("DPU_SOFT_QUIET");
    return value != NULL && *value != 0 && strcmp(value, "0") != 0;
}
