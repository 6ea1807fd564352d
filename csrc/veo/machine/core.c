/* SPDX-License-Identifier: BSD-3-Clause */
/* core.c: a core's registers, and why it stopped. */
#include "veo/machine/core.h"

#include "code.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct ve_core *ve_core_current;

static const struct {
    const char *name, *text;
    int signal;
} faults[VE_FAULT_COUNT] = {
#define FAULT(name, text, signal) {#name, text, signal},
#include "veo/machine/faults.def"
#undef FAULT
};

/* (m)0 is m zeros and ones, (m)1 the opposite; bit 6 tells which. */
static uint64_t mask_immediate(uint32_t value)
{
    uint32_t leading = value & 63;
    uint64_t ones_behind = leading == 0 ? UINT64_MAX : UINT64_MAX >> leading;
    return value >= 64 ? ones_behind : ~ones_behind;
}

struct ve_core *ve_core_create(void)
{
    struct ve_core *core = aligned_alloc(_Alignof(struct ve_core), sizeof *core);
    if (core == NULL)
        return NULL;

    memset(core, 0, sizeof *core);
    for (uint32_t i = 0; i < 128; i++) {
        core->sources[VE_SOURCE_SIGNED + i] = (uint64_t)(i < 64 ? (int64_t)i : (int64_t)i - 128);
        core->sources[VE_SOURCE_MASK + i] = mask_immediate(i);
        core->sources[VE_SOURCE_UNSIGNED + i] = i;
    }
    memset(core->vm[0], 0xff, sizeof core->vm[0]);
    core->psw = (uint64_t)VE_IRM_NEAREST << VE_PSW_ROUNDING_SHIFT;
    core->vl = VE_VECTOR_LENGTH;
    return core;
}

void ve_core_destroy(struct ve_core *core)
{
    if (core != NULL)
        ve_code_destroy(core->code);
    free(core);
}

uint64_t ve_core_address(const struct ve_core *core)
{
    return core->current != NULL ? core->current->address : core->fetched;
}

void ve_raise(struct ve_core *core, enum ve_fault_kind kind, uint64_t address)
{
    core->stopped = true;
    core->fault = (struct ve_fault){kind, ve_core_address(core), address, 0};
    if (core->current != NULL)
        core->fault.word = core->current->instruction.word;
}

void ve_arithmetic_exception(struct ve_core *core, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        enum ve_fault_kind kind;
    } kinds[] = {
        {VE_PSW_DIVIDE, VE_FAULT_DIVE},         {VE_PSW_INVALID, VE_FAULT_INVE},
        {VE_PSW_OVERFLOW, VE_FAULT_FOFE},       {VE_PSW_UNDERFLOW, VE_FAULT_FUFE},
        {VE_PSW_FIXED_OVERFLOW, VE_FAULT_XOFE}, {VE_PSW_INEXACT, VE_FAULT_INEE},
    };

    core->psw |= flags;
    uint64_t enabled = core->psw >> VE_PSW_ENABLE_SHIFT & flags;
    for (size_t i = 0; enabled != 0 && i < sizeof kinds / sizeof kinds[0]; i++)
        if ((enabled & kinds[i].flag) != 0) {
            ve_raise(core, kinds[i].kind, 0);
            return;
        }
}

const char *ve_fault_name(enum ve_fault_kind kind)
{
    return (uint32_t)kind < VE_FAULT_COUNT ? faults[kind].name : "unknown";
}

const char *ve_fault_text(enum ve_fault_kind kind)
{
    return (uint32_t)kind < VE_FAULT_COUNT ? faults[kind].text : "unknown exception";
}

int ve_fault_signal(enum ve_fault_kind kind)
{
    return (uint32_t)kind < VE_FAULT_COUNT ? faults[kind].signal : 0;
}
