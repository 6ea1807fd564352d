/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpusoft.h: what the soft libdpu offers beyond the vendor's API.
 *
 * Callers look these up at run time (dlsym) and do without them where they are absent, as they
 * are in the vendor's library. The presence of dpusoft_version() is how a program tells.
 */
#ifndef DPUSOFT_H
#define DPUSOFT_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPUSOFT_VERSION 1

uint32_t dpusoft_version(void);

/* Why the last call of this thread that failed did: more than its code tells. "" if nothing is
 * known. For a job that failed asynchronously it is there after dpu_sync(). */
const char *dpusoft_last_error_detail(void);
/* Sets whether that is told on stderr too, each text once: as long as nobody calls this, it is,
 * unless DPU_SOFT_QUIET is set. For the process. */
void dpusoft_tell_reasons(bool tell);

/* X(name, value) */
#define DPUSOFT_STATUSES(X) \
    X(DONE, 0) \
    X(FAULT, 1) \
    X(INTERRUPTED, 2) \
    X(CYCLE_LIMIT, 3) \
    X(STEPPED, 4) \
    X(BREAKPOINT, 5) \
    X(NEVER_LAUNCHED, 6)

enum dpusoft_status {
#define DPUSOFT_STATUS_(name, value) DPUSOFT_##name = value,
    DPUSOFT_STATUSES(DPUSOFT_STATUS_)
#undef DPUSOFT_STATUS_
};

/* How the tasklets of a DPU are executed; X(name, value, text). */
#define DPUSOFT_ENGINES(X) \
    X(NONE, 0, "") \
    X(TURNS, 1, "turns") \
    X(DRIFT, 2, "drift") \
    X(TRANSLATED, 3, "translated") \
    X(LOCKSTEP, 4, "lockstep")

enum dpusoft_engine {
#define DPUSOFT_ENGINE_(name, value, text) DPUSOFT_ENGINE_##name = value,
    DPUSOFT_ENGINES(DPUSOFT_ENGINE_)
#undef DPUSOFT_ENGINE_
};

/* Run time that a program was linked with, and so what its instruction counts say. */
enum dpusoft_runtime {
    DPUSOFT_RUNTIME_OTHER = 0,       /* the vendor's, or none */
    DPUSOFT_RUNTIME_OFFCHIP = 1,     /* that of this package */
    DPUSOFT_RUNTIME_UPMEM_COSTS = 2, /* the same with --costs=upmem */
};

/* The last launch of one DPU. */
struct dpusoft_report {
    uint32_t size;   /* of this structure, set by the caller */
    uint32_t status; /* enum dpusoft_status */
    uint32_t fault;  /* 0 none, 1 fault instruction, 2 DMA, 3 WRAM, 4 undecodable instruction */
    uint32_t fault_thread;
    uint32_t fault_pc;      /* an instruction index */
    uint32_t breakpoint;    /* number in the fault instruction */
    uint32_t fault_address; /* address that was asked for */
    uint32_t nr_threads;    /* of the chip */
    uint64_t cycles;
    uint64_t instructions;
    uint64_t dma_read_bytes;
    uint64_t dma_write_bytes;
    uint64_t thread_instructions[24];
    double seconds;   /* cycles by the clock of the modelled DPU */
    uint32_t engine;  /* enum dpusoft_engine: what its last slice ran in */
    uint32_t runtime; /* enum dpusoft_runtime */
    double joules;    /* softInstructionPicojoules of its instructions; 0: none is published */
    uint64_t more_thread_instructions[40]; /* of tasklets from 24 on (softTasklets) */
    /* Of a cache of MRAM (softCacheKiB): its size, 0 without one; loads and stores that found their
     * line or not; dirty lines that were written; and bytes that were filled. */
    uint64_t cache_bytes, cache_hits, cache_misses, cache_write_backs, cache_fill_bytes;
};

struct dpusoft_thread {
    uint32_t size; /* of this structure, set by the caller */
    uint32_t registers[24];
    uint32_t pc;
    uint8_t zero, carry, running, reserved;
};

/* Of a set that is one DPU; waits for its rank's queue. */
dpu_error_t dpusoft_get_report(struct dpu_set_t set, struct dpusoft_report *report);
/* A sentence about the fault of a DPU, "" without one; waits for its rank's queue. */
dpu_error_t dpusoft_describe_fault(struct dpu_set_t set, char *text, size_t size);

/*
 * Warnings about launches that ended, such as tasklets that sleep at a barrier, go to stderr. A
 * caller that keeps them for the ranks of a set takes them instead: the first one since the last
 * call, "" if there is none, and how many there were.
 */
dpu_error_t dpusoft_keep_warnings(struct dpu_set_t set, bool keep);
dpu_error_t dpusoft_take_warning(struct dpu_set_t set, char *text, size_t size, uint32_t *count);

/* Waits for the queues of a set for at most TIMEOUT_NS (negative: no limit). Errors of jobs stay
 * for dpu_sync(). */
dpu_error_t dpusoft_wait(struct dpu_set_t set, int64_t timeout_ns, bool *done);
/* Waits, as dpusoft_wait() does, until an asynchronous call on the set need not wait for room in
 * the queues of its ranks (nrJobsPerRank of the profile). */
dpu_error_t dpusoft_wait_for_room(struct dpu_set_t set, int64_t timeout_ns, bool *room);
/*
 * Describes what the set waits for: a sentence about the operation at the head of its queue, what
 * it is and since when, "" if nothing is queued. Does not block.
 */
dpu_error_t dpusoft_waits_for(struct dpu_set_t set, char *text, size_t size);
/*
 * Makes the launches of a set that are running or queued end soon, with DPUSOFT_INTERRUPTED; their
 * error is DPU_ERR_TIMEOUT. The set can be used again once it has been loaded again.
 */
dpu_error_t dpusoft_interrupt(struct dpu_set_t set);

/*
 * Runs DPUs of another process, whose DPU_SOFT_SERVERS names the socket that FD is a connection of.
 * Blocks until that process closes it, or sends what makes no sense, which is an error. THREADS: of
 * this process for launches; 0: one per core. FD stays open.
 */
dpu_error_t dpusoft_serve(int fd, uint32_t threads);

/*
 * Debugging one DPU. dpusoft_debug_boot() makes a launch that waits before its first instruction;
 * it goes on by the functions below, or is given up by dpu_load() or another boot. All wait for
 * the rank's queue. Breakpoints stop only what dpusoft_debug_continue() runs.
 */
dpu_error_t dpusoft_debug_boot(struct dpu_set_t dpu);
/* COUNT instructions of one tasklet, or COUNT rounds of all (UINT32_MAX). */
dpu_error_t dpusoft_debug_step(struct dpu_set_t dpu, uint32_t thread, uint64_t count,
                               struct dpusoft_report *report);
/* Until the end, a fault or a breakpoint, or MAX_ROUNDS (0: no limit). */
dpu_error_t dpusoft_debug_continue(struct dpu_set_t dpu, uint64_t max_rounds,
                                   struct dpusoft_report *report);
dpu_error_t dpusoft_debug_set_breakpoint(struct dpu_set_t dpu, uint32_t pc, bool set);
dpu_error_t dpusoft_debug_get_thread(struct dpu_set_t dpu, uint32_t thread,
                                     struct dpusoft_thread *state);
dpu_error_t dpusoft_debug_set_thread(struct dpu_set_t dpu, uint32_t thread,
                                     const struct dpusoft_thread *state);

#ifdef __cplusplus
}
#endif

/* X(name): all functions above, for tables of them. */
#define DPUSOFT_SYMBOLS(X) \
    X(dpusoft_version) \
    X(dpusoft_last_error_detail) \
    X(dpusoft_tell_reasons) \
    X(dpusoft_get_report) \
    X(dpusoft_describe_fault) \
    X(dpusoft_wait) \
    X(dpusoft_wait_for_room) \
    X(dpusoft_waits_for) \
    X(dpusoft_interrupt) \
    X(dpusoft_serve) \
    X(dpusoft_keep_warnings) \
    X(dpusoft_take_warning) \
    X(dpusoft_debug_boot) \
    X(dpusoft_debug_step) \
    X(dpusoft_debug_continue) \
    X(dpusoft_debug_set_breakpoint) \
    X(dpusoft_debug_get_thread) \
    X(dpusoft_debug_set_thread)

#endif
