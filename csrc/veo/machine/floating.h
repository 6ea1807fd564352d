/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * floating.h: the host's floating-point environment stands for the PSW's while code runs: its
 * rounding mode is the PSW's, and its flags are taken into the PSW when that is read. Private to
 * csrc/veo/machine.
 */
#ifndef OFFCHIP_VE_FLOATING_H
#define OFFCHIP_VE_FLOATING_H

#include "veo/machine/core.h"

#include <fenv.h>

/* Makes the host's environment that of the PSW; *host is what it was. */
void ve_floating_enter(struct ve_core *core, fenv_t *host);
/* Takes the flags into the PSW and puts the host's environment back. */
void ve_floating_leave(struct ve_core *core, const fenv_t *host);

/* True if a floating-point exception is enabled: instructions that may raise it are checked. */
static inline bool ve_floating_is_checked(const struct ve_core *core)
{
    const uint64_t flags = VE_PSW_FLAGS ^ VE_PSW_FIXED_OVERFLOW;
    return (core->psw >> VE_PSW_ENABLE_SHIFT & flags) != 0;
}

/* Executes an instruction, and raises the enabled exceptions among those that it may have. */
void ve_execute_checked(struct ve_core *core, const struct ve_instruction *instruction);

#endif
