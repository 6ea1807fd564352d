/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h: a machine that another process has a copy of.
 *
 * Memories. Their pages are numbered: those of IRAM, then of WRAM, then of MRAM. Of each page is
 * known whether it was changed here since the other process was told, and whether it was changed
 * there and has not been brought here, which makes it stale. Functions of machine.h that read or
 * write memory bring what is stale and note what they change; a run brings all of it.
 *
 * The rest of a machine is a structure, without what options of caches, banks of the DRAM and
 * translated addresses add to it: dpu_remote_is_possible() is false for such machines.
 *
 * Threads: those of the machine. What another process sent is checked, whatever it is.
 */
#ifndef OFFCHIP_DPU_REMOTE_H
#define OFFCHIP_DPU_REMOTE_H

#include "machine.h"

#define DPU_REMOTE_PAGE 4096u
#define DPU_REMOTE_MUCH 64u

struct dpu_remote_copy {
    struct dpu_machine *machine;
    /* Brings pages, none of which is stale afterwards unless the other process is lost. */
    void (*fetch)(struct dpu_remote_copy *copy, uint32_t first, uint32_t count);
    uint32_t wram, mram, count; /* the first page of WRAM and of MRAM; pages in all */
    uint64_t *changed, *stale;  /* one bit per page */
    bool has_much;              /* that was changed; set by a write of DPU_REMOTE_MUCH pages */
};

struct dpu_packed_thread {
    uint64_t ready, instructions;
    uint32_t registers[DPU_MACHINE_REGISTERS];
    uint32_t zero, carry, pc, reserved;
};

#define DPU_PACKED_DRIFT 2

struct dpu_packed {
    uint64_t run_bits, cycles, instructions, rounds, dma_free[DPU_DMA_ENGINES_MOST];
    uint64_t launch_cycles, launch_instructions, launch_rounds, refresh_interval;
    struct dpu_dma_totals dma, launch_dma;
    uint64_t counter_value, counter_origin;
    uint32_t counter_mode, dma_engine;
    uint32_t fault, fault_thread, breakpoint, fault_address, fault_detail, fault_bytes;
    uint32_t engine; /* that ran last: DPU_PACKED_DRIFT or another */
    uint32_t threads;
    uint8_t atomic[DPU_MACHINE_ATOMIC_BITS];
    struct dpu_packed_thread thread[DPU_MACHINE_THREADS_ROOM]; /* so many as there are */
};

bool dpu_remote_is_possible(const struct dpu_machine_options *options);

/* From now on pages are noted; nothing differs yet. False if out of memory. FETCH may be NULL for a
 * machine whose pages never get stale. */
bool dpu_remote_begin(struct dpu_remote_copy *copy, struct dpu_machine *machine,
                      void (*fetch)(struct dpu_remote_copy *copy, uint32_t first, uint32_t count));
/* Ends that, before the machine is destroyed; also after dpu_remote_begin() has failed. */
void dpu_remote_end(struct dpu_remote_copy *copy);

/* The next pages from FROM on whose bits are set: the first one, and in *COUNT how many; 0 if there
 * are none. */
uint32_t dpu_remote_next(const struct dpu_remote_copy *copy, const uint64_t *bits, uint32_t from,
                         uint32_t *count);
/* Sets or clears the bits of pages. */
void dpu_remote_mark(uint64_t *bits, uint32_t first, uint32_t count, bool set);
/* The memory of pages up to the next one of another memory. */
uint8_t *dpu_remote_memory(const struct dpu_remote_copy *copy, uint32_t page);
/* To be called when the other process has written that memory. */
void dpu_remote_written(struct dpu_remote_copy *copy, uint32_t first, uint32_t count);
/* Makes pages of MRAM zeros that take no memory. */
void dpu_remote_drop(struct dpu_remote_copy *copy, uint32_t first, uint32_t count);

size_t dpu_packed_size(uint32_t threads);
void dpu_machine_pack(const struct dpu_machine *machine, struct dpu_packed *packed);
/* False, and nothing done, if no machine of these options can be in this state. */
bool dpu_machine_unpack(struct dpu_machine *machine, const struct dpu_packed *packed);

#endif
