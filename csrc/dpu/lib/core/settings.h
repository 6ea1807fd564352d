/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the environment that are read when the library is loaded, before anything can fail.
 */
#ifndef OFFCHIP_DPU_LIB_CORE_SETTINGS_H
#define OFFCHIP_DPU_LIB_CORE_SETTINGS_H

#include <stdbool.h>

/* Says that the variable NAME has a value that cannot be used, and why; on stderr too. */
void dpulib_refuse_setting(const char *name, const char *why);

/* The first refusal; NULL if all can be used. No DPU is allocated otherwise: a check that was
 * asked for and is not made would look like one that found nothing. */
const char *dpulib_refused_setting(void);

/* Whether DPU_SOFT_QUIET wants nothing on stderr that is not a warning. */
bool dpulib_is_quiet(void);

#endif
