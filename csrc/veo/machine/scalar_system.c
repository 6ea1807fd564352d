/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scalar_system.c: the PSW, miscellaneous registers, monitor calls, and what moves single elements
 * of vectors and words of masks.
 */
#include "code.h"
#include "executors.h"
#include "scalar.h"

#include <time.h>

#define EXECUTE(operation) \
    void ve_execute_##operation(struct ve_core *core, const struct ve_instruction *i)

/* --- the PSW -------------------------------------------------------------------------------------
 */

EXECUTE(LPM)
{
    ve_core_set_psw(core, (ve_core_psw(core) & VE_PSW_FLAGS) | (Y & VE_PSW_PROGRAM_MODE));
}

EXECUTE(SPM)
{
    X = ve_core_psw(core) & VE_PSW_PROGRAM_MODE;
}

EXECUTE(LFR)
{
    ve_core_set_psw(core, (ve_core_psw(core) & VE_PSW_PROGRAM_MODE) | (Y & VE_PSW_FLAGS));
}

EXECUTE(SFR)
{
    X = ve_core_psw(core) & VE_PSW_FLAGS;
}

/* --- miscellaneous registers --- */

/* The clock counter of a VE at 1.4 GHz. */
static uint64_t clock_counter(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) * 7 / 5;
}

EXECUTE(SMIR)
{
    switch (i->y) {
    case VE_MISC_USRCC: X = clock_counter(); break;
    case VE_MISC_PSW: X = ve_core_psw(core); break;
    default: X = 0; break; /* nothing is counted */
    }
}

EXECUTE(FENCEI)
{
    (void)i;
    ve_code_changed(); /* for what is translated */
    if (core->code != NULL)
        ve_code_reset(core->code);
}

/* --- monitor calls --- */

/* Numbers of the calls that the machine serves itself. */
enum { MONITOR_GROW_STACK = 315 };

/* The area of a thread's monitor calls, which its thread pointer leads to: number, arguments. */
static uint64_t call_area(const struct ve_core *core)
{
    return ve_load64(core->s[VE_S_THREAD] + 24);
}

/* The stack pointer went below the limit: the limit follows it, down to the end of the stack. */
static void grow_stack(struct ve_core *core)
{
    uint64_t stack = core->s[VE_S_STACK];
    if (stack < core->stack_low)
        ve_raise(core, VE_FAULT_STACK, stack);
    else if (core->s[VE_S_LIMIT] > stack)
        core->s[VE_S_LIMIT] = stack;
}

EXECUTE(MONC)
{
    (void)i;
    if (core->s[VE_S_THREAD] == 0) {
        ve_raise(core, VE_FAULT_MONC, 0);
        return;
    }

    uint64_t number = ve_load64(call_area(core));
    if (number == MONITOR_GROW_STACK)
        grow_stack(core);
    else if (core->monitor_call == NULL)
        ve_raise(core, VE_FAULT_MONC, number);
    else if (!core->monitor_call(core, number))
        core->stopped = true;
}

EXECUTE(MONC_HDB)
{
    (void)i;
    ve_raise(core, VE_FAULT_MONT, 0);
}

/* --- elements of vectors, words of masks --- */

EXECUTE(LSV)
{
    ve_vector(core, i->vx)[Y & (VE_VECTOR_LENGTH - 1)] = Z;
}

EXECUTE(LVS)
{
    X = ve_vector(core, i->vx)[Y & (VE_VECTOR_LENGTH - 1)];
}

/* vm0 is all ones whatever is written. */
EXECUTE(LVM)
{
    if (i->vx != 0)
        core->vm[i->vx][Y & (VE_MASK_WORDS - 1)] = Z;
}

EXECUTE(SVM)
{
    X = core->vm[i->vz][Y & (VE_MASK_WORDS - 1)];
}
