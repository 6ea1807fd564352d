/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/programs/meetings.h"

#include "formats/dpu_elf.h"

#include <stdlib.h>
#include <string.h>

static const char *const sleeping_functions[] = {"barrier_wait", "sem_take", "handshake_notify",
                                                 "handshake_wait_for"};

static uint32_t find_bytes(const struct dpu_elf *elf, const char *name)
{
    const struct dpu_elf_symbol *symbol = dpu_elf_find(elf, name);
    return symbol != NULL && symbol->memory == DPU_ELF_WRAM ? symbol->value : DPULIB_NOWHERE;
}

static bool is_prefix(const char *prefix, const char *text)
{
    return strncmp(prefix, text, strlen(prefix)) == 0;
}

static bool find_meeting(const struct dpu_elf *elf, const struct dpu_elf_symbol *bit,
                         struct dpulib_meeting *meeting)
{
    bool is_barrier = is_prefix(DPULIB_BARRIER_PREFIX, bit->name);
    if (bit->memory != DPU_ELF_ATOMIC ||
        (!is_barrier && !is_prefix(DPULIB_SEMAPHORE_PREFIX, bit->name)))
        return false;

    const char *name =
        bit->name + (is_barrier ? sizeof(DPULIB_BARRIER_PREFIX) : sizeof(DPULIB_SEMAPHORE_PREFIX)) -
        1;
    uint32_t address = find_bytes(elf, name);
    *meeting = (struct dpulib_meeting){name, is_barrier, address, (uint8_t)bit->value};
    return address != DPULIB_NOWHERE;
}

struct dpulib_meetings *dpulib_meetings_new(const struct dpu_elf *elf)
{
    uint32_t count = 0;
    struct dpulib_meeting meeting;
    for (size_t i = 0; i < elf->nsymbols; i++)
        count += elf->symbols[i].memory == DPU_ELF_ATOMIC;

    struct dpulib_meetings *found = calloc(1, sizeof *found + count * sizeof found->meetings[0]);
    if (found == NULL)
        return NULL;

    for (size_t i = 0; i < elf->nsymbols && count != 0; i++)
        if (find_meeting(elf, &elf->symbols[i], &meeting))
            found->meetings[found->count++] = meeting;

    found->next = find_bytes(elf, "__sys_wq_table");
    found->partners = find_bytes(elf, "__handshake_partners");

    for (size_t i = 0; i < sizeof sleeping_functions / sizeof sleeping_functions[0]; i++) {
        const struct dpu_elf_symbol *symbol = dpu_elf_find(elf, sleeping_functions[i]);
        if (symbol == NULL || symbol->memory != DPU_ELF_IRAM || symbol->size < 8)
            continue;
        uint32_t first = (symbol->value - DPU_ELF_IRAM_BASE) / 8;
        found->functions[found->functions_count++] =
            (struct dpulib_sleeping_function){symbol->name, first, first + symbol->size / 8 - 1};
    }

    return found;
}
