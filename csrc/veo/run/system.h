/* SPDX-License-Identifier: BSD-3-Clause */
/* system.h: system calls of VE code, which `monc` makes. */
#ifndef VERUN_SYSTEM_H
#define VERUN_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/machine/core.h"

/* As monitor_call of struct ve_core. Parameters are in memory, where 24(tp) points to. */
bool verun_system_call(struct ve_core *core, uint64_t number);

#endif
