/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks.h: finding what is wrong with a program while a machine runs it.
 *
 * Checks are an observer of a machine. They know nothing of files: who makes them says where the
 * variables and the stacks are, and makes sentences of what is found. Each finding is told once per
 * pair of instructions.
 *
 * Races: two accesses of different tasklets, one of them a write, that nothing orders. What orders
 * them are the instructions by which tasklets wait for each other: a release before the acquire of
 * the same bit, boot and resume before what the tasklet then does, a stop before it is seen. Locks,
 * barriers, semaphores and handshakes are made of these. A vector clock for each tasklet and bit,
 * and the last accesses of each byte of WRAM and of every 8 bytes of MRAM, decide it, whatever the
 * order of this run was.
 */
#ifndef OFFCHIP_DPU_CHECKS_H
#define OFFCHIP_DPU_CHECKS_H

#include "dpu/machine/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(identifier, name for users, value) */
#define DPU_CHECK_LIST(X) \
    X(UNINITIALISED, "uninitialised", 1) \
    X(STACK, "stack", 2) \
    X(DMA, "dma", 4) \
    X(BOUNDS, "bounds", 8) \
    X(RACE, "race", 16) \
    X(DEADLOCK, "deadlock", 32)

enum dpu_check {
#define X(identifier, name, value) DPU_CHECK_##identifier = (value),
    DPU_CHECK_LIST(X)
#undef X
};

#define DPU_CHECK_ALL 63u

/* A list of struct check_word, for check_options_read(). */
#define DPU_CHECK_WORD(identifier, name, value) {name, value},
#define DPU_CHECK_WORDS \
    { \
        DPU_CHECK_LIST(DPU_CHECK_WORD){"all", DPU_CHECK_ALL}, \
    }

enum dpu_finding_kind {
    DPU_FINDING_UNDEFINED_CONDITION, /* a jump depends on bytes that were never written */
    DPU_FINDING_UNDEFINED_ADDRESS,   /* an address of an access or a transfer does */
    DPU_FINDING_STACK_OVERFLOW,      /* the stack pointer has left the stack by `size` bytes */
    DPU_FINDING_DMA_MISALIGNED,      /* the hardware drops the low bits of `address` */
    DPU_FINDING_DMA_OUT_OF_MEMORY,   /* beyond the end of the memory */
    DPU_FINDING_DMA_BEYOND,          /* begins in a variable and ends beyond it */
    DPU_FINDING_DMA_IN_FLIGHT,       /* `other` is a transfer that is under way */
    DPU_FINDING_NULL,                /* an access by a null pointer */
    DPU_FINDING_NOTHING,             /* an access to what belongs to no variable */
    DPU_FINDING_RACE,
    DPU_FINDING_DEADLOCK, /* a cycle, or nobody is left who could release */
};

/* Where a tasklet was. `calls` is for dpu_checks_caller(). */
struct dpu_check_point {
    uint32_t thread, pc, calls;
    bool writes, by_dma;
};

/* `thread` waits for `bit`, which `holder` has taken (DPU_MACHINE_THREADS_ROOM: nobody). */
struct dpu_check_wait {
    struct dpu_check_point point;
    uint32_t bit, holder;
    struct dpu_check_point taken;
};

struct dpu_finding {
    enum dpu_finding_kind kind;
    enum dpu_check check;
    struct dpu_check_point here, other;
    bool has_other;
    bool in_mram;
    uint32_t address, size; /* that the access or the transfer asked for */
    uint32_t end;           /* of the variable or the memory, where that matters; for
                               DPU_FINDING_NOTHING the size of what was taken of the heap */
    uint32_t wait_count;    /* of a deadlock */
    struct dpu_check_wait waits[DPU_MACHINE_THREADS_ROOM];
};

/* Part of a memory, as of a variable. */
struct dpu_check_area {
    uint32_t address, size;
};

/* Layout of a program. Areas are sorted by address, and may overlap. */
struct dpu_check_layout {
    struct dpu_check_area stacks[DPU_MACHINE_THREADS_ROOM]; /* of size 0: unknown */
    const struct dpu_check_area *wram, *mram;
    size_t wram_count, mram_count;
    uint32_t heap;         /* the first byte of the heap; UINT32_MAX if there is none */
    uint32_t heap_pointer; /* address of the word that has its end; UINT32_MAX likewise */
    uint32_t data_words;   /* 8 bytes for each tasklet, for accesses to data in MRAM; 0 if none */
};

struct dpu_checks;

typedef void dpu_checks_tell(void *context, const struct dpu_checks *checks,
                             const struct dpu_finding *finding);

/*
 * Observes MACHINE, which must outlive it, from its next launch on. Findings are told in the thread
 * that runs it, while the machine may be read. NULL if out of memory.
 */
struct dpu_checks *dpu_checks_create(struct dpu_machine *machine, uint32_t wanted,
                                     dpu_checks_tell *tell, void *context);
void dpu_checks_destroy(struct dpu_checks *checks);
/* Another program was loaded: LAYOUT is copied, NULL if nothing is known. False if out of memory:
 * then nothing is known. */
bool dpu_checks_load(struct dpu_checks *checks, const struct dpu_check_layout *layout);

/* The instruction that called the function that CALLS stands for, and then its own. False if there
 * is none. */
bool dpu_checks_caller(const struct dpu_checks *checks, uint32_t *calls, uint32_t *pc);
/* A deadlock was found: the launch cannot end by itself. */
bool dpu_checks_is_stuck(const struct dpu_checks *checks);
/* Where a tasklet is, for sentences about those that sleep. */
struct dpu_check_point dpu_checks_where(const struct dpu_checks *checks, uint32_t thread);

#endif
