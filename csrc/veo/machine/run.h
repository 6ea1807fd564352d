/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h: what running at full speed and step by step share. Private to csrc/veo/machine. */
#ifndef OFFCHIP_VE_RUN_H
#define OFFCHIP_VE_RUN_H

#include "veo/machine/core.h"

/* No code is below: a call of NULL, or of NULL with an offset. */
#define VE_LOWEST_CODE 65536

/* Does what a gate is for; false if the program stops. */
bool ve_enter_gate(struct ve_core *core, uint64_t address);

/* Reads and decodes; false, with its exception, for what is no instruction. */
bool ve_fetch(struct ve_core *core, uint64_t address, struct ve_instruction *instruction);

/* Runs from core->ic to VE_HALT_ADDRESS, an instruction at a time. */
bool ve_run_stepping(struct ve_core *core);

#endif
