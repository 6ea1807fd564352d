/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c: the machine's life, its memories and its state. */
#include "ahead_marks.h"
#include "dram.h"
#include "tlb.h"
#include "issue.h"
#include "observed.h"
#include "program.h"
#include "remote_access.h"
#include "snapshot.h"
#include "timing.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/copy.h"

#define PAGE ((size_t)4096)

void dpu_machine_default_options(struct dpu_machine_options *options)
{
    *options = (struct dpu_machine_options){.size = sizeof *options,
                                            .architecture = DPU_ARCHITECTURE_V1A,
                                            .accounting = DPU_ACCOUNTING_PIPELINE,
                                            .clock_mhz = 350,
#define X(key, type, field, low, high, value, ...) .field = (value),
                                            DPU_MACHINE_NUMBERS(X)
#undef X
    };
}

static bool is_between(uint64_t value, uint64_t low, uint64_t high)
{
    return value >= low && value <= high;
}

static bool numbers_are_valid(const struct dpu_machine_options *options)
{
#define X(key, type, field, low, high, ...) \
    if (!is_between(options->field, low, high)) \
        return false;
    DPU_MACHINE_NUMBERS(X)
#undef X
    return options->dram_refresh_cycles < options->dram_refresh_interval &&
           options->forwarding <= options->round_cycles &&
           (options->tlb_page & (options->tlb_page - 1)) == 0 &&
           dpu_machine_dram_is_possible(options) && dpu_machine_cache_is_possible(options);
}

static bool options_are_valid(const struct dpu_machine_options *options)
{
    return options->size == sizeof *options && dpu_chip_of(options->architecture) != NULL &&
           options->accounting <= DPU_ACCOUNTING_VENDOR && options->engine < DPU_ENGINE_COUNT &&
           options->clock_mhz != 0 && numbers_are_valid(options);
}

_Static_assert(DPU_TASKLETS_MOST == DPU_MACHINE_THREADS_ROOM && DPU_IRAM_MOST == DPU_MACHINE_IRAM &&
                   1024 * DPU_WRAM_KIB_MOST == DPU_MACHINE_WRAM_ROOM &&
                   DPU_MRAM_MIB_MOST << 20 == DPU_MACHINE_MRAM,
               "the bounds of the options are what a machine has room for");

struct dpu_chip dpu_machine_chip(const struct dpu_machine_options *options)
{
    struct dpu_chip chip = *dpu_chip_of(options->architecture);
    if (options->tasklets != 0)
        chip.threads = options->tasklets;
    if (options->iram != 0)
        chip.iram = options->iram;
    if (options->wram_kib != 0)
        chip.wram = 1024 * options->wram_kib;
    if (options->mram_mib != 0)
        chip.mram = options->mram_mib << 20;
    return chip;
}

static bool has_same_sizes(const struct dpu_machine *m, const struct dpu_machine_options *options)
{
    struct dpu_chip chip = dpu_machine_chip(options);
    return options->architecture == m->options.architecture && chip.threads == m->thread_count &&
           chip.iram == m->iram_size && chip.wram == m->wram_size && chip.mram == m->mram_size;
}

/* Plain zero pages, which cost nothing until they are touched. */
static void *map_pages(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void set_up_threads(struct dpu_machine *m)
{
    m->operations = dpu_no_operations;
    m->iram_changed = true;
    for (uint32_t id = 0; id < DPU_MACHINE_THREADS_ROOM; id++) {
        const uint32_t constants[8] = {0, 1, 0xFFFFFFFF, 0x80000000, id, 2 * id, 4 * id, 8 * id};
        struct dpu_thread *t = &m->threads[id];
        memcpy(&t->r[DPU_MACHINE_REGISTERS], constants, sizeof constants);
        t->op = m->operations;
        t->id = id;
        t->zero = 1;
    }

    m->threads[DPU_MACHINE_THREADS_ROOM].op = &m->operations[DPU_MACHINE_IRAM + 1];
}

static void reset_banks_and_pages(struct dpu_machine *m)
{
    dpu_dram_reset(m);
    dpu_tlb_reset(m);
}

struct dpu_machine *dpu_machine_create(const struct dpu_machine_options *options)
{
    struct dpu_machine_options chosen;
    dpu_machine_default_options(&chosen);
    if (options != NULL)
        chosen = *options;
    if (!options_are_valid(&chosen)) {
        errno = EINVAL;
        return NULL;
    }

    struct dpu_machine *m = map_pages(sizeof *m);
    if (m == NULL)
        return NULL;

    const struct dpu_chip chip = dpu_machine_chip(&chosen);
    m->mram = map_pages(chip.mram);
    if (m->mram == NULL) {
        munmap(m, sizeof *m);
        return NULL;
    }

    m->options = chosen;
    m->thread_count = chip.threads;
    m->thread_bits = UINT64_MAX >> (64 - chip.threads);
    m->iram_size = chip.iram;
    m->wram_size = chip.wram;
    m->mram_size = chip.mram;
    m->counter.mode = 3;
    dpu_timing_set_up(m);
    reset_banks_and_pages(m);
    set_up_threads(m);
    return m;
}

void dpu_machine_destroy(struct dpu_machine *m)
{
    if (m == NULL)
        return;
    dpu_program_leave(m);
    dpu_snapshot_free(m);
    dpu_ahead_free(&m->ahead);
    dpu_observed_free(m);
    dpu_issue_free(m);
    dpu_cache_free(m);
    munmap(m->mram, m->mram_size);
    munmap(m, sizeof *m);
}

void dpu_machine_get_options(const struct dpu_machine *m, struct dpu_machine_options *options)
{
    *options = m->options;
}

/* Else a launch goes on with what it has left in them. */
static bool has_other_banks_or_pages(const struct dpu_machine *m,
                                     const struct dpu_machine_options *options)
{
    const struct dpu_machine_options *own = &m->options;
    return own->dram_banks != options->dram_banks || own->dram_mhz != options->dram_mhz ||
           own->dram_row_bytes != options->dram_row_bytes ||
           own->tlb_entries != options->tlb_entries || own->tlb_page != options->tlb_page;
}

bool dpu_machine_set_options(struct dpu_machine *m, const struct dpu_machine_options *options)
{
    if (!options_are_valid(options) || !has_same_sizes(m, options))
        return false;

    /* The counter goes on from its value, whatever the other accounting would have counted. */
    uint64_t value = dpu_counter_value(m);

    /* Operations depend on the switches. */
    if (options->switches != m->options.switches)
        m->iram_changed = true;
    bool has_others = has_other_banks_or_pages(m, options);
    m->options = *options;
    dpu_timing_set_up(m);
    if (has_others)
        reset_banks_and_pages(m);
    dpu_cache_free(m); /* it may have other lines */
    m->refresh_interval = m->launch_cycles;
    dpu_counter_start(m, value, m->counter.mode);
    return true;
}

uint32_t dpu_machine_thread_count(const struct dpu_machine *m)
{
    return m->thread_count;
}

uint32_t dpu_machine_iram_size(const struct dpu_machine *m)
{
    return m->iram_size;
}

uint32_t dpu_machine_wram_size(const struct dpu_machine *m)
{
    return m->wram_size;
}

uint32_t dpu_machine_mram_size(const struct dpu_machine *m)
{
    return m->mram_size;
}

static bool is_inside(uint32_t offset, size_t size, uint32_t limit)
{
    return offset <= limit && size <= limit - offset;
}

bool dpu_machine_read_wram(const struct dpu_machine *m, uint32_t offset, void *data, size_t size)
{
    if (!is_inside(offset, size, m->wram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_WRAM, offset, size, false);
    if (size != 0)
        copy_memory(data, m->wram + offset, size);
    return true;
}

bool dpu_machine_write_wram(struct dpu_machine *m, uint32_t offset, const void *data, size_t size)
{
    if (!is_inside(offset, size, m->wram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_WRAM, offset, size, true);
    if (size != 0)
        copy_memory(m->wram + offset, data, size);
    return true;
}

bool dpu_machine_read_mram(const struct dpu_machine *m, uint32_t offset, void *data, size_t size)
{
    if (!is_inside(offset, size, m->mram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_MRAM, offset, size, false);
    if (size != 0)
        copy_memory(data, m->mram + offset, size);
    return true;
}

bool dpu_machine_write_mram(struct dpu_machine *m, uint32_t offset, const void *data, size_t size)
{
    if (!is_inside(offset, size, m->mram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_MRAM, offset, size, true);
    if (size != 0)
        copy_memory(m->mram + offset, data, size);
    return true;
}

bool dpu_machine_clear_mram(struct dpu_machine *m, uint32_t offset, size_t size)
{
    if (!is_inside(offset, size, m->mram_size))
        return false;

    dpu_remote_touch(m, DPU_REMOTE_MRAM, offset, size, true);
    const size_t end = offset + size;
    const size_t first = (offset + PAGE - 1) / PAGE * PAGE, last = end / PAGE * PAGE;
    if (first >= last || madvise(m->mram + first, last - first, MADV_DONTNEED) != 0) {
        memset(m->mram + offset, 0, size);
        return true;
    }

    memset(m->mram + offset, 0, first - offset);
    memset(m->mram + last, 0, end - last);
    return true;
}

bool dpu_machine_read_iram(const struct dpu_machine *m, uint32_t index, uint64_t *words,
                           size_t count)
{
    if (!is_inside(index, count, m->iram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_IRAM, 8 * index, 8 * count, false);
    if (count != 0)
        memcpy(words, m->iram + index, count * sizeof *words);
    return true;
}

bool dpu_machine_write_iram(struct dpu_machine *m, uint32_t index, const uint64_t *words,
                            size_t count)
{
    if (!is_inside(index, count, m->iram_size))
        return false;
    dpu_remote_touch(m, DPU_REMOTE_IRAM, 8 * index, 8 * count, true);
    for (size_t i = 0; i < count; i++)
        m->iram[index + i] = words[i] & DPU_WORD_MASK;

    m->iram_changed = true;
    if (m->iram_used < index + count)
        m->iram_used = (uint32_t)(index + count);
    return true;
}

uint8_t *dpu_machine_wram(struct dpu_machine *m, uint32_t offset, size_t size, bool writes)
{
    dpu_remote_touch(m, DPU_REMOTE_WRAM, offset, size, writes);
    return m->wram + offset;
}

uint8_t *dpu_machine_mram(struct dpu_machine *m, uint32_t offset, size_t size, bool writes)
{
    dpu_remote_touch(m, DPU_REMOTE_MRAM, offset, size, writes);
    return m->mram + offset;
}
