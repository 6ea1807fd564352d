/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: sentences about how a launch ended. */
#include "dpu/core.h"
#include "dpu_machine/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Numbers of fault instructions that the run time of programs uses. X(number, reason) */
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

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (length <= 0 || text->left == 0)
        return;
    size_t step = (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += step;
    text->left -= step;
}

/* Compiled C calls it for products and quotients; the way back is in r13, whose bits above those of
 * an instruction's index are the routine's own. */
#define ARITHMETIC_ROUTINES "__multiply_divide"
#define ARITHMETIC_LINK 13

/* Returns the symbol that the place is in, NULL if it is unknown. */
static const struct dpu_elf_symbol *add_place(struct text *text, const struct dpu_t *dpu,
                                              uint32_t pc)
{
    add(text, "pc 0x%x", pc);
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    if (program == NULL)
        return NULL;
    uint32_t offset = 0;
    const struct dpu_elf *elf = &program->elf;
    const struct dpu_elf_symbol *symbol = dpu_elf_find_code(elf, pc, &offset);
    struct dpu_line line;
    bool has_line = dpu_lines_find(elf->lines, elf->lines_size, DPU_ELF_IRAM_BASE + 8 * pc, &line);
    if (symbol != NULL)
        add(text, " (%s+0x%x", symbol->name, offset);
    if (has_line)
        add(text, "%s%s%s%s:%u", symbol != NULL ? ", " : " (",
            line.folder != NULL ? line.folder : "", line.folder != NULL ? "/" : "", line.file,
            line.line);
    if (symbol != NULL || has_line)
        add(text, ")");
    return symbol;
}

static void add_caller(struct text *text, struct dpu_t *dpu, const struct dpu_elf_symbol *symbol)
{
    struct dpu_thread_state state;
    if (symbol == NULL || strcmp(symbol->name, ARITHMETIC_ROUTINES) != 0 ||
        !dpu_machine_get_thread(dpu->machine, dpu->result.fault_thread, &state))
        return;
    add(text, ", called at ");
    add_place(text, dpu, (state.registers[ARITHMETIC_LINK] - 1) & 0xFFF);
}

static void add_breakpoint(struct text *text, uint32_t number)
{
    switch (number) {
#define REASON(value, reason) \
    case value: add(text, reason " (fault %u)", number); return;
        REASONS(REASON)
#undef REASON
    default: add(text, "fault instruction with number %u", number);
    }
}

static void add_reason(struct text *text, const struct dpu_t *dpu)
{
    const struct dpu_run_result *result = &dpu->result;
    uint32_t address = result->fault_address;
    switch ((enum dpu_fault_kind)result->fault) {
    case DPU_FAULT_BREAKPOINT: add_breakpoint(text, result->breakpoint); return;
    case DPU_FAULT_DMA:
        add(text, "transfer between MRAM and WRAM or IRAM that is out of bounds");
        return;
    case DPU_FAULT_MEMORY:
        add(text, "WRAM access at 0x%x %s", address,
            (address & 0xFFFFFF) >= dpu_machine_wram_size(dpu->machine)
                ? "out of bounds"
                : "misaligned or beyond a limit");
        return;
    case DPU_FAULT_UNDECODABLE: add(text, "this is no instruction"); return;
    case DPU_FAULT_NONE: break;
    }
    add(text, "unknown fault");
}

static void add_running(struct text *text, struct dpu_t *dpu)
{
    const char *separator = "; tasklets ran at";
    for (uint32_t i = 0; i < dpu_machine_thread_count(dpu->machine); i++) {
        struct dpu_thread_state state;
        if (!dpu_machine_get_thread(dpu->machine, i, &state) || !state.running)
            continue;
        add(text, "%s %u: ", separator, i);
        add_place(text, dpu, state.pc);
        separator = ",";
    }
}

void dpulib_describe_fault(struct dpu_t *dpu, char *buffer, size_t size)
{
    struct text text = {buffer, size};
    if (size != 0)
        *buffer = 0;
    if (dpu->status != DPUSOFT_FAULT && dpu->status != DPUSOFT_INTERRUPTED &&
        dpu->status != DPUSOFT_CYCLE_LIMIT)
        return;
    add(&text, "DPU %u.%u.%u (id 0x%x): ", dpu->rank->id, dpu->slice, dpu->member, dpu_get_id(dpu));
    if (dpu->status == DPUSOFT_FAULT) {
        add(&text, "tasklet %u at ", dpu->result.fault_thread);
        const struct dpu_elf_symbol *symbol = add_place(&text, dpu, dpu->result.fault_pc);
        add_caller(&text, dpu, symbol);
        add(&text, ": ");
        add_reason(&text, dpu);
        return;
    }
    if (dpu->status == DPUSOFT_INTERRUPTED)
        add(&text, "the launch was interrupted");
    else
        add(&text, "the launch took more than %llu cycles (softMaxCycles)",
            (unsigned long long)dpu->rank->profile.max_cycles);
    add_running(&text, dpu);
}
