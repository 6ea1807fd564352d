/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/whereabouts.h"

#include "common/text.h"
#include "dpu/isa/instructions.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/ranks/rank.h"
#include "common/readable_name.h"
#include "formats/dpu_elf.h"
#include "formats/lines.h"

#include <string.h>

#define STACK_POINTER 22
#define LINK 23
#define ZERO DPU_MACHINE_REGISTERS
/* Compiled C calls it for products and quotients; the way back is in r13, whose bits above those of
 * an instruction's index are the routine's own. */
#define ARITHMETIC_ROUTINES "__multiply_divide"
#define ARITHMETIC_LINK 13

#define PC_MASK (DPU_MACHINE_IRAM - 1u)
/* Callers that are followed, and words of the stack that are looked at for each. */
#define CALLERS_MAX 4
#define STACK_WORDS 96
/* Instructions that are gone back from inlined code of the run time. */
#define BACK_MAX 64

/* Functions of the run time whose names programs do not use otherwise. Those that begin with "__"
 * are its own too. */
static const char *const runtime_functions[] = {
    "barrier_wait", "sem_take",   "sem_give",   "handshake_notify", "handshake_wait_for",
    "mem_alloc",    "mem_reset",  "fsb_alloc",  "mem_alloc_nolock", "fsb_get",
    "buddy_alloc",  "buddy_init", "buddy_free", "buddy_realloc",    "printf",
    "puts",         "putchar",    "halt",       "mutex_lock",       "perfcounter_config",
};

static const struct dpu_elf *elf_of(const struct dpu_t *dpu)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    return program != NULL ? &program->elf : NULL;
}

static bool find_line(const struct dpu_elf *elf, uint32_t pc, struct dpu_line *line)
{
    return dpu_lines_find(elf->lines, elf->lines_size, DPU_ELF_IRAM_BASE + 8 * pc, line);
}

/* Ours is compiled as dpu/runtime/...; the vendor's comes from dpu-rt/src, with headers in syslib.
 */
static bool is_runtime_path(const char *path)
{
    return strstr(path, "dpu/runtime") != NULL || strncmp(path, "dpu-rt/", 7) == 0 ||
           strstr(path, "/dpu-rt/") != NULL || strstr(path, "/syslib") != NULL;
}

static bool is_runtime_line(const struct dpu_line *line)
{
    return is_runtime_path(line->file) || (line->folder != NULL && is_runtime_path(line->folder));
}

static uint32_t first_pc(const struct dpu_elf_symbol *symbol)
{
    return (symbol->value - DPU_ELF_IRAM_BASE) / 8;
}

/* The lines decide where there are any, and else the name. */
static bool is_runtime_function(const struct dpu_elf *elf, const struct dpu_elf_symbol *symbol)
{
    struct dpu_line line;
    if (symbol == NULL)
        return false;
    if (find_line(elf, first_pc(symbol), &line))
        return is_runtime_line(&line);
    if (strncmp(symbol->name, "__", 2) == 0 && strcmp(symbol->name, "__bootstrap") != 0)
        return true;

    for (size_t i = 0; i < sizeof runtime_functions / sizeof runtime_functions[0]; i++)
        if (strcmp(symbol->name, runtime_functions[i]) == 0)
            return true;
    return false;
}

/* The line of the program's own that inlined code of the run time belongs to. */
static bool find_own_line(const struct dpu_elf *elf, const struct dpu_elf_symbol *symbol,
                          uint32_t pc, struct dpu_line *line)
{
    if (!find_line(elf, pc, line))
        return false;
    if (!is_runtime_line(line) || symbol == NULL || is_runtime_function(elf, symbol))
        return true;

    struct dpu_line before;
    for (uint32_t i = 1; i <= BACK_MAX && pc >= first_pc(symbol) + i; i++)
        if (find_line(elf, pc - i, &before) && !is_runtime_line(&before)) {
            *line = before;
            break;
        }
    return true;
}

/* --- callers --- */

static int64_t operand(const struct dpu_instruction *instruction, const struct dpu_form_info *form,
                       enum dpu_operand wanted, int64_t otherwise)
{
    for (uint32_t i = 0; i < form->operand_count; i++)
        if (form->operands[i] == (uint32_t)wanted)
            return instruction->values[i];
    return otherwise;
}

static bool decode(const struct dpu_t *dpu, uint32_t pc, struct dpu_instruction *instruction,
                   struct dpu_form_info *form)
{
    uint64_t word;
    return dpu_machine_read_iram(dpu->machine, pc, &word, 1) && dpu_decode(word, instruction) &&
           dpu_form_info(instruction->form, form);
}

/* The instruction of OTHER that jumps to the function instead of calling it, as its last deed. */
static bool find_tail_call(const struct dpu_t *dpu, const struct dpu_elf_symbol *other,
                           const struct dpu_elf_symbol *function, uint32_t *site)
{
    struct dpu_instruction instruction;
    struct dpu_form_info form;
    if (other == NULL || other->kind != DPU_ELF_FUNCTION)
        return false;

    /* A size is what a file claims. */
    uint32_t words = other->size / 8 < DPU_MACHINE_IRAM ? other->size / 8 : DPU_MACHINE_IRAM;
    for (uint32_t pc = first_pc(other); pc < first_pc(other) + words; pc++) {
        if (!decode(dpu, pc, &instruction, &form))
            continue;
        int64_t target = operand(&instruction, &form, DPU_OPERAND_PC, -1);
        if (target < 0)
            target = operand(&instruction, &form, DPU_OPERAND_OFF, -1);
        if (target == first_pc(function)) {
            *site = pc;
            return true;
        }
    }

    return false;
}

/* Finds the call before BACK that may have led into the function. */
static bool follows_call(const struct dpu_t *dpu, const struct dpu_elf *elf, uint32_t back,
                         const struct dpu_elf_symbol *function, bool by_tail, uint32_t *site)
{
    struct dpu_instruction instruction;
    struct dpu_form_info form;
    if (back == 0 || back > PC_MASK || !decode(dpu, back - 1, &instruction, &form) ||
        strcmp(form.mnemonic, "call") != 0)
        return false;

    *site = back - 1;
    int64_t target = operand(&instruction, &form, DPU_OPERAND_OFF, -1);
    if (target < 0 || operand(&instruction, &form, DPU_OPERAND_RA, -1) != ZERO)
        return true;

    const struct dpu_elf_symbol *called = dpu_elf_find_code(elf, (uint32_t)target & PC_MASK, NULL);
    return called == function || (by_tail && find_tail_call(dpu, called, function, site));
}

/* Our stacks grow down, the vendor's up. */
static bool find_in_stack(const struct dpu_t *dpu, const struct dpu_elf *elf, uint32_t pointer,
                          const struct dpu_elf_symbol *function, uint32_t *site)
{
    uint32_t word;
    for (uint32_t i = 0; i < STACK_WORDS; i++)
        for (int direction = 1; direction >= -1; direction -= 2) {
            uint32_t at = (pointer & ~3u) + (uint32_t)(direction * (int)(4 * i));
            if (dpu_machine_read_wram(dpu->machine, at, &word, sizeof word) &&
                follows_call(dpu, elf, word, function, false, site))
                return true;
        }
    return false;
}

static bool find_caller(const struct dpu_t *dpu, const struct dpu_elf *elf,
                        const struct dpu_thread_state *state, uint32_t depth,
                        const struct dpu_elf_symbol *function, uint32_t *pc)
{
    if (strcmp(function->name, ARITHMETIC_ROUTINES) == 0) {
        *pc = (state->registers[ARITHMETIC_LINK] - 1) & PC_MASK;
        return true;
    }
    return (depth == 0 && follows_call(dpu, elf, state->registers[LINK], function, true, pc)) ||
           find_in_stack(dpu, elf, state->registers[STACK_POINTER], function, pc);
}

/* --- texts --- */

static void add_one(struct text *text, const struct dpu_elf *elf, uint32_t pc)
{
    uint32_t offset = 0;
    struct dpu_line line;
    text_add(text, "pc 0x%x", pc);
    if (elf == NULL)
        return;

    const struct dpu_elf_symbol *symbol = dpu_elf_find_code(elf, pc, &offset);
    bool has_line = find_own_line(elf, symbol, pc, &line);
    if (symbol != NULL) {
        text_add(text, " (");
        readable_name_add(text, symbol->name);
        text_add(text, "+0x%x", offset);
    }
    if (has_line)
        text_add(text, "%s%s%s%s:%u", symbol != NULL ? ", " : " (",
                 line.folder != NULL ? line.folder : "", line.folder != NULL ? "/" : "", line.file,
                 line.line);
    if (symbol != NULL || has_line)
        text_add(text, ")");
}

/* Follows callers; adds their places if there is a text. */
static uint32_t follow(struct text *text, const struct dpu_t *dpu, uint32_t thread, uint32_t pc)
{
    struct dpu_thread_state state;
    const struct dpu_elf *elf = elf_of(dpu);
    if (elf == NULL || !dpu_machine_get_thread(dpu->machine, thread, &state))
        return pc;

    uint32_t own = pc;
    for (uint32_t depth = 0; depth < CALLERS_MAX; depth++) {
        const struct dpu_elf_symbol *function = dpu_elf_find_code(elf, own, NULL);
        if (!is_runtime_function(elf, function) ||
            !find_caller(dpu, elf, &state, depth, function, &own))
            break;
        if (text != NULL) {
            text_add(text, ", called at ");
            add_one(text, elf, own);
        }
    }

    return own;
}

void dpulib_add_place(struct text *text, const struct dpu_t *dpu, uint32_t thread, uint32_t pc)
{
    add_one(text, elf_of(dpu), pc);
    follow(text, dpu, thread, pc);
}

void dpulib_add_own_place(struct text *text, const struct dpu_t *dpu, uint32_t pc)
{
    add_one(text, elf_of(dpu), pc);
}

uint32_t dpulib_own_pc(const struct dpu_t *dpu, uint32_t thread, uint32_t pc)
{
    return follow(NULL, dpu, thread, pc);
}

bool dpulib_is_c(const struct dpu_t *dpu, uint32_t pc)
{
    struct dpu_line line;
    const struct dpu_elf *elf = elf_of(dpu);
    if (elf == NULL)
        return false;
    if (find_line(elf, pc, &line)) {
        const char *dot = strrchr(line.file, '.');
        return dot == NULL || (strcmp(dot, ".S") != 0 && strcmp(dot, ".s") != 0);
    }

    return is_runtime_function(elf, dpu_elf_find_code(elf, pc, NULL));
}

bool dpulib_acquired_bit(const struct dpu_t *dpu, const struct dpu_thread_state *state,
                         uint32_t *bit)
{
    struct dpu_instruction instruction;
    struct dpu_form_info form;
    if (!decode(dpu, state->pc, &instruction, &form) || strcmp(form.mnemonic, "acquire") != 0)
        return false;

    int64_t a = operand(&instruction, &form, DPU_OPERAND_RA, ZERO);
    uint32_t base = 0;
    if (a < DPU_MACHINE_REGISTERS)
        base = state->registers[a];
    else if (a != ZERO)
        return false;
    uint32_t value = base + (uint32_t)operand(&instruction, &form, DPU_OPERAND_IMM, 0);
    *bit = (value >> 8 ^ value) & 0xFF;
    return true;
}
