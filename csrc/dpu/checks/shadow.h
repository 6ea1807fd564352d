/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.h: the last accesses of each byte of WRAM, and of every 8 bytes of MRAM, which is what DMA
 * transfers, or each byte if there is a cache. */
#ifndef OFFCHIP_DPU_CHECKS_SHADOW_H
#define OFFCHIP_DPU_CHECKS_SHADOW_H

#include "dpu/isa/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHADOW_PAGE 4096 /* bytes of MRAM */
#define SHADOW_PAGES (DPU_MACHINE_MRAM / SHADOW_PAGE)

/* Bits of a record. */
#define RECORD_THREAD 6
#define RECORD_PC 12
#define RECORD_CALLS 14
#define RECORD_CLOCK 31
#define RECORD_CLOCK_AT (64 - RECORD_CLOCK)
_Static_assert(RECORD_CLOCK_AT == RECORD_THREAD + RECORD_PC + 1 + RECORD_CALLS, "they fill it");
_Static_assert(DPU_MACHINE_THREADS_ROOM <= 1 << RECORD_THREAD && DPU_MACHINE_IRAM <= 1 << RECORD_PC,
               "there are bits for all");

/* An access: from the low bits on the tasklet, its pc, whether it is by DMA, the tasklet's calls
 * and its clock, which is 0 if there is no access. */
struct record {
    uint64_t bits;
};

/* Reads that nothing orders are kept for all tasklets: then the clock of `read` is SHARED, and the
 * low half of its bits the number of their table. */
struct cell {
    struct record write, read;
};

#define SHADOW_SHARED ((UINT32_C(1) << RECORD_CLOCK) - 1)
#define RECORD_CLOCK_MOST (SHADOW_SHARED - 1)

struct shadow {
    struct cell *wram;
    struct cell **mram; /* SHADOW_PAGES of SHADOW_PAGE / grain, made when needed */
    uint32_t grain;     /* bytes of MRAM that a cell is for */
    uint32_t threads;
    struct record *tables; /* of reads, each with a record per tasklet */
    uint32_t *free_tables; /* numbers */
    uint32_t table_count, free_count;
    bool is_full; /* out of memory: some accesses are not seen */
};

static inline struct record record_of(uint32_t clock, uint32_t thread, uint32_t pc, uint32_t calls,
                                      bool by_dma)
{
    uint64_t bits = (uint64_t)clock << RECORD_CALLS | calls;
    bits = (bits << 1 | by_dma) << RECORD_PC | pc;
    return (struct record){bits << RECORD_THREAD | thread};
}

static inline uint32_t record_clock(struct record r)
{
    return (uint32_t)(r.bits >> RECORD_CLOCK_AT);
}

static inline uint32_t record_thread(struct record r)
{
    return r.bits & ((1u << RECORD_THREAD) - 1);
}

static inline uint32_t record_pc(struct record r)
{
    return r.bits >> RECORD_THREAD & ((1u << RECORD_PC) - 1);
}

static inline bool record_by_dma(struct record r)
{
    return (r.bits >> (RECORD_THREAD + RECORD_PC) & 1) != 0;
}

static inline uint32_t record_calls(struct record r)
{
    return r.bits >> (RECORD_THREAD + RECORD_PC + 1) & ((1u << RECORD_CALLS) - 1);
}

/* Of reads that are in a table. */
static inline struct record record_shared(uint32_t number)
{
    return (struct record){(uint64_t)SHADOW_SHARED << RECORD_CLOCK_AT | number};
}

static inline uint32_t record_table(struct record r)
{
    return (uint32_t)r.bits;
}

/* HAS_CACHE: loads and stores may access MRAM. */
bool shadow_create(struct shadow *shadow, uint32_t wram_size, uint32_t threads, bool has_cache);
void shadow_destroy(struct shadow *shadow);
/* The cell of an address of MRAM; NULL if out of memory. */
struct cell *shadow_mram(struct shadow *shadow, uint32_t address);
/* A table of no reads. False if out of memory. */
bool shadow_take_table(struct shadow *shadow, uint32_t *number);
void shadow_give_table(struct shadow *shadow, uint32_t number);

static inline struct record *shadow_table(struct shadow *shadow, uint32_t number)
{
    return shadow->tables + (size_t)number * shadow->threads;
}

#endif
