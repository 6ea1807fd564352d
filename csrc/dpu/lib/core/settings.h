/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h: the variables of the environment.
 *
 * A value that cannot be used is an error: no DPU is allocated, as a check that was asked for and
 * is not made would look like one that found nothing. Constructors refuse values, before anything
 * can fail. A name that begins as ours and is none is told on stderr.
 */
#ifndef OFFCHIP_DPU_LIB_CORE_SETTINGS_H
#define OFFCHIP_DPU_LIB_CORE_SETTINGS_H

#include "dpu/lib/core/variables.h"

#include <stdbool.h>

enum dpulib_variable {
#define DPULIB_VARIABLE_(name, values, default, meaning) DPULIB_##name,
    DPULIB_VARIABLES(DPULIB_VARIABLE_)
#undef DPULIB_VARIABLE_
};

/* NULL if it is not set, or empty. */
const char *dpulib_setting(enum dpulib_variable variable);
const char *dpulib_setting_name(enum dpulib_variable variable);

/* Says that the value cannot be used, and why; on stderr too. */
void dpulib_refuse_setting(enum dpulib_variable variable, const char *why);
/* Refuses it if PATH, with the process id for %p, cannot be written to. */
void dpulib_check_writable(enum dpulib_variable variable, const char *path);
/* The first refusal; NULL if all can be used. */
const char *dpulib_refused_setting(void);

/* True if DPU_SOFT_QUIET wants nothing on stderr that is not a warning. */
bool dpulib_is_quiet(void);

#endif
