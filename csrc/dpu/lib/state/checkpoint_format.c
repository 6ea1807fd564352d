/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint_format.c: one list of the parts of a state serves sizes, writing
 * and reading. */
#include "dpu/lib/state/checkpoint_format.h"

#include "dpu/machine/machine.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 10
/* Bytes after the arrays: faults, their tasklets, the number. */
#define TAIL_SIZE 10

/* An array of a state; its elements are written as they are in memory (x86-64
 * is little-endian). */
struct part {
    void *data;
    size_t size;
    bool flags; /* bytes that are 0 or 1 */
};

#define PART_COUNT 10

const char *dpu_checkpoint_status_text(enum dpu_checkpoint_status status)
{
    static const char *const texts[] = {
#define X(name, text) text,
        DPU_CHECKPOINT_STATUSES(X)
#undef X
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

static void list_parts(const struct dpu_context_t *c, struct part parts[PART_COUNT])
{
    const size_t threads = c->info.nr_threads;
    const struct part list[PART_COUNT] = {
        {c->iram, c->iram == NULL ? 0 : (size_t)c->info.iram_size * sizeof *c->iram, false},
        {c->mram, c->mram == NULL ? 0 : (size_t)c->info.mram_size, false},
        {c->wram, c->wram == NULL ? 0 : (size_t)c->info.wram_size * sizeof *c->wram, false},
        {c->registers, threads * c->info.nr_registers * sizeof *c->registers, false},
        {c->pcs, threads * sizeof *c->pcs, false},
        {c->atomic_register, c->info.nr_atomic_bits, true},
        {c->zero_flags, threads, true},
        {c->carry_flags, threads, true},
        {(void *)(uintptr_t)&c->nr_of_running_threads, 1, false},
        {c->scheduling, threads, false},
    };
    memcpy(parts, list, sizeof list);
}

/* --- contexts --- */

bool dpu_context_create(struct dpu_context_t *c, uint32_t threads, uint32_t registers,
                        uint32_t atomic_bits)
{
    memset(c, 0, sizeof *c);
    c->info.nr_threads = threads;
    c->info.nr_registers = registers;
    c->info.nr_atomic_bits = atomic_bits;
    c->registers = calloc((size_t)threads * registers, sizeof *c->registers);
    c->pcs = calloc(threads, sizeof *c->pcs);
    c->atomic_register = calloc(atomic_bits, sizeof *c->atomic_register);
    c->zero_flags = calloc(threads, sizeof *c->zero_flags);
    c->carry_flags = calloc(threads, sizeof *c->carry_flags);
    c->scheduling = calloc(threads, sizeof *c->scheduling);
    if (c->registers != NULL && c->pcs != NULL && c->atomic_register != NULL &&
        c->zero_flags != NULL && c->carry_flags != NULL && c->scheduling != NULL)
        return true;

    dpu_context_destroy(c);
    return false;
}

void dpu_context_destroy(struct dpu_context_t *c)
{
    free(c->iram);
    free(c->mram);
    free(c->wram);
    free(c->registers);
    free(c->pcs);
    free(c->atomic_register);
    free(c->zero_flags);
    free(c->carry_flags);
    free(c->scheduling);
    memset(c, 0, sizeof *c);
}

/* --- writing --- */

size_t dpu_checkpoint_size(const struct dpu_context_t *c)
{
    struct part parts[PART_COUNT];
    size_t size = HEADER_WORDS * sizeof(uint32_t) + TAIL_SIZE;
    list_parts(c, parts);
    for (size_t i = 0; i < PART_COUNT; i++)
        size += parts[i].size;
    return size;
}

void dpu_checkpoint_write(const struct dpu_context_t *c, uint8_t *bytes)
{
    const uint32_t header[HEADER_WORDS] = {
        DPU_CHECKPOINT_MAGIC,
        DPU_CHECKPOINT_CHIP,
        DPU_CHECKPOINT_VERSION,
        DPU_CHECKPOINT_MAGIC,
        c->info.nr_threads,
        c->info.nr_registers,
        c->info.nr_atomic_bits,
        c->iram == NULL ? 0 : c->info.iram_size,
        c->mram == NULL ? 0 : c->info.mram_size,
        c->wram == NULL ? 0 : c->info.wram_size,
    };
    const uint8_t faults[] = {
        c->bkp_fault,
        c->dma_fault,
        c->mem_fault,
        c->bkp_fault_thread_index,
        c->dma_fault_thread_index,
        c->mem_fault_thread_index,
    };
    struct part parts[PART_COUNT];
    memcpy(bytes, header, sizeof header);
    bytes += sizeof header;
    list_parts(c, parts);
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (parts[i].size != 0)
            memcpy(bytes, parts[i].data, parts[i].size);
        bytes += parts[i].size;
    }

    memcpy(bytes, faults, sizeof faults);
    memcpy(bytes + sizeof faults, &c->bkp_fault_id, sizeof c->bkp_fault_id);
}

/* --- reading --- */

static bool is_possible(const uint32_t *counts)
{
    return counts[0] >= 1 && counts[0] <= DPU_MACHINE_THREADS_ROOM && counts[1] >= 1 &&
           counts[1] <= DPU_MACHINE_REGISTERS && counts[2] >= 1 &&
           counts[2] <= DPU_MACHINE_ATOMIC_BITS && counts[3] <= DPU_MACHINE_IRAM &&
           counts[4] <= DPU_MACHINE_MRAM && counts[5] <= DPU_MACHINE_WRAM_ROOM / 4;
}

static size_t size_for(const uint32_t *counts)
{
    const size_t threads = counts[0];
    return HEADER_WORDS * sizeof(uint32_t) + (size_t)counts[3] * sizeof(dpuinstruction_t) +
           counts[4] + (size_t)counts[5] * sizeof(dpuword_t) +
           threads * counts[1] * sizeof(uint32_t) + threads * sizeof(iram_addr_t) + counts[2] +
           threads * 3 + 1 + TAIL_SIZE;
}

static bool create_with_memories(struct dpu_context_t *c, const uint32_t *counts)
{
    if (!dpu_context_create(c, counts[0], counts[1], counts[2]))
        return false;

    c->info.iram_size = (iram_size_t)counts[3];
    c->info.mram_size = counts[4];
    c->info.wram_size = counts[5];
    bool enough = true;
    if (counts[3] != 0)
        enough &= (c->iram = malloc(counts[3] * sizeof *c->iram)) != NULL;
    if (counts[4] != 0)
        enough &= (c->mram = malloc(counts[4])) != NULL;
    if (counts[5] != 0)
        enough &= (c->wram = malloc(counts[5] * sizeof *c->wram)) != NULL;
    if (!enough)
        dpu_context_destroy(c);
    return enough;
}

static void read_parts(const uint8_t *bytes, struct dpu_context_t *c)
{
    struct part parts[PART_COUNT];
    list_parts(c, parts);
    for (size_t i = 0; i < PART_COUNT; i++) {
        uint8_t *data = parts[i].data;
        if (parts[i].size != 0)
            memcpy(data, bytes, parts[i].size);
        /* A bool that is neither 0 nor 1 must not be looked at. */
        for (size_t j = 0; parts[i].flags && j < parts[i].size; j++)
            data[j] = data[j] != 0;
        bytes += parts[i].size;
    }

    c->bkp_fault = bytes[0] != 0;
    c->dma_fault = bytes[1] != 0;
    c->mem_fault = bytes[2] != 0;
    c->bkp_fault_thread_index = bytes[3];
    c->dma_fault_thread_index = bytes[4];
    c->mem_fault_thread_index = bytes[5];
    memcpy(&c->bkp_fault_id, bytes + 6, sizeof c->bkp_fault_id);
}

enum dpu_checkpoint_status dpu_checkpoint_read(const uint8_t *bytes, size_t size,
                                               struct dpu_context_t *c)
{
    uint32_t header[HEADER_WORDS];
    const uint32_t *counts = header + 4;
    memset(c, 0, sizeof *c);
    if (size < sizeof header)
        return DPU_CHECKPOINT_NOT_A_CHECKPOINT;

    memcpy(header, bytes, sizeof header);
    if (header[0] != DPU_CHECKPOINT_MAGIC || header[3] != DPU_CHECKPOINT_MAGIC)
        return DPU_CHECKPOINT_NOT_A_CHECKPOINT;
    if (header[1] != DPU_CHECKPOINT_CHIP || header[2] != DPU_CHECKPOINT_VERSION)
        return DPU_CHECKPOINT_OTHER_VERSION;
    if (!is_possible(counts))
        return DPU_CHECKPOINT_IMPOSSIBLE;
    if (size != size_for(counts))
        return DPU_CHECKPOINT_LENGTH;
    if (!create_with_memories(c, counts))
        return DPU_CHECKPOINT_NO_MEMORY;

    read_parts(bytes + sizeof header, c);
    return DPU_CHECKPOINT_OK;
}
