/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/check_layout.h"
#include "common/readable_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t base_of(bool in_mram)
{
    return in_mram ? DPU_ELF_MRAM_BASE : 0;
}

static bool is_variable(const struct dpu_elf_symbol *symbol, bool in_mram)
{
    return symbol->memory == (in_mram ? DPU_ELF_MRAM : DPU_ELF_WRAM) && symbol->size != 0 &&
           symbol->kind == DPU_ELF_OBJECT && symbol->value >= base_of(in_mram);
}

static int by_address(const void *a, const void *b)
{
    const struct dpu_check_area *one = a, *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

static bool find_areas(const struct dpu_elf *elf, bool in_mram, struct dpu_check_area **areas,
                       size_t *count)
{
    *count = 0;
    *areas = calloc(elf->nsymbols + 1, sizeof **areas);
    if (*areas == NULL)
        return false;

    for (size_t i = 0; i < elf->nsymbols; i++)
        if (is_variable(&elf->symbols[i], in_mram))
            (*areas)[(*count)++] = (struct dpu_check_area){elf->symbols[i].value - base_of(in_mram),
                                                           elf->symbols[i].size};
    qsort(*areas, *count, sizeof **areas, by_address);
    return true;
}

static bool find_value(const struct dpu_elf *elf, const char *name, uint32_t *value)
{
    const struct dpu_elf_symbol *symbol = dpu_elf_find(elf, name);
    if (symbol != NULL)
        *value = symbol->value;
    return symbol != NULL;
}

struct dpu_check_area dpulib_stack_of(const struct dpu_elf *elf, uint32_t tasklet)
{
    struct dpu_check_area stack = {0};
    char name[40], size[40];
    snprintf(name, sizeof name, "__sys_stack_thread_%u", tasklet);
    snprintf(size, sizeof size, "STACK_SIZE_TASKLET_%u", tasklet);
    if (!find_value(elf, name, &stack.address) ||
        (!find_value(elf, size, &stack.size) &&
         !find_value(elf, "STACK_SIZE_DEFAULT", &stack.size)) ||
        tasklet >= elf->nr_tasklets)
        return (struct dpu_check_area){0};
    return stack;
}

void dpulib_add_stack_remedy(struct text *text, uint32_t tasklet)
{
    text_add(text,
             "; `python -m dpu.stack PROGRAM` prints what each function needs, and "
             "-DSTACK_SIZE_DEFAULT=BYTES or -DSTACK_SIZE_TASKLET_%u=BYTES of dpu-clang give "
             "more",
             tasklet);
}

bool dpulib_check_layout(const struct dpu_elf *elf, struct dpu_check_layout *layout,
                         struct dpu_check_area **wram, struct dpu_check_area **mram)
{
    *layout = (struct dpu_check_layout){.heap = UINT32_MAX, .heap_pointer = UINT32_MAX};
    *mram = NULL;
    if (!find_areas(elf, false, wram, &layout->wram_count) ||
        !find_areas(elf, true, mram, &layout->mram_count))
        return false;

    layout->wram = *wram;
    layout->mram = *mram;
    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM; i++)
        layout->stacks[i] = dpulib_stack_of(elf, i);
    find_value(elf, "__sys_heap_pointer_reset", &layout->heap);
    find_value(elf, "__sys_heap_pointer", &layout->heap_pointer);
    find_value(elf, "__sw_cache_buffer", &layout->data_words);
    return true;
}

/* The smallest variable that has the address. */
static const struct dpu_elf_symbol *find_variable(const struct dpu_elf *elf, uint32_t value,
                                                  bool in_mram)
{
    const struct dpu_elf_symbol *found = NULL;
    for (size_t i = 0; i < elf->nsymbols; i++) {
        const struct dpu_elf_symbol *symbol = &elf->symbols[i];
        if (is_variable(symbol, in_mram) && value >= symbol->value &&
            value - symbol->value < symbol->size && (found == NULL || symbol->size < found->size))
            found = symbol;
    }
    return found;
}

static void add_other_place(struct text *text, const struct dpu_elf *elf, uint32_t address,
                            bool in_mram)
{
    uint32_t heap = UINT32_MAX;
    for (uint32_t i = 0; i < DPU_MACHINE_THREADS_ROOM && !in_mram; i++) {
        struct dpu_check_area stack = dpulib_stack_of(elf, i);
        if (address >= stack.address && address - stack.address < stack.size) {
            text_add(text, "the stack of tasklet %u", i);
            return;
        }
    }

    find_value(elf, in_mram ? "__sys_used_mram_end" : "__sys_heap_pointer_reset", &heap);
    if (in_mram)
        heap =
            heap >= DPU_ELF_MRAM_BASE && heap != UINT32_MAX ? heap - DPU_ELF_MRAM_BASE : UINT32_MAX;
    if (address >= heap)
        text_add(text, "the heap of %s + %u", in_mram ? "MRAM" : "WRAM", address - heap);
    else
        text_add(text, "%s", in_mram ? "MRAM" : "WRAM");
}

void dpulib_add_variable(struct text *text, const struct dpu_elf *elf, uint32_t address,
                         bool in_mram)
{
    const struct dpu_elf_symbol *symbol =
        elf != NULL ? find_variable(elf, address + base_of(in_mram), in_mram) : NULL;
    if (symbol != NULL) {
        text_add(text, "'");
        readable_name_add(text, symbol->name);
        text_add(text, "' + %u", address + base_of(in_mram) - symbol->value);
    } else if (elf != NULL)
        add_other_place(text, elf, address, in_mram);
    text_add(text, "%s(%s 0x%x)", elf != NULL ? " " : "", in_mram ? "MRAM" : "WRAM", address);
}

static bool is_one_of(const char *const *names, size_t count, const struct dpu_elf *elf,
                      uint32_t pc)
{
    const struct dpu_elf_symbol *symbol = dpu_elf_find_code(elf, pc, NULL);
    for (size_t i = 0; symbol != NULL && i < count; i++)
        if (strcmp(symbol->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_allocator(const struct dpu_elf *elf, uint32_t pc)
{
    static const char *const names[] = {"mem_alloc", "mem_alloc_nolock"};
    return is_one_of(names, sizeof names / sizeof names[0], elf, pc);
}

static bool is_meeting(const struct dpu_elf *elf, uint32_t pc)
{
    static const char *const names[] = {"barrier_wait", "sem_take", "sem_give", "handshake_notify",
                                        "handshake_wait_for"};
    return is_one_of(names, sizeof names / sizeof names[0], elf, pc);
}

static bool is_in_table_of_waiters(const struct dpu_elf *elf, uint32_t address)
{
    const struct dpu_elf_symbol *table = dpu_elf_find(elf, "__sys_wq_table");
    return table != NULL && table->memory == DPU_ELF_WRAM && address >= table->value &&
           address - table->value < table->size;
}

/* seqread256_init() and its like, for any size of page, and what UPMEM's builtin is with us. */
static bool reads_ahead(const struct dpu_elf *elf, uint32_t pc)
{
    static const char own[] = "seqread";
    static const char *const builtin[] = {"__dpu_seqread_get"};
    const struct dpu_elf_symbol *symbol = dpu_elf_find_code(elf, pc, NULL);
    if (symbol == NULL || strncmp(symbol->name, own, sizeof own - 1) != 0)
        return is_one_of(builtin, 1, elf, pc);

    const char *size = symbol->name + sizeof own - 1;
    size_t digits = strspn(size, "0123456789");
    return digits != 0 && size[digits] == '_';
}

bool dpulib_is_of_run_time(const struct dpu_elf *elf, const struct dpu_finding *finding)
{
    switch (finding->kind) {
    case DPU_FINDING_NOTHING: return !finding->here.writes && is_allocator(elf, finding->here.pc);
    case DPU_FINDING_DMA_BEYOND:
        return finding->in_mram && !finding->here.writes && reads_ahead(elf, finding->here.pc);
    case DPU_FINDING_RACE:
        return !finding->in_mram && is_in_table_of_waiters(elf, finding->address) &&
               is_meeting(elf, finding->here.pc) && is_meeting(elf, finding->other.pc);
    default: return false;
    }
}
