/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include "observed.h"
#include "transfer_time.h"

#include <stdlib.h>
#include <string.h>

struct dpu_cache_line {
    uint64_t used;   /* when: by LRU the last time, by FIFO at its fill; 0: the line is empty */
    uint64_t ready;  /* the cycle at which its fill is over */
    uint32_t number; /* bytes of MRAM before it, in lines */
    bool is_dirty;
};

static uint32_t line_count(const struct dpu_machine_options *o)
{
    return o->cache_kib * 1024 / o->cache_line;
}

static bool is_power(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

bool dpu_machine_cache_is_possible(const struct dpu_machine_options *o)
{
    if (o->cache_kib == 0)
        return true;
    return is_power(o->cache_line) && line_count(o) % o->cache_ways == 0 &&
           is_power(line_count(o) / o->cache_ways) && o->dram_open_row_first == 0;
}

/* --- lines --- */

bool dpu_cache_make(struct dpu_machine *m)
{
    if (m->options.cache_kib != 0 && m->cache.lines == NULL)
        m->cache.lines = calloc(line_count(&m->options), sizeof *m->cache.lines);
    return m->options.cache_kib == 0 || m->cache.lines != NULL;
}

void dpu_cache_free(struct dpu_machine *m)
{
    free(m->cache.lines);
    m->cache.lines = NULL;
}

void dpu_cache_reset(struct dpu_machine *m)
{
    struct dpu_cache *cache = &m->cache;
    if (cache->lines != NULL)
        memset(cache->lines, 0, line_count(&m->options) * sizeof *cache->lines);
    cache->uses = 0;
    cache->random = 1;
    memset(&cache->totals, 0, sizeof cache->totals);
}

static struct dpu_cache_line *set_of(const struct dpu_machine *m, uint32_t number)
{
    uint32_t sets = line_count(&m->options) / m->options.cache_ways;
    return m->cache.lines + (size_t)(number & (sets - 1)) * m->options.cache_ways;
}

/* NULL if it is not there. */
static struct dpu_cache_line *find(const struct dpu_machine *m, uint32_t number)
{
    struct dpu_cache_line *set = set_of(m, number);
    for (uint32_t way = 0; way < m->options.cache_ways; way++)
        if (set[way].used != 0 && set[way].number == number)
            return &set[way];
    return NULL;
}

/* Xorshift of Marsaglia, 2003: the same numbers in each launch. */
static uint32_t next_random(struct dpu_cache *cache)
{
    cache->random ^= cache->random << 13;
    cache->random ^= cache->random >> 17;
    cache->random ^= cache->random << 5;
    return cache->random;
}

/* Of the set of a line: one that is empty, or else the one that gives way. */
static struct dpu_cache_line *choose(struct dpu_machine *m, uint32_t number)
{
    struct dpu_cache_line *set = set_of(m, number), *oldest = set;
    for (uint32_t way = 1; way < m->options.cache_ways; way++)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    if (oldest->used != 0 && m->options.cache_policy == DPU_CACHE_RANDOM)
        return &set[next_random(&m->cache) % m->options.cache_ways];
    return oldest;
}

/* --- transfers --- */

/* Moves a line between MRAM and the cache, for which T waits unless it waits for more. */
static void move_line(struct dpu_machine *m, struct dpu_thread *t, uint32_t pc, uint32_t number,
                      bool writes)
{
    uint32_t bytes = m->options.cache_line;
    uint64_t now = dpu_now(m), free = m->dma_free[dpu_next_dma_engine(m)];
    dpu_transfer_takes(m, t, number * bytes, bytes, writes ? m->write_wait : m->read_wait);
    if (writes)
        m->cache.totals.write_backs++;
    if (!dpu_is_observed(m))
        return;

    bool takes_time = m->transfer_time != DPU_TRANSFERS_NONE;
    const struct dpu_transfer transfer = {
        .mram = number * bytes,
        .bytes = bytes,
        .writes_mram = writes,
        .issued = now - m->launch_cycles,
        .start = (takes_time && free > now ? free : now) - m->launch_cycles,
        .engine_end = (takes_time ? m->dma_free[m->dma_engine] : now) - m->launch_cycles,
        .tasklet_end = (takes_time ? t->ready : now) - m->launch_cycles,
    };
    dpu_observe_line(m, t->id, pc, &transfer);
}

static void clean(struct dpu_machine *m, struct dpu_thread *t, uint32_t pc,
                  struct dpu_cache_line *line)
{
    if (line->used != 0 && line->is_dirty)
        move_line(m, t, pc, line->number, true);
    line->is_dirty = false;
}

static struct dpu_cache_line *fill(struct dpu_machine *m, struct dpu_thread *t, uint32_t pc,
                                   uint32_t number)
{
    struct dpu_cache_line *line = choose(m, number);
    clean(m, t, pc, line);
    move_line(m, t, pc, number, false);
    *line = (struct dpu_cache_line){
        .number = number,
        .used = ++m->cache.uses,
        .ready = m->transfer_time != DPU_TRANSFERS_NONE ? t->ready : 0,
    };
    m->cache.totals.misses++;
    m->cache.totals.fill_bytes += m->options.cache_line;
    return line;
}

static void hit(struct dpu_machine *m, struct dpu_thread *t, uint32_t pc,
                struct dpu_cache_line *line)
{
    m->cache.totals.hits++;
    if (m->options.cache_policy == DPU_CACHE_LRU)
        line->used = ++m->cache.uses;
    if (line->ready <= dpu_now(m))
        return;

    /* Another tasklet's miss is under way. */
    t->ready = line->ready;
    m->regroup = true;
    if (dpu_is_observed(m))
        m->observing.last[t->id] = (uint16_t)pc;
}

void dpu_cache_access(struct dpu_machine *m, struct dpu_thread *t, const struct dpu_operation *op,
                      uint32_t far, bool writes)
{
    uint32_t number = far / m->options.cache_line, pc = dpu_pc(m, op);
    struct dpu_cache_line *line = find(m, number);
    if (line != NULL)
        hit(m, t, pc, line);
    else
        line = fill(m, t, pc, number);
    line->is_dirty |= writes;
}

void dpu_cache_before_transfer(struct dpu_machine *m, struct dpu_thread *t,
                               const struct dpu_operation *op, uint32_t far, uint32_t bytes,
                               bool writes)
{
    uint32_t size = m->options.cache_line, end = far + bytes;
    for (uint32_t number = far / size; number <= (end - 1) / size; number++) {
        struct dpu_cache_line *line = find(m, number);
        if (line == NULL)
            continue;

        bool is_covered = number * size >= far && (number + 1) * size <= end;
        if (!writes || !is_covered)
            clean(m, t, dpu_pc(m, op), line);
        if (writes)
            *line = (struct dpu_cache_line){0};
    }
}

void dpu_cache_flush(struct dpu_machine *m)
{
    /* A tasklet, which has stopped, waits for all. */
    struct dpu_thread *t = m->threads;
    const uint64_t begin = m->cycles;
    uint64_t end = t->ready = begin;
    for (uint32_t i = 0; i < line_count(&m->options); i++) {
        clean(m, t, dpu_pc(m, t->op), &m->cache.lines[i]);
        end = t->ready > end ? t->ready : end;
    }

    m->cycles = end;
}
