/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.c: which pages differ, and bringing them. */
#include "remote.h"

#include "remote_access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE DPU_REMOTE_PAGE

bool dpu_remote_is_possible(const struct dpu_machine_options *options)
{
    return options->cache_kib == 0 && options->tlb_entries == 0 && options->dram_banks == 0;
}

bool dpu_remote_begin(struct dpu_remote_copy *copy, struct dpu_machine *m,
                      void (*fetch)(struct dpu_remote_copy *copy, uint32_t first, uint32_t count))
{
    const uint32_t wram = DPU_MACHINE_IRAM * sizeof *m->iram / PAGE;
    /* Accesses that fault go to what is beyond a smaller WRAM; see execute_memory.c. */
    const uint32_t room =
        m->wram_size > DPU_MACHINE_WRAM ? DPU_MACHINE_WRAM_ROOM : DPU_MACHINE_WRAM;
    const uint32_t mram = wram + room / PAGE;
    const uint32_t count = mram + m->mram_size / PAGE;
    *copy = (struct dpu_remote_copy){m, fetch, wram, mram, count, NULL, NULL, false};
    copy->changed = calloc(count / 64 + 1, sizeof *copy->changed);
    copy->stale = calloc(count / 64 + 1, sizeof *copy->stale);
    if (copy->changed == NULL || copy->stale == NULL)
        return false;
    m->remote = copy;
    return true;
}

void dpu_remote_end(struct dpu_remote_copy *copy)
{
    copy->machine->remote = NULL;
    free(copy->changed);
    free(copy->stale);
    copy->changed = copy->stale = NULL;
}

/* --- bits --- */

static bool is_set(const uint64_t *bits, uint32_t page)
{
    return (bits[page / 64] >> page % 64 & 1) != 0;
}

uint32_t dpu_remote_next(const struct dpu_remote_copy *copy, const uint64_t *bits, uint32_t from,
                         uint32_t *count)
{
    while (from < copy->count && !is_set(bits, from))
        from += bits[from / 64] >> from % 64 == 0 ? 64 - from % 64 : 1;

    uint32_t end = from;
    while (end < copy->count && is_set(bits, end))
        end += ~bits[end / 64] == 0 && end % 64 == 0 && end + 64 <= copy->count ? 64 : 1;
    *count = end > from ? end - from : 0;
    return from;
}

void dpu_remote_mark(uint64_t *bits, uint32_t first, uint32_t count, bool set)
{
    for (uint32_t page = first, end = first + count; page < end;) {
        const uint32_t part = 64 - page % 64 < end - page ? 64 - page % 64 : end - page;
        const uint64_t mask = UINT64_MAX >> (64 - part) << page % 64;
        bits[page / 64] = set ? bits[page / 64] | mask : bits[page / 64] & ~mask;
        page += part;
    }
}

/* --- memories --- */

uint8_t *dpu_remote_memory(const struct dpu_remote_copy *copy, uint32_t page)
{
    struct dpu_machine *m = copy->machine;
    if (page < copy->wram)
        return (uint8_t *)m->iram + (size_t)page * PAGE;
    if (page < copy->mram)
        return m->wram + (size_t)(page - copy->wram) * PAGE;
    return m->mram + (size_t)(page - copy->mram) * PAGE;
}

void dpu_remote_written(struct dpu_remote_copy *copy, uint32_t first, uint32_t count)
{
    struct dpu_machine *m = copy->machine;
    const uint32_t words = PAGE / sizeof *m->iram;
    uint32_t end = first + count < copy->wram ? first + count : copy->wram;
    for (uint32_t i = first * words; i < end * words; i++)
        m->iram[i] = i < m->iram_size ? m->iram[i] & DPU_WORD_MASK : 0;
    if (first >= copy->wram)
        return;

    m->iram_changed = true;
    end = end * words < m->iram_size ? end * words : m->iram_size;
    if (m->iram_used < end)
        m->iram_used = end;
}

void dpu_remote_drop(struct dpu_remote_copy *copy, uint32_t first, uint32_t count)
{
    const size_t size = (size_t)count * PAGE;
    uint8_t *memory = dpu_remote_memory(copy, first);
    if (madvise(memory, size, MADV_DONTNEED) != 0)
        memset(memory, 0, size);
}

static void bring(struct dpu_remote_copy *copy, uint32_t first, uint32_t count)
{
    const uint32_t end = first + count;
    uint32_t some;
    while (first < end && (first = dpu_remote_next(copy, copy->stale, first, &some)) < end) {
        some = some < end - first ? some : end - first;
        copy->fetch(copy, first, some);
        first += some;
    }
}

void dpu_remote_use(const struct dpu_machine *m, enum dpu_remote_memory memory, uint32_t offset,
                    size_t size, bool writes)
{
    struct dpu_remote_copy *copy = m->remote;
    const uint32_t bases[] = {0, copy->wram, copy->mram};
    const uint32_t base = bases[memory], last = base + (uint32_t)((offset + size - 1) / PAGE);
    const uint32_t first = base + offset / PAGE, count = last - first + 1;
    if (!writes) {
        bring(copy, first, count);
        return;
    }

    /* Of a page that is written as a whole nothing is needed. */
    if (offset % PAGE != 0 || size < PAGE)
        bring(copy, first, 1);
    if ((offset + size) % PAGE != 0)
        bring(copy, last, 1);
    dpu_remote_mark(copy->stale, first, count, false);
    dpu_remote_mark(copy->changed, first, count, true);
    copy->has_much = copy->has_much || count >= DPU_REMOTE_MUCH;
}

void dpu_remote_before_run(struct dpu_machine *m)
{
    bring(m->remote, 0, m->remote->count);
}

void dpu_remote_after_run(struct dpu_machine *m)
{
    dpu_remote_mark(m->remote->changed, m->remote->wram, m->remote->mram - m->remote->wram, true);
}
