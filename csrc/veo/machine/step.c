/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c: one instruction at a time, for debuggers and traces. */
#include "code.h"
#include "executors.h"
#include "floating.h"
#include "run.h"

bool ve_enter_gate(struct ve_core *core, uint64_t address)
{
    core->ic = address;
    core->current = NULL;
    core->fetched = address;
    core->stopped = core->gate == NULL || !core->gate(core, address);
    return !core->stopped;
}

bool ve_fetch(struct ve_core *core, uint64_t address, struct ve_instruction *instruction)
{
    core->current = NULL;
    core->fetched = address;
    if (address % 8 != 0) {
        ve_raise(core, VE_FAULT_ILSA, address);
        return false;
    }
    if (address < VE_LOWEST_CODE) {
        ve_raise(core, VE_FAULT_ILSP, address);
        return false;
    }

    uint64_t word = *(const volatile uint64_t *)(uintptr_t)address;
    if (ve_decode(word, instruction))
        return true;
    ve_raise(core, ve3_mnemonic(word) != NULL ? VE_FAULT_VE3 : VE_FAULT_ILOP, address);
    core->fault.word = word;
    return false;
}

static bool step(struct ve_core *core)
{
    uint64_t address = core->ic;
    if (address >= core->gate_low && address < core->gate_high) {
        if (!ve_enter_gate(core, address))
            return false;
        core->ic = core->s[VE_S_LINK];
        return true;
    }

    struct ve_decoded decoded = {.address = address};
    if (!ve_fetch(core, address, &decoded.instruction))
        return false;

    core->current = &decoded;
    core->next = address + 8;
    if (core->check != NULL)
        core->check(core, &decoded.instruction, address);
    if (ve_floating_is_checked(core))
        ve_execute_checked(core, &decoded.instruction);
    else
        ve_executors[decoded.instruction.operation](core, &decoded.instruction);
    if (!core->stopped) {
        core->ic = core->next;
        if (core->observe != NULL)
            core->observe(core, &decoded.instruction, address);
    }
    core->current = NULL;
    core->fetched = address;
    return !core->stopped;
}

bool ve_run_stepping(struct ve_core *core)
{
    while (core->ic != VE_HALT_ADDRESS)
        if (!step(core))
            return false;
    return true;
}

bool ve_core_step(struct ve_core *core, bool *halted)
{
    struct ve_core *outer = ve_core_current;
    struct ve_host_floating host;
    *halted = core->ic == VE_HALT_ADDRESS;
    if (*halted)
        return true;

    ve_core_current = core;
    core->stopped = false;
    core->fault = (struct ve_fault){0};
    ve_floating_enter(core, &host);
    core->depth++;
    bool went_on = step(core);
    core->depth--;
    ve_floating_leave(core, &host);
    ve_core_current = outer;
    *halted = core->ic == VE_HALT_ADDRESS;
    return went_on;
}
