/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cache.h: a data cache, by which loads and stores access MRAM, where the options have one.
 *
 * MRAM always has the current bytes: the cache is tags, from which times and counts follow. It is
 * write-back and allocates lines for stores too. A hit takes no time beside its instruction. For a
 * miss the tasklet waits until its line is filled, and a dirty line that gives way is written
 * before; each is a transfer of a DMA engine. Whoever hits a line that is being filled waits for
 * the same fill.
 *
 * The cache is empty when a launch begins, and what is dirty when its last tasklet stops is written
 * before it is over.
 */
#ifndef OFFCHIP_DPU_CACHE_H
#define OFFCHIP_DPU_CACHE_H

#include "dpu/machine/machine.h"

struct dpu_cache_line;
struct dpu_operation;
struct dpu_thread;

struct dpu_cache {
    struct dpu_cache_line *lines; /* set by set; NULL before the first run */
    uint64_t uses;                /* of all lines, in this launch */
    uint32_t random;
    struct dpu_cache_totals totals; /* of this launch */
};

enum dpu_cache_policy { DPU_CACHE_LRU, DPU_CACHE_FIFO, DPU_CACHE_RANDOM };

/* Makes its lines, if the options have a cache. False if out of memory. */
bool dpu_cache_make(struct dpu_machine *machine);
void dpu_cache_free(struct dpu_machine *machine);
/* A launch begins: it is empty. */
void dpu_cache_reset(struct dpu_machine *machine);
/* The launch is over: it is written back, which takes until the cycle that the machine has then. */
void dpu_cache_flush(struct dpu_machine *machine);

/* T executes OP, which loads or stores what is at FAR in MRAM, within a line. */
void dpu_cache_access(struct dpu_machine *machine, struct dpu_thread *t,
                      const struct dpu_operation *op, uint32_t far, bool writes);
/* T transfers BYTES at FAR by DMA: what is dirty there is written before, unless it is overwritten;
 * what is written leaves the cache. */
void dpu_cache_before_transfer(struct dpu_machine *machine, struct dpu_thread *t,
                               const struct dpu_operation *op, uint32_t far, uint32_t bytes,
                               bool writes);

#endif
