/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * executors.h: a function for each operation, void ve_execute_ADDS_L(core, instruction) and so on.
 * The run loop has some of the scalar ones inline as well.
 */
#ifndef OFFCHIP_VE_EXECUTORS_H
#define OFFCHIP_VE_EXECUTORS_H

#include "veo/machine/core.h"

#define INSTRUCTION(operation, ...) ve_execute ve_execute_##operation;
#include "veo/isa/instructions.def"
#undef INSTRUCTION

extern ve_execute *const ve_executors[VE_OPERATION_COUNT];

#endif
