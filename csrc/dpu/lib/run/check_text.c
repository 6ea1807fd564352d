/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/check_text.h"

#include "dpu/lib/programs/program.h"
#include "dpu/lib/run/check_layout.h"
#include "dpu/lib/run/waiting.h"
#include "dpu/lib/run/whereabouts.h"

#include <string.h>

#define LINE "\n== "
/* Calls that are shown: recursion has many. */
#define CALLS_MAX 16

static const struct dpu_elf *elf_of(const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    return program != NULL ? &program->elf : NULL;
}

static bool is_start(const struct dpu_elf *elf, uint32_t pc)
{
    const struct dpu_elf_symbol *symbol = elf != NULL ? dpu_elf_find_code(elf, pc, NULL) : NULL;
    return symbol != NULL && strcmp(symbol->name, "__bootstrap") == 0;
}

void dpulib_add_calls(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                      struct dpu_check_point point)
{
    uint32_t pc, calls = point.calls;
    text_add(text, LINE "   at ");
    dpulib_add_own_place(text, dpu, point.pc);
    for (uint32_t i = 0; dpu_checks_caller(checks, &calls, &pc) && !is_start(elf_of(dpu), pc);
         i++) {
        if (i == CALLS_MAX) {
            text_add(text, LINE "   and further calls");
            return;
        }
        text_add(text, LINE "   called at ");
        dpulib_add_own_place(text, dpu, pc);
    }
}

static const char *verb_of(const struct dpu_check_point *point)
{
    return point->writes ? "writes" : "reads";
}

static void add_access(struct text *text, const struct dpu_t *dpu,
                       const struct dpu_finding *finding)
{
    text_add(text, "tasklet %u %s %u byte%s of ", finding->here.thread, verb_of(&finding->here),
             finding->size, finding->size == 1 ? "" : "s");
    dpulib_add_variable(text, elf_of(dpu), finding->address, finding->in_mram);
    text_add(text, "%s", finding->here.by_dma ? " by DMA" : "");
}

static void add_other(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                      const struct dpu_finding *finding)
{
    text_add(text, LINE "  the other is tasklet %u, which %s it%s", finding->other.thread,
             verb_of(&finding->other), finding->other.by_dma ? " by DMA" : "");
    dpulib_add_calls(text, dpu, checks, finding->other);
}

static void add_waits(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                      const struct dpu_finding *finding)
{
    text_add(text, "deadlock: %u tasklet%s for locks that nobody will release", finding->wait_count,
             finding->wait_count == 1 ? " waits" : "s wait");
    for (uint32_t i = 0; i < finding->wait_count; i++) {
        const struct dpu_check_wait *wait = &finding->waits[i];
        text_add(text, LINE "  tasklet %u waits for ", wait->point.thread);
        dpulib_add_lock(text, dpu, wait->bit);
        dpulib_add_calls(text, dpu, checks, wait->point);
        if (wait->holder >= DPU_MACHINE_THREADS_ROOM) {
            text_add(text, LINE "  that no tasklet has taken");
            continue;
        }
        text_add(text, LINE "  that tasklet %u has taken", wait->holder);
        dpulib_add_calls(text, dpu, checks, wait->taken);
    }
}

static void add_stack(struct text *text, const struct dpu_t *dpu, const struct dpu_finding *finding)
{
    text_add(text,
             "stack overflow: the stack of tasklet %u has %u bytes, and here it needs %u "
             "more; the stack pointer is in ",
             finding->here.thread, finding->end, finding->size);
    dpulib_add_variable(text, elf_of(dpu), finding->address, false);
    dpulib_add_stack_remedy(text, finding->here.thread);
}

static void add_end(struct text *text, const struct dpu_finding *finding)
{
    text_add(text, ", %u bytes beyond its end", finding->address + finding->size - finding->end);
}

void dpulib_add_finding(struct text *text, const struct dpu_t *dpu, const struct dpu_checks *checks,
                        const struct dpu_finding *finding)
{
    switch (finding->kind) {
    case DPU_FINDING_UNDEFINED_CONDITION:
        text_add(text,
                 "uninitialised: a condition of tasklet %u depends on bytes that were "
                 "never written",
                 finding->here.thread);
        break;
    case DPU_FINDING_UNDEFINED_ADDRESS:
        text_add(text,
                 "uninitialised: an address of tasklet %u depends on bytes that were "
                 "never written",
                 finding->here.thread);
        break;
    case DPU_FINDING_STACK_OVERFLOW: add_stack(text, dpu, finding); break;
    case DPU_FINDING_DMA_MISALIGNED:
        text_add(text, "misaligned DMA: ");
        add_access(text, dpu, finding);
        text_add(text, ", not at a multiple of 8: the hardware drops the low bits");
        break;
    case DPU_FINDING_DMA_OUT_OF_MEMORY:
        text_add(text, "DMA out of bounds: ");
        add_access(text, dpu, finding);
        text_add(text, ", beyond the end of the memory");
        break;
    case DPU_FINDING_DMA_BEYOND:
        text_add(text, "DMA beyond a variable: ");
        add_access(text, dpu, finding);
        add_end(text, finding);
        break;
    case DPU_FINDING_DMA_IN_FLIGHT:
        text_add(text, "access during a transfer: ");
        add_access(text, dpu, finding);
        break;
    case DPU_FINDING_NULL:
        text_add(text, "null pointer: ");
        add_access(text, dpu, finding);
        break;
    case DPU_FINDING_NOTHING:
        text_add(text, "access outside of variables: ");
        add_access(text, dpu, finding);
        text_add(text, ", of which the program has allocated %u bytes", finding->end);
        break;
    case DPU_FINDING_RACE:
        text_add(text, "race: ");
        add_access(text, dpu, finding);
        text_add(text, ", and nothing orders this and another access");
        break;
    case DPU_FINDING_DEADLOCK: add_waits(text, dpu, checks, finding); return;
    }

    dpulib_add_calls(text, dpu, checks, finding->here);
    if (finding->has_other)
        add_other(text, dpu, checks, finding);
}
