/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h: what checks keep of a machine. Private to this folder. */
#ifndef OFFCHIP_DPU_CHECKS_STATE_H
#define OFFCHIP_DPU_CHECKS_STATE_H

#include "dpu/checks/checks.h"
#include "dpu/checks/facts.h"
#include "dpu/checks/shadow.h"
#include "dpu/machine/observe.h"

#define NO_PC UINT32_MAX
#define NOBODY DPU_MACHINE_THREADS_ROOM
#define CALL_NODES (1 << RECORD_CALLS)
#define TOLD_SLOTS 4096

/* Calls that are under way form a tree: a node is a call, and below it are the calls in it. */
struct call_node {
    uint16_t parent, first, next; /* 0: the root, which is no call */
    uint16_t pc;
};

struct tasklet {
    uint32_t last; /* pc of its last instruction; NO_PC at its beginning */
    uint32_t calls;
    uint32_t lost;       /* calls for which there was no node */
    int stack_direction; /* -1: down, 1: up, 0: not known yet */
    uint32_t clock[DPU_MACHINE_THREADS_ROOM];
    uint32_t tried_at;      /* pc of the acquire that was its last instruction, in vain; NO_PC */
    uint32_t waits_at;      /* the same, if it did so before; NO_PC */
    uint32_t waits_for;     /* bit */
    uint32_t stack_pointer; /* as it was last seen */
    uint32_t undefined[DPU_MACHINE_REGISTERS]; /* bits that have never been written */
    uint32_t undefined_carry;
    bool moves_heap;   /* its last instruction has written the end of the heap, which was */
    uint32_t heap_end; /* that before */
    struct dpu_transfer flight;
    struct dpu_check_point flight_point;
};

struct lock {
    uint32_t clock[DPU_MACHINE_THREADS_ROOM];
    uint32_t holder; /* NOBODY */
    struct dpu_check_point taken;
};

/* As sorted: `furthest` is the largest end up to here. */
struct area {
    uint32_t address, end, furthest;
};

struct dpu_checks {
    struct dpu_observer observer; /* first */
    struct dpu_machine *machine;
    uint32_t thread_count;
    bool has_cache;  /* loads and stores may access MRAM */
    uint32_t wanted; /* enum dpu_check, or-ed */
    dpu_checks_tell *tell;
    void *context;

    struct dpu_check_layout layout; /* whose areas are the two that follow */
    struct area *wram, *mram;
    bool is_known; /* there is a layout */
    struct fact facts[DPU_MACHINE_IRAM];
    bool facts_are_old;

    struct tasklet tasklets[DPU_MACHINE_THREADS_ROOM];
    uint64_t flights; /* bits of tasklets in_flight */
    struct lock locks[DPU_MACHINE_ATOMIC_BITS];
    bool stuck;

    struct call_node nodes[CALL_NODES];
    uint32_t node_count;
    struct shadow shadow;
    uint8_t *undefined;        /* bits of each byte of WRAM */
    uint8_t *kept;             /* WRAM as the last launch left it */
    uint64_t told[TOLD_SLOTS]; /* a set of keys, 0: none */
    uint32_t told_count;
};

/* findings.c: tells a finding, unless the pair of instructions has been told of. */
void check_tell(struct dpu_checks *checks, struct dpu_finding *finding);
struct dpu_check_point check_point(const struct dpu_checks *checks, uint32_t thread, uint32_t pc);

/* By a cache, to an address of MRAM that exists: FAR. */
static inline bool check_is_in_mram(const struct dpu_checks *checks,
                                    const struct dpu_access *access, uint32_t *far)
{
    *far = access->address - DPU_MRAM_WINDOW;
    return checks->has_cache && access->address >= DPU_MRAM_WINDOW &&
           *far < dpu_machine_mram_size(checks->machine);
}

/* calls.c: a call at PC, and a jump to what may be a return address. */
void calls_enter(struct dpu_checks *checks, struct tasklet *tasklet, uint32_t pc);
void calls_return(struct dpu_checks *checks, struct tasklet *tasklet, uint32_t to);

/* order.c: what comes before what. */
void order_booted(struct dpu_checks *checks);
void order_acquired(struct dpu_checks *checks, uint32_t thread, uint32_t bit);
void order_released(struct dpu_checks *checks, uint32_t thread, uint32_t bit);
void order_started(struct dpu_checks *checks, uint32_t thread, uint32_t target);
void order_stopped(struct dpu_checks *checks, uint32_t thread);
void order_saw_stopped(struct dpu_checks *checks, uint32_t thread, uint32_t target);

/* races.c */
void races_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                  const struct dpu_access *access);
void races_transfer(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                    const struct dpu_transfer *transfer);

/* transfers.c */
void transfers_check(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                     const struct dpu_transfer *transfer);
void transfers_begin(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                     const struct dpu_transfer *transfer);
void transfers_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                      const struct dpu_access *access);

/* stacks.c: the instruction at PC has written the stack pointer. */
void stacks_moved(struct dpu_checks *checks, uint32_t thread, uint32_t pc);

/* bounds.c */
void bounds_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                   const struct dpu_access *access);
/* The end of the variable, heap or stack that an address is in; 0 if it is in none. */
uint32_t bounds_end_in_wram(const struct dpu_checks *checks, uint32_t address);
uint32_t bounds_end_in_mram(const struct dpu_checks *checks, uint32_t address);

/* defined.c: a program was loaded, a launch begins and ends, a transfer has written, a stack has
 * grown, the heap has, a tasklet is started. */
void defined_load(struct dpu_checks *checks);
void defined_by_host(struct dpu_checks *checks);
void defined_end(struct dpu_checks *checks);
void defined_transfer(struct dpu_checks *checks, const struct dpu_transfer *transfer);
void defined_stack(struct dpu_checks *checks, uint32_t from, uint32_t to);
void defined_heap(struct dpu_checks *checks, struct tasklet *tasklet);
void defined_start(struct tasklet *tasklet);
/* An instruction that is about to execute, an access of its, and the addresses of a transfer. */
void defined_instruction(struct dpu_checks *checks, uint32_t thread, uint32_t pc);
void defined_access(struct dpu_checks *checks, uint32_t thread, uint32_t pc,
                    const struct dpu_access *access);
void defined_addresses(struct dpu_checks *checks, uint32_t thread, uint32_t pc);

/* deadlocks.c */
void deadlocks_refused(struct dpu_checks *checks, uint32_t thread, uint32_t pc, uint32_t bit);

#endif
