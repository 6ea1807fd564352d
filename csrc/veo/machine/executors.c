/* SPDX-License-Identifier: BSD-3-Clause */
/* executors.c: the table of executors. */
#include "executors.h"

ve_execute *const ve_executors[VE_OPERATION_COUNT] = {
#define INSTRUCTION(operation, ...) ve_execute_##operation,
#include "veo/isa/instructions.def"
#undef INSTRUCTION
};
