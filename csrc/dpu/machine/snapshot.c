/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "common/copy.h"

/* Bytes of the log after which a new snapshot is taken, and that are kept between runs. */
#define LOG_ENOUGH ((size_t)256 << 10)

/* In the log, a part of MRAM as it was is followed by its place. */
struct place {
    uint32_t address, bytes;
};

/* Blocks of WRAM, in each of which a snapshot has either zeros or a copy. */
#define BLOCK 1024
#define BLOCKS (DPU_MACHINE_WRAM_ROOM / BLOCK)

struct dpu_snapshot {
    bool is_valid;
    uint8_t
        wram[DPU_MACHINE_WRAM_ROOM]; /* of the blocks that are not zero; others may be anything */
    bool is_zero[BLOCKS];
    struct dpu_progress progress;
    struct dpu_dram dram; /* if transfers leave state, as the next one */
    struct dpu_tlb tlb;

    uint8_t *log;
    size_t used, room;
};

static bool is_zero(const uint8_t *block)
{
    static const uint8_t zeros[BLOCK];
    return memcmp(block, zeros, BLOCK) == 0;
}

/* Most programs use a part of WRAM. To read zeros is quicker than to copy them, and those that were
 * never written take no memory then, here or there. */
static void copy_wram(struct dpu_snapshot *s, const struct dpu_machine *m)
{
    for (uint32_t i = 0; i < m->wram_size / BLOCK; i++) {
        const uint8_t *block = m->wram + (size_t)i * BLOCK;
        s->is_zero[i] = is_zero(block);
        if (!s->is_zero[i])
            copy_memory(s->wram + (size_t)i * BLOCK, block, BLOCK);
    }
}

static void restore_wram(const struct dpu_snapshot *s, struct dpu_machine *m)
{
    for (uint32_t i = 0; i < m->wram_size / BLOCK; i++) {
        uint8_t *block = m->wram + (size_t)i * BLOCK;
        if (s->is_zero[i])
            memset(block, 0, BLOCK);
        else
            copy_memory(block, s->wram + (size_t)i * BLOCK, BLOCK);
    }
}

/* Up to the last tasklet of the chip. */
static size_t size_of_progress(const struct dpu_machine *m)
{
    return offsetof(struct dpu_progress, threads) + m->thread_count * sizeof *m->threads;
}

bool dpu_snapshot_take(struct dpu_machine *m)
{
    if (m->snapshot == NULL)
        m->snapshot = calloc(1, sizeof *m->snapshot);
    struct dpu_snapshot *s = m->snapshot;
    if (s == NULL)
        return false;

    copy_wram(s, m);
    memcpy(&s->progress, &m->progress, size_of_progress(m));
    if (dpu_transfers_leave_state(m)) {
        s->dram = m->dram;
        s->tlb = m->tlb;
    }
    s->used = 0;
    s->is_valid = true;
    return true;
}

bool dpu_snapshot_is_valid(const struct dpu_machine *m)
{
    return m->snapshot != NULL && m->snapshot->is_valid;
}

bool dpu_snapshot_is_full(const struct dpu_machine *m)
{
    return m->snapshot->used > LOG_ENOUGH;
}

static bool has_room(struct dpu_snapshot *s, size_t size)
{
    if (s->room - s->used >= size)
        return true;

    size_t room = 2 * s->room + size + 4096;
    uint8_t *log = realloc(s->log, room);
    if (log == NULL)
        return false;
    s->log = log;
    s->room = room;
    return true;
}

void dpu_snapshot_keep(struct dpu_machine *m, uint32_t address, uint32_t bytes)
{
    if (!dpu_snapshot_is_valid(m))
        return;

    struct dpu_snapshot *s = m->snapshot;
    const struct place place = {address, bytes};
    if (!has_room(s, bytes + sizeof place)) {
        s->is_valid = false;
        return;
    }

    copy_memory(s->log + s->used, m->mram + address, bytes);
    memcpy(s->log + s->used + bytes, &place, sizeof place);
    s->used += bytes + sizeof place;
}

static void restore_mram(struct dpu_machine *m)
{
    struct dpu_snapshot *s = m->snapshot;
    while (s->used != 0) {
        struct place place;
        memcpy(&place, s->log + s->used - sizeof place, sizeof place);
        s->used -= place.bytes + sizeof place;
        copy_memory(m->mram + place.address, s->log + s->used, place.bytes);
    }
}

void dpu_snapshot_restore(struct dpu_machine *m)
{
    const struct dpu_snapshot *s = m->snapshot;
    restore_mram(m);
    restore_wram(s, m);
    memcpy(&m->progress, &s->progress, size_of_progress(m));
    if (dpu_transfers_leave_state(m)) {
        m->dram = s->dram;
        m->tlb = s->tlb;
    }
}

void dpu_snapshot_drop(struct dpu_machine *m)
{
    struct dpu_snapshot *s = m->snapshot;
    if (s == NULL)
        return;

    s->is_valid = false;
    s->used = 0;
    if (s->room <= LOG_ENOUGH)
        return;
    free(s->log);
    s->log = NULL;
    s->room = 0;
}

void dpu_snapshot_free(struct dpu_machine *m)
{
    if (m->snapshot != NULL)
        free(m->snapshot->log);
    free(m->snapshot);
    m->snapshot = NULL;
}
