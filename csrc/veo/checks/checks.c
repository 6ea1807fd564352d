/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/checks/checks.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "veo/checks/shadow.h"

#define ARGUMENTS 8

/* --- the stack --- */

/* Memory below the stack pointer is nothing; where that moves down, it is fresh. */
static void follow_stack(struct ve_checks *checks)
{
    uint64_t now = checks->core->s[VE_S_STACK];
    if (now == checks->stack)
        return;
    if (now < checks->stack && now >= checks->core->stack_low)
        ve_shadow_fresh(now, checks->stack - now);
    else if (now > checks->stack)
        ve_shadow_hide(checks->stack, now - checks->stack);
    /* Calls that longjmp() has left. */
    while (checks->depth != 0 && checks->calls[checks->depth - 1].stack < now)
        checks->depth--;
    checks->stack = now;
}

/* --- instructions --- */

/* Where a jump of `b` or `bsic` goes to. */
static void follow_jump(struct ve_checks *checks, const struct ve_fact *fact)
{
    const struct ve_instruction *i = checks->instruction;
    if (fact->kind == VE_FACT_CALL)
        ve_calls_enter(checks, checks->pc, checks->pc + 8);
    else if (i->condition == VE_ALWAYS)
        ve_calls_return(checks, ve_base_address(checks->core, i));
}

static void look(struct ve_core *core, const struct ve_instruction *instruction, uint64_t address)
{
    struct ve_checks *checks = core->checks;
    const struct ve_fact *fact = ve_fact_of(instruction->operation);
    checks->instruction = instruction;
    checks->pc = address;
    follow_stack(checks);

    switch ((enum ve_fact_kind)fact->kind) {
    case VE_FACT_NOTHING: return;
    case VE_FACT_LOAD:
    case VE_FACT_STORE:
    case VE_FACT_ATOMIC:
    case VE_FACT_VECTOR_LOAD:
    case VE_FACT_VECTOR_STORE:
    case VE_FACT_GATHER:
    case VE_FACT_SCATTER: ve_check_memory(checks, fact); return;
    case VE_FACT_SCALAR:
    case VE_FACT_BRANCH:
    case VE_FACT_LENGTH: ve_check_scalar(checks, fact); return;
    case VE_FACT_JUMP:
    case VE_FACT_CALL:
        ve_check_scalar(checks, fact);
        follow_jump(checks, fact);
        return;
    case VE_FACT_VECTOR:
    case VE_FACT_MOVE:
    case VE_FACT_REDUCE:
    case VE_FACT_RECUR:
    case VE_FACT_MASK_MADE:
    case VE_FACT_MASK_COMBINED:
    case VE_FACT_MASK_COUNTED:
    case VE_FACT_ELEMENT_SET:
    case VE_FACT_ELEMENT_GOT:
    case VE_FACT_MASK_SET:
    case VE_FACT_MASK_GOT: ve_check_vector(checks, fact); return;
    }
}

/* --- calls of the host's, and by the host --- */

void ve_checks_enter(struct ve_checks *checks, unsigned count, uint64_t from, uint64_t size,
                     bool outermost)
{
    follow_stack(checks);
    if (size != 0)
        ve_shadow_define(from, size);
    if (outermost) {
        for (unsigned i = 0; i < 64; i++)
            checks->s[i] = ALL;
        for (unsigned i = VE_S_LIMIT; i <= VE_S_THREAD; i++)
            checks->s[i] = 0;
        memset(checks->shade->v, 0xff, sizeof checks->shade->v);
        memset(&checks->vm[1], 0xff, sizeof checks->vm - sizeof checks->vm[0]);
        memset(checks->written, 0, sizeof checks->written);
        checks->depth = checks->lost = 0;
    }
    for (unsigned i = 0; i < count && i < ARGUMENTS; i++)
        checks->s[i] = 0;
    checks->s[VE_S_CALLEE] = checks->s[VE_S_LINK] = 0;
    ve_calls_enter(checks, 0, VE_HALT_ADDRESS);
}

uint64_t ve_checks_gate_pc(const struct ve_checks *checks)
{
    uint64_t caller = ve_checks_caller(checks, 0);
    return caller != 0 ? caller : checks->pc;
}

uint64_t ve_checks_undefined(const struct ve_checks *checks, unsigned number)
{
    return checks->s[number % 64];
}

void ve_checks_define(struct ve_checks *checks, unsigned number)
{
    checks->s[number % 64] = 0;
}

uint64_t ve_checks_stack_top(const struct ve_checks *checks)
{
    return checks->top;
}

void ve_checks_tell_gate(struct ve_checks *checks, struct ve_finding finding)
{
    checks->pc = ve_checks_gate_pc(checks);
    ve_check_tell(checks, finding);
}

void ve_checks_leave_gate(struct ve_checks *checks)
{
    checks->s[0] = 0;
    follow_stack(checks);
    ve_calls_return(checks, checks->core->s[VE_S_LINK]);
}

bool ve_checks_range(struct ve_checks *checks, const char *function, uint64_t address,
                     uint64_t size, bool writes)
{
    struct ve_finding finding = {.kind = VE_FINDING_OUTSIDE,
                                 .check = VE_CHECK_BOUNDS,
                                 .function = function,
                                 .writes = writes,
                                 .address = address,
                                 .size = size,
                                 .element = VE_FINDING_NONE};
    checks->pc = ve_checks_gate_pc(checks);
    return size == 0 || ve_check_inside(checks, finding);
}

/* --- making --- */

/* Code runs an instruction at a time while somebody observes it. */
static void observe_nothing(struct ve_core *core, const struct ve_instruction *instruction,
                            uint64_t address)
{
    (void)core;
    (void)instruction;
    (void)address;
}

struct ve_checks *ve_checks_attach(struct ve_core *core, const struct ve_checks_services *services)
{
    struct ve_checks *checks = calloc(1, sizeof *checks);
    if (checks == NULL)
        return NULL;
    checks->shade = ve_core_create();
    if (checks->shade == NULL) {
        free(checks);
        return NULL;
    }

    checks->services = services;
    checks->core = core;
    checks->stack = checks->top = core->s[VE_S_STACK];
    ve_shadow_hide(core->stack_low, checks->stack - core->stack_low);
    core->checks = checks;
    core->check = look;
    if (core->observe == NULL)
        core->observe = observe_nothing;
    return checks;
}

void ve_checks_detach(struct ve_checks *checks)
{
    if (checks == NULL)
        return;
    ve_shadow_open(checks->core->stack_low, checks->top - checks->core->stack_low);
    checks->core->check = NULL;
    checks->core->checks = NULL;
    ve_core_destroy(checks->shade);
    free(checks->calls);
    free(checks);
}

const struct ve_core *ve_checks_core(const struct ve_checks *checks)
{
    return checks->core;
}
