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

/* The host's environment. On x86, that of SSE alone if nothing of the other unit is to be changed:
 * to save and to load that takes longer than a small function runs. */
struct ve_host_floating {
    fenv_t all;
    uint32_t sse;
    bool is_sse_alone;
};

/* Makes the host's environment that of the PSW; *host is what it was. */
void ve_floating_enter(struct ve_core *core, struct ve_host_floating *host);
/* Takes the flags into the PSW and puts the host's environment back. */
void ve_floating_leave(struct ve_core *core, const struct ve_host_floating *host);

/* True if a floating-point exception is enabled: instructions that may raise it are checked. */
static inline bool ve_floating_is_checked(const struct ve_core *core)
{
    const uint64_t flags = VE_PSW_FLAGS ^ VE_PSW_FIXED_OVERFLOW;
    return (core->psw >> VE_PSW_ENABLE_SHIFT & flags) != 0;
}

/* True if any exception is: code is not translated then. */
static inline bool ve_exceptions_are_enabled(const struct ve_core *core)
{
    return (core->psw & VE_PSW_ENABLES) != 0;
}

/* Executes an instruction, and raises the enabled exceptions among those that it may have. */
void ve_execute_checked(struct ve_core *core, const struct ve_instruction *instruction);

#endif
