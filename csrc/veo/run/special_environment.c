/* SPDX-License-Identifier: BSD-3-Clause */
/* <fenv.h> of VE code: numbers are those of the host's header, what they stand for is in the PSW.
 */
#include <fenv.h>
#include <stddef.h>
#include <string.h>

#include "veo/run/special.h"

static const struct {
    int host;
    uint32_t psw;
} flags[] = {
    {FE_INVALID, VE_PSW_INVALID},     {FE_DIVBYZERO, VE_PSW_DIVIDE}, {FE_OVERFLOW, VE_PSW_OVERFLOW},
    {FE_UNDERFLOW, VE_PSW_UNDERFLOW}, {FE_INEXACT, VE_PSW_INEXACT},
};
enum { NFLAGS = sizeof flags / sizeof *flags };

/* By the PSW's numbers. */
static const int modes[] = {
    [VE_IRM_ZERO] = FE_TOWARDZERO,
    [VE_IRM_UP] = FE_UPWARD,
    [VE_IRM_DOWN] = FE_DOWNWARD,
    [VE_IRM_NEAREST] = FE_TONEAREST,
};
enum { NMODES = sizeof modes / sizeof *modes };

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static bool return_int(struct ve_core *core, int value)
{
    core->s[0] = (uint64_t)(int64_t)value;
    return true;
}

static uint32_t to_psw(uint64_t host)
{
    uint32_t psw = 0;
    for (size_t i = 0; i < NFLAGS; i++)
        psw |= ((uint32_t)host & (uint32_t)flags[i].host) != 0 ? flags[i].psw : 0;
    return psw;
}

static int to_host(uint64_t psw)
{
    int host = 0;
    for (size_t i = 0; i < NFLAGS; i++)
        host |= (psw & flags[i].psw) != 0 ? flags[i].host : 0;
    return host;
}

/* --- flags --- */

bool verun_feclearexcept(struct ve_core *core)
{
    ve_core_set_psw(core, ve_core_psw(core) & ~(uint64_t)to_psw(core->s[0]));
    return return_int(core, 0);
}

bool verun_fetestexcept(struct ve_core *core)
{
    return return_int(core, to_host(ve_core_psw(core) & to_psw(core->s[0])));
}

/* Goes on only if none of them is enabled. */
static bool raise_flags(struct ve_core *core, uint32_t psw)
{
    const uint64_t enabled = ve_core_psw(core) >> VE_PSW_ENABLE_SHIFT & psw;
    ve_arithmetic_exception(core, psw);
    return return_int(core, 0) && enabled == 0;
}

bool verun_feraiseexcept(struct ve_core *core)
{
    return raise_flags(core, to_psw(core->s[0]));
}

bool verun_fegetexceptflag(struct ve_core *core)
{
    const fexcept_t kept = (fexcept_t)to_host(ve_core_psw(core) & to_psw(core->s[1]));
    memcpy(pointer(core->s[0]), &kept, sizeof kept);
    return return_int(core, 0);
}

bool verun_fesetexceptflag(struct ve_core *core)
{
    fexcept_t kept;
    memcpy(&kept, pointer(core->s[0]), sizeof kept);
    const uint64_t chosen = to_psw(core->s[1]);
    ve_core_set_psw(core, (ve_core_psw(core) & ~chosen) | (to_psw(kept) & chosen));
    return return_int(core, 0);
}

/* --- rounding --- */

bool verun_fegetround(struct ve_core *core)
{
    return return_int(core, modes[(ve_core_psw(core) & VE_PSW_ROUNDING) >> VE_PSW_ROUNDING_SHIFT]);
}

bool verun_fesetround(struct ve_core *core)
{
    for (uint64_t mode = 0; mode < NMODES; mode++) {
        if (modes[mode] == (int)(int32_t)core->s[0]) {
            const uint64_t others = ve_core_psw(core) & ~(uint64_t)VE_PSW_ROUNDING;
            ve_core_set_psw(core, others | mode << VE_PSW_ROUNDING_SHIFT);
            return return_int(core, 0);
        }
    }
    return return_int(core, -1);
}

/* --- all of it: the PSW lies where an environment begins --- */

static void store_environment(struct ve_core *core)
{
    const uint64_t psw = ve_core_psw(core);
    memcpy(pointer(core->s[0]), &psw, sizeof psw);
}

static uint64_t load_environment(const struct ve_core *core)
{
    uint64_t psw = (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT;
    if (core->s[0] != UINT64_MAX) /* FE_DFL_ENV */
        memcpy(&psw, pointer(core->s[0]), sizeof psw);
    return psw;
}

bool verun_fegetenv(struct ve_core *core)
{
    store_environment(core);
    return return_int(core, 0);
}

bool verun_fesetenv(struct ve_core *core)
{
    ve_core_set_psw(core, load_environment(core));
    return return_int(core, 0);
}

bool verun_feholdexcept(struct ve_core *core)
{
    store_environment(core);
    ve_core_set_psw(core, ve_core_psw(core) & ~(uint64_t)(VE_PSW_FLAGS | VE_PSW_ENABLES));
    return return_int(core, 0);
}

bool verun_feupdateenv(struct ve_core *core)
{
    const uint32_t raised = (uint32_t)(ve_core_psw(core) & VE_PSW_FLAGS);
    ve_core_set_psw(core, load_environment(core));
    return raise_flags(core, raised);
}
