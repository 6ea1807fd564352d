/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * special.h: functions of the host that take more than their types say: they call VE code, read its
 * variable arguments, or change its registers. Each is as verun_special of gates.h, for the thread
 * that runs the core.
 */
#ifndef VERUN_SPECIAL_H
#define VERUN_SPECIAL_H

#include <stdbool.h>

#include "veo/machine/core.h"

#define C(name, types)
#define VARIABLE(name)
#define SPECIAL(name, function) bool verun_##function(struct ve_core *core);
#include "veo/run/libc.def"
#undef C
#undef VARIABLE
#undef SPECIAL

#endif
