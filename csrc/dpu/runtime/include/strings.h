/* SPDX-License-Identifier: BSD-3-Clause */
/* strings.h: comparisons without case, which string.h declares. */
#ifndef DPU_RUNTIME_STRINGS_H
#define DPU_RUNTIME_STRINGS_H
#include <string.h>
#endif
