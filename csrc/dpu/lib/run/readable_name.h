/* SPDX-License-Identifier: BSD-3-Clause */
/* readable_name.h: names of symbols as sources have them. */
#ifndef OFFCHIP_DPU_LIB_READABLE_NAME_H
#define OFFCHIP_DPU_LIB_READABLE_NAME_H

#include "common/text.h"

/* Adds the name of a symbol; that of C++ with its namespaces and types if the machine has
 * libstdc++. */
void dpulib_add_name(struct text *text, const char *name);

#endif
