/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: sentences about how a launch ended. */
#include "dpu/lib/run/fault.h"

#include "common/text.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/check_layout.h"
#include "dpu/lib/run/waiting.h"
#include "dpu/lib/run/whereabouts.h"
#include "dpu_management.h"
#include "dpusoft.h"

#include <string.h>

#define STACK_POINTER 22

/* Numbers of fault instructions that the run time of C programs uses. X(number, reason) */
#define REASONS(X) \
    X(1, "the heap is full") \
    X(2, "division by zero") \
    X(3, "assert failed") \
    X(4, "the program halted") \
    X(5, "printf overflow: the log is too small for what was printed") \
    X(6, "profiling was started twice") \
    X(7, "profiling was stopped without having been started") \
    X(8, "MRAM access that is not aligned to 8 bytes") \
    X(9, "the performance counter was configured in two ways")

static const char *reason_of(uint32_t number)
{
    switch (number) {
#define REASON(value, reason) \
    case value: return reason;
        REASONS(REASON)
#undef REASON
    default: return NULL;
    }
}

/* Assembly programs may mean something else by the same number. */
static void add_breakpoint(struct text *text, const struct dpu_t *dpu)
{
    uint32_t number = dpu->result.breakpoint;
    const char *reason = reason_of(number);
    if (reason != NULL && dpulib_is_c(dpu, dpu->result.fault_pc))
        text_add(text, "%s (fault %u)", reason, number);
    else if (reason != NULL)
        text_add(text, "fault instruction with number %u (in C programs: %s)", number, reason);
    else
        text_add(text, "fault instruction with number %u", number);
}

static void add_dma(struct text *text, const struct dpu_t *dpu)
{
    const struct dpu_run_result *result = &dpu->result;
    text_add(text, "DMA transfer of %u bytes ", result->fault_bytes);
    if (result->fault_detail == DPU_FAULT_DETAIL_MISALIGNED)
        text_add(text, "at 0x%x, which is not a multiple of 8", result->fault_address);
    else
        text_add(text, "whose place in %s is out of bounds, at 0x%x",
                 result->fault_detail == DPU_FAULT_DETAIL_MRAM_BOUNDS ? "MRAM" : "WRAM or IRAM",
                 result->fault_address);
}

/* A load or a store of WRAM, or by a cache of MRAM. */
static void add_memory(struct text *text, const struct dpu_t *dpu)
{
    const uint32_t address = dpu->result.fault_address;
    const bool is_cached = dpu->rank->configuration.machine.cache_kib != 0;
    if (is_cached && address >= DPU_MRAM_WINDOW) {
        bool is_inside = address - DPU_MRAM_WINDOW < dpu_machine_mram_size(dpu->machine);
        text_add(text, "MRAM access at 0x%x %s", address,
                 is_inside ? "misaligned" : "out of bounds");
        return;
    }

    text_add(text, "WRAM access at 0x%x %s", address,
             (address & 0xFFFFFF) >= dpu_machine_wram_size(dpu->machine)
                 ? "out of bounds"
                 : "misaligned or beyond a limit");
}

static void add_reason(struct text *text, const struct dpu_t *dpu)
{
    switch ((enum dpu_fault_kind)dpu->result.fault) {
    case DPU_FAULT_BREAKPOINT: add_breakpoint(text, dpu); return;
    case DPU_FAULT_DMA: add_dma(text, dpu); return;
    case DPU_FAULT_MEMORY: add_memory(text, dpu); return;
    case DPU_FAULT_UNDECODABLE: text_add(text, "this is no instruction"); return;
    case DPU_FAULT_NONE: break;
    }

    text_add(text, "unknown fault");
}

/* Before the program's own code the register is not a stack pointer yet. */
static bool has_stack_pointer(const struct dpu_elf *elf, uint32_t pc)
{
    const struct dpu_elf_symbol *symbol = dpu_elf_find_code(elf, pc, NULL);
    return symbol == NULL || strcmp(symbol->name, "__bootstrap") != 0;
}

/* Says so if the stack pointer of a tasklet is outside of its stack; true then. */
static bool add_stack_of(struct text *text, const struct dpu_t *dpu, const struct dpu_elf *elf,
                         uint32_t thread)
{
    struct dpu_thread_state state;
    if (!dpu_machine_get_thread(dpu->machine, thread, &state) || !has_stack_pointer(elf, state.pc))
        return false;

    struct dpu_check_area stack = dpulib_stack_of(elf, thread);
    uint32_t pointer = state.registers[STACK_POINTER], end = stack.address + stack.size;
    if (stack.size == 0 || (pointer >= stack.address && pointer <= end))
        return false;
    /* As a number with a sign: a stack at the beginning of WRAM has nothing before it. */
    bool below = (int32_t)(pointer - stack.address) < 0;
    text_add(text,
             "; stack overflow: the stack of tasklet %u is %u bytes at 0x%x, and the stack "
             "pointer is 0x%x, %u bytes beyond its end",
             thread, stack.size, stack.address, pointer,
             below ? stack.address - pointer : pointer - end);
    dpulib_add_stack_remedy(text, thread);
    return true;
}

/* Stack overflows fault late, at what they have overwritten, which may be another tasklet's: the
 * stack pointers tell. */
static void add_stack(struct text *text, const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    uint32_t faulty = dpu->result.fault_thread;
    if (program == NULL || add_stack_of(text, dpu, &program->elf, faulty))
        return;
    for (uint32_t i = 0; i < dpu_machine_thread_count(dpu->machine); i++)
        if (i != faulty && add_stack_of(text, dpu, &program->elf, i))
            return;
}

static void add_fault(struct text *text, const struct dpu_t *dpu)
{
    text_add(text, "tasklet %u at ", dpu->result.fault_thread);
    dpulib_add_place(text, dpu, dpu->result.fault_thread, dpu->result.fault_pc);
    text_add(text, ": ");
    add_reason(text, dpu);
    add_stack(text, dpu);
}

static void add_early_end(struct text *text, const struct dpu_t *dpu)
{
    if (dpu->status == DPUSOFT_INTERRUPTED)
        text_add(text, "the launch was interrupted");
    else
        text_add(text, "the launch took more than %llu cycles (softMaxCycles)",
                 (unsigned long long)dpu->rank->configuration.machine.max_cycles);
    if (dpulib_running(dpu) != 0) {
        text_add(text, "; running: ");
        dpulib_add_runners(text, dpu);
    }
    if (dpulib_sleepers(dpu) != 0) {
        text_add(text, "; asleep: ");
        dpulib_add_sleepers(text, dpu);
    }
}

void dpulib_explain(const struct dpu_t *dpu, char *buffer, size_t size)
{
    struct text text = text_new(buffer, size);
    switch ((enum dpusoft_status)dpu->status) {
    case DPUSOFT_FAULT: add_fault(&text, dpu); return;
    case DPUSOFT_INTERRUPTED:
    case DPUSOFT_CYCLE_LIMIT: add_early_end(&text, dpu); return;
    case DPUSOFT_DONE:
        if (dpulib_sleepers(dpu) == 0)
            return;
        text_add(&text, "the launch ended while tasklets slept that nobody wakes: ");
        dpulib_add_sleepers(&text, dpu);
        return;
    case DPUSOFT_STEPPED:
    case DPUSOFT_BREAKPOINT:
    case DPUSOFT_NEVER_LAUNCHED: return;
    }
}

void dpulib_describe_fault(struct dpu_t *dpu, char *buffer, size_t size)
{
    char reason[DPULIB_EXPLANATION_MAX];
    struct text text = text_new(buffer, size);
    if (dpu->status == DPUSOFT_DONE)
        return;
    dpulib_explain(dpu, reason, sizeof reason);
    if (reason[0] != 0)
        text_add(&text, "DPU %u.%u.%u (id 0x%x): %s", dpu->rank->id, dpu->slice, dpu->member,
                 dpu_get_id(dpu), reason);
}
