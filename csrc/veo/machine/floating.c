/* SPDX-License-Identifier: BSD-3-Clause */
/* floating.c: rounding modes and flags. */
#include "floating.h"

#include "code.h"
#include "executors.h"

static void set_rounding(uint64_t psw)
{
    static const int modes[] = {
        [VE_IRM_ZERO] = FE_TOWARDZERO,
        [VE_IRM_UP] = FE_UPWARD,
        [VE_IRM_DOWN] = FE_DOWNWARD,
        [VE_IRM_NEAREST] = FE_TONEAREST,
    };
    fesetround(modes[(psw & VE_PSW_ROUNDING) >> VE_PSW_ROUNDING_SHIFT]);
}

static uint32_t host_flags(void)
{
    int raised = fetestexcept(FE_ALL_EXCEPT);
    return (uint32_t)((raised & FE_INEXACT) != 0 ? VE_PSW_INEXACT : 0) |
           (uint32_t)((raised & FE_INVALID) != 0 ? VE_PSW_INVALID : 0) |
           (uint32_t)((raised & FE_UNDERFLOW) != 0 ? VE_PSW_UNDERFLOW : 0) |
           (uint32_t)((raised & FE_OVERFLOW) != 0 ? VE_PSW_OVERFLOW : 0) |
           (uint32_t)((raised & FE_DIVBYZERO) != 0 ? VE_PSW_DIVIDE : 0);
}

#if defined(__x86_64__)
enum { ALL_FLAGS = 0x3F, ROUNDING_OF_X87 = 0xC00, SSE_MASKS = 0x1F80, SSE_ROUNDING = 0x6000 };

/* True if the x87 unit rounds to nearest, stops at nothing, and has noted nothing. */
static bool is_x87_plain(void)
{
    uint16_t control, status;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    __asm__ volatile("fnstsw %0" : "=m"(status));
    return (control & (ROUNDING_OF_X87 | ALL_FLAGS)) == ALL_FLAGS && (status & ALL_FLAGS) == 0;
}

static bool enter_sse(const struct ve_core *core, struct ve_host_floating *host)
{
    host->sse = __builtin_ia32_stmxcsr();
    bool rounds_to_nearest =
        (core->psw & VE_PSW_ROUNDING) >> VE_PSW_ROUNDING_SHIFT == VE_IRM_NEAREST;
    host->is_sse_alone = rounds_to_nearest && (host->sse & SSE_ROUNDING) == 0 && is_x87_plain();
    if (host->is_sse_alone)
        __builtin_ia32_ldmxcsr((host->sse & ~(uint32_t)ALL_FLAGS) | SSE_MASKS);
    return host->is_sse_alone;
}

/* Undoes what the code did to the x87 unit, by long doubles or another rounding mode. */
static void leave_sse(const struct ve_host_floating *host)
{
    if (!is_x87_plain()) {
        feclearexcept(FE_ALL_EXCEPT);
        fesetround(FE_TONEAREST);
    }
    __builtin_ia32_ldmxcsr(host->sse);
}
#else
static bool enter_sse(const struct ve_core *core, struct ve_host_floating *host)
{
    (void)core;
    return host->is_sse_alone = false;
}

static void leave_sse(const struct ve_host_floating *host)
{
    (void)host;
}
#endif

void ve_floating_enter(struct ve_core *core, struct ve_host_floating *host)
{
    if (enter_sse(core, host))
        return;
    feholdexcept(&host->all);
    set_rounding(core->psw);
}

void ve_floating_leave(struct ve_core *core, const struct ve_host_floating *host)
{
    core->psw |= host_flags();
    if (host->is_sse_alone)
        leave_sse(host);
    else
        fesetenv(&host->all);
}

uint64_t ve_core_psw(struct ve_core *core)
{
    if (core->depth > 0)
        core->psw |= host_flags();
    return core->psw;
}

void ve_core_set_psw(struct ve_core *core, uint64_t psw)
{
    bool was_checked = ve_floating_is_checked(core), had_enabled = ve_exceptions_are_enabled(core);
    core->psw = psw & (VE_PSW_FLAGS | VE_PSW_PROGRAM_MODE);
    if (core->depth > 0) {
        feclearexcept(FE_ALL_EXCEPT);
        set_rounding(psw);
    }
    bool changes = ve_floating_is_checked(core) != was_checked ||
                   ve_exceptions_are_enabled(core) != had_enabled;
    if (changes && core->code != NULL)
        ve_code_reset(core->code);
}

/* The flags that an instruction with these causes may raise. */
static uint32_t flags_of(enum ve_causes causes)
{
    const uint32_t arithmetic =
        VE_PSW_INVALID | VE_PSW_OVERFLOW | VE_PSW_UNDERFLOW | VE_PSW_INEXACT;
    switch (causes) {
    case VE_CAUSES_FLOAT: return arithmetic;
    case VE_CAUSES_FLOAT_DIVIDE: return arithmetic | VE_PSW_DIVIDE;
    case VE_CAUSES_NARROW: return arithmetic & ~(uint32_t)VE_PSW_INVALID;
    case VE_CAUSES_INVALID: return VE_PSW_INVALID;
    case VE_CAUSES_INEXACT: return VE_PSW_INEXACT;
    case VE_CAUSES_TO_FIXED: return VE_PSW_INVALID | VE_PSW_INEXACT;
    case VE_CAUSES_APPROXIMATE: return VE_PSW_DIVIDE | VE_PSW_INVALID;
    default: return 0;
    }
}

void ve_execute_checked(struct ve_core *core, const struct ve_instruction *instruction)
{
    core->psw |= host_flags();
    feclearexcept(FE_ALL_EXCEPT);
    ve_executors[instruction->operation](core, instruction);
    uint32_t may = flags_of(ve_operation_info(instruction->operation)->causes);
    if (!core->stopped)
        ve_arithmetic_exception(core, host_flags() & may);
}
