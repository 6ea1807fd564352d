/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: a program that was read, its public face, and its symbols. */
#include "dpu/lib/programs/program.h"

#include "dpu/isa/chip.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/programs/image.h"
#include "dpu/lib/programs/meetings.h"
#include "dpu_elf.h"
#include "dpu_program.h"
#include "formats/dpu_elf.h"

#include <stdlib.h>
#include <string.h>

DPU_EXPORT void dpu_init_program_ref(struct dpu_program_t *program)
{
    if (program != NULL)
        program->reference_count = 0;
}

DPU_EXPORT void dpu_take_program_ref(struct dpu_program_t *program)
{
    if (program != NULL)
        __atomic_add_fetch(&program->reference_count, 1, __ATOMIC_RELAXED);
}

DPU_EXPORT void dpu_free_program(struct dpu_program_t *program)
{
    if (program == NULL || __atomic_sub_fetch(&program->reference_count, 1, __ATOMIC_ACQ_REL) > 0)
        return;

    struct dpulib_program *ours = dpulib_program_of(program);
    if (ours == NULL) {
        dpu_elf_free_symbols(program->symbols);
        free(program->program_path);
        free(program);
        return;
    }

    dpu_elf_close_image(&ours->elf);
    free(ours->meetings);
    free(ours->iram);
    free(ours->symbols.map);
    free(ours->image);
    free(program->program_path);
    free(ours);
}

static int32_t address_of(const struct dpulib_program *program, enum dpu_elf_known known)
{
    const struct dpu_elf_symbol *symbol = program->elf.known[known];
    return symbol != NULL ? (int32_t)symbol->value : -1;
}

static void fill_in(struct dpulib_program *program)
{
    struct dpu_program_t *public = &program->public;
    const struct dpu_elf_symbol *buffer = program->elf.known[DPU_ELF_KNOWN_STDOUT_BUFFER];
    public->nr_threads_enabled = (uint8_t)program->elf.nr_tasklets;
    public->printf_buffer_address = address_of(program, DPU_ELF_KNOWN_STDOUT_BUFFER);
    public->printf_buffer_size = buffer != NULL ? (int32_t)buffer->size : -1;
    public->printf_write_pointer_address = address_of(program, DPU_ELF_KNOWN_STDOUT_STATE);
    public->printf_buffer_has_wrapped_address = -1;
    if (public->printf_write_pointer_address != -1)
        public->printf_buffer_has_wrapped_address = public->printf_write_pointer_address + 4;
    public->symbols = &program->symbols;
    public->mcount_address = address_of(program, DPU_ELF_KNOWN_MCOUNT);
    public->ret_mcount_address = address_of(program, DPU_ELF_KNOWN_RET_MCOUNT);
    public->thread_profiling_address = address_of(program, DPU_ELF_KNOWN_THREAD_PROFILING);
    public->perfcounter_end_value_address = address_of(program, DPU_ELF_KNOWN_PERFCOUNTER_END);
    public->open_print_sequence_addr = address_of(program, DPU_ELF_KNOWN_OPEN_PRINT);
    public->close_print_sequence_addr = address_of(program, DPU_ELF_KNOWN_CLOSE_PRINT);
}

/* By name, of one name the global symbol first, else as in the file. */
static int compare(const void *a, const void *b)
{
    const struct dpu_elf_symbol *left = *(const struct dpu_elf_symbol *const *)a;
    const struct dpu_elf_symbol *right = *(const struct dpu_elf_symbol *const *)b;
    int order = strcmp(left->name, right->name);
    if (order != 0)
        return order;
    if (left->global != right->global)
        return left->global ? -1 : 1;
    return left < right ? -1 : left > right;
}

static bool list_symbols(struct dpulib_program *program)
{
    const struct dpu_elf *elf = &program->elf;
    size_t count = 0;
    const struct dpu_elf_symbol **sorted = calloc(elf->nsymbols + 1, sizeof *sorted);
    program->symbols.map = calloc(elf->nsymbols + 1, sizeof program->symbols.map[0]);
    if (sorted == NULL || program->symbols.map == NULL) {
        free(sorted);
        return false;
    }

    for (size_t i = 0; i < elf->nsymbols; i++)
        if (elf->symbols[i].for_host)
            sorted[count++] = &elf->symbols[i];

    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++) {
        dpu_elf_symbol_t *symbol = &program->symbols.map[program->symbols.nr_symbols];
        if (i > 0 && strcmp(sorted[i]->name, sorted[i - 1]->name) == 0)
            continue;
        /* The name is in the image, which nobody writes to. */
        symbol->name = (char *)(uintptr_t)sorted[i]->name;
        symbol->value = sorted[i]->value;
        symbol->size = sorted[i]->size;
        if (sorted[i] == elf->known[DPU_ELF_KNOWN_MRAM_END] &&
            symbol->value - DPU_ELF_MRAM_BASE <= DPU_MACHINE_MRAM)
            symbol->size = DPU_MACHINE_MRAM - (symbol->value - DPU_ELF_MRAM_BASE);
        program->symbols.nr_symbols++;
    }

    free(sorted);
    return true;
}

/* The words of the instructions, so that they are only put together once for all DPUs. */
static bool collect_iram(struct dpulib_program *program)
{
    const struct dpu_elf *elf = &program->elf;
    size_t words = 0;
    for (size_t i = 0; i < elf->nsegments; i++)
        if (elf->segments[i].memory == DPU_ELF_IRAM)
            words += elf->segments[i].size / sizeof(uint64_t);

    program->iram = calloc(words + 1, sizeof *program->iram);
    if (program->iram == NULL)
        return false;

    words = 0;
    for (size_t i = 0; i < elf->nsegments; i++) {
        const struct dpu_elf_segment *segment = &elf->segments[i];
        if (segment->memory != DPU_ELF_IRAM)
            continue;
        dpu_elf_copy(segment, 0, program->iram + words, segment->size);
        words += segment->size / sizeof(uint64_t);
    }

    return true;
}

dpu_error_t dpulib_program_create(uint8_t *image, size_t size, const char *path,
                                  struct dpulib_program **made)
{
    struct dpulib_program *program = calloc(1, sizeof *program);
    if (program == NULL) {
        free(image);
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");
    }

    program->image = image;
    program->image_size = size;
    program->public.reference_count = 1;
    program->public.profiling_symbols = &program->profiling;
    enum dpu_elf_status opened = dpu_elf_open_image(&program->elf, image, size);
    if (opened != DPU_ELF_OK) {
        dpu_free_program(&program->public);
        return dpulib_elf_fail(opened, path);
    }

    program->meetings = dpulib_meetings_new(&program->elf);
    bool complete = program->meetings != NULL && list_symbols(program) && collect_iram(program);
    if (path != NULL)
        program->public.program_path = strdup(path);
    if (!complete || (path != NULL && program->public.program_path == NULL)) {
        dpu_free_program(&program->public);
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");
    }

    fill_in(program);
    *made = program;
    return DPU_OK;
}

static int compare_name(const void *name, const void *symbol)
{
    return strcmp(name, ((const dpu_elf_symbol_t *)symbol)->name);
}

DPU_EXPORT dpu_error_t dpu_get_symbol(struct dpu_program_t *program, const char *symbol_name,
                                      struct dpu_symbol_t *symbol)
{
    if (program == NULL)
        return dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED, "program must not be NULL");
    if (symbol_name == NULL || symbol == NULL)
        return dpulib_fail(DPU_ERR_UNKNOWN_SYMBOL, "symbol_name and symbol must not be NULL");

    const dpu_elf_symbols_t *symbols = program->symbols;
    const dpu_elf_symbol_t *found = bsearch(symbol_name, symbols->map, symbols->nr_symbols,
                                            sizeof symbols->map[0], compare_name);
    if (found != NULL) {
        symbol->address = found->value;
        symbol->size = found->size;
        return DPU_OK;
    }

    const struct dpulib_program *ours = dpulib_program_of(program);
    const struct dpu_elf_symbol *hidden =
        ours != NULL ? dpu_elf_find(&ours->elf, symbol_name) : NULL;
    if (hidden != NULL && hidden->memory == DPU_ELF_WRAM)
        return dpulib_fail(DPU_ERR_UNKNOWN_SYMBOL,
                           "'%s' is a variable of the program's own: declare it __host for the "
                           "host to access it",
                           symbol_name);
    return dpulib_fail(DPU_ERR_UNKNOWN_SYMBOL, "the program has no symbol '%s'", symbol_name);
}
