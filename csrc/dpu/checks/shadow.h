/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.h: the last accesses of each byte of WRAM and of every 8 bytes of MRAM. */
#ifndef OFFCHIP_DPU_CHECKS_SHADOW_H
#define OFFCHIP_DPU_CHECKS_SHADOW_H

#include "dpu/isa/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHADOW_PAGE 4096 /* bytes of MRAM */
#define SHADOW_PAGES (DPU_MACHINE_MRAM / SHADOW_PAGE)
#define SHADOW_CELLS (SHADOW_PAGE / 8)

/* An access: the clock of the tasklet, 0 for none; and the tasklet, its pc and its calls, packed.
 */
struct record {
    uint32_t clock, where;
};

/* Reads that nothing orders are kept for all tasklets: then the clock of `read` is SHARED, and
 * `where` the number of their table. */
struct cell {
    struct record write, read;
};

#define SHADOW_SHARED UINT32_MAX

struct reads {
    struct record of[DPU_MACHINE_THREADS];
};

struct shadow {
    struct cell *wram;
    struct cell **mram; /* SHADOW_PAGES of SHADOW_CELLS, made when needed */
    struct reads *tables;
    uint32_t *free_tables; /* numbers */
    uint32_t table_count, free_count;
    bool is_full; /* out of memory: some accesses are not seen */
};

static inline struct record record_of(uint32_t clock, uint32_t thread, uint32_t pc, uint32_t calls,
                                      bool by_dma)
{
    return (struct record){clock, calls << 18 | (uint32_t)by_dma << 17 | pc << 5 | thread};
}

static inline uint32_t record_thread(struct record r)
{
    return r.where & 31;
}

bool shadow_create(struct shadow *shadow, uint32_t wram_size);
void shadow_destroy(struct shadow *shadow);
/* The cells of a page of MRAM; NULL if out of memory. */
struct cell *shadow_page(struct shadow *shadow, uint32_t page);
/* A table of no reads. False if out of memory. */
bool shadow_take_table(struct shadow *shadow, uint32_t *number);
void shadow_give_table(struct shadow *shadow, uint32_t number);

#endif
