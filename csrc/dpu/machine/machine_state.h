/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_state.h: the structures of a machine, for the files of this folder. */
#ifndef OFFCHIP_DPU_MACHINE_STATE_H
#define OFFCHIP_DPU_MACHINE_STATE_H

#include "cache.h"
#include "dpu/isa/forms.h"
#include "dram.h"
#include "machine.h"
#include "observe.h"
#include "tlb.h"

#include <stdatomic.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum dpu_code {
#define BASIC(name) DPU_CODE_##name,
#define ALU(operation, source, tail, condition) \
    DPU_CODE_##operation##_##source##_##tail##_##condition,
#include "dpu/isa/codes.def"
#undef BASIC
#undef ALU
    DPU_CODE_COUNT
};

/* Where the second operand comes from, and what an instruction ends with. */
enum dpu_source { DPU_SOURCE_REG, DPU_SOURCE_IMM };
enum dpu_tail { DPU_TAIL_PLAIN, DPU_TAIL_SET, DPU_TAIL_JUMP };

/* A decoded instruction. Sixteen bytes: a loop of a program stays in the first-level cache. */
struct dpu_operation {
    uint16_t code; /* enum dpu_code */
    uint8_t c;     /* register of the result; DPU_SINK if it is dropped */
    uint8_t a, b;
    uint8_t condition; /* enum dpu_condition */
    uint16_t target;   /* of the jump, below DPU_MACHINE_IRAM; a store's immediate */
    uint32_t imm;      /* sign-extended */
    uint8_t kind;      /* enum dpu_operation_kind */
    uint8_t shift;
    uint8_t destination; /* enum dpu_destination */
    uint8_t tail : 2;    /* enum dpu_tail */
    uint8_t source : 1;  /* enum dpu_source */
    uint8_t big : 1;     /* byte order */
    uint8_t checked : 1; /* safe accesses, stack-checked add and sub */
};
_Static_assert(sizeof(struct dpu_operation) == 16, "an operation is 16 bytes");

/* Registers 24 to 31 are the constants; 32 takes results that are dropped. */
#define DPU_SINK 32

struct dpu_thread {
    uint32_t r[34];
    uint32_t zero;                  /* the zero flag is set if this is 0 */
    uint32_t carry;                 /* 0 or 1 */
    const struct dpu_operation *op; /* next to execute */
    uint64_t ready;                 /* cycle from which it is not blocked by DMA any more */
    uint64_t instructions;          /* of this launch */
    uint32_t id;
};

/* A tasklet as it was, and a word of WRAM. */
struct dpu_thread_before {
    uint32_t r[DPU_SINK];
    uint32_t zero, carry;
    const struct dpu_operation *op;
};
struct dpu_word_before {
    uint32_t index, value;
};
#define DPU_AHEAD_WORDS (DPU_MACHINE_WRAM_ROOM / 4)
#define DPU_AHEAD_LOG 4096

/* See ahead.c and ahead_marks.c. */
struct dpu_ahead {
    uint32_t *tags;              /* of each word of WRAM; NULL if there is no memory for it */
    struct dpu_word_before *log; /* of words that were written */
    uint32_t logged;
    uint32_t epoch, mine;
    uint32_t slot;              /* in the order: who runs */
    uint64_t rounds;            /* how many it has to run, and then how many it has run */
    bool conflict, is_due;      /* it stopped at a shared word; a tasklet will stop at once */
    uint32_t size;              /* rounds to try next time */
    uint32_t pause, next_pause; /* rounds in turns, now and after the next failure */
    /* How long the two ways take, and the period that is timed; not from one run to the next,
     * which may be in another thread. */
    bool is_timed;
    uint32_t way, length, periods;
    uint64_t start_instructions, start_ns, picoseconds[2]; /* an instruction */
    struct dpu_thread_before threads[DPU_MACHINE_THREADS_ROOM];
};

/* The performance counter: VALUE when the clock of its mode was at ORIGIN. */
struct dpu_counter {
    uint64_t value, origin;
    uint32_t mode;
};

struct dpu_fault {
    uint32_t kind, thread, breakpoint, address, detail, bytes;
};

/* A jump of a tasklet that ran ahead: indexes of operations. */
struct dpu_jump_taken {
    uint16_t end, to; /* behind the jump, and what came next */
    uint16_t round;   /* of those ahead; only if it is told */
    uint16_t is_told; /* to the hook jumped() */
};

/* See observe.c and observed.c: whom hooks have been told of, and what they will be told. */
struct dpu_observing {
    bool each;                    /* an observer wants each instruction, or access */
    bool jumps;                   /* an observer wants jumps */
    struct dpu_jump_taken *trail; /* of one try after the other; NULL: no memory yet */
    uint32_t trail_end[DPU_MACHINE_THREADS_ROOM]; /* of the tasklet in each slot of the order */
    uint64_t group, seen;                         /* who takes part, and who has since the boot */
    uint64_t dma_free;                            /* before the transfer */
    uint64_t since[DPU_MACHINE_THREADS_ROOM]; /* cycle of the launch at which it left the group */
    uint16_t last[DPU_MACHINE_THREADS_ROOM];  /* pc of its last event */
    enum { DPU_OBSERVED_ELSE, DPU_OBSERVED_DMA, DPU_OBSERVED_SLEEP } why[DPU_MACHINE_THREADS_ROOM];
    /* Where an observed machine counts that has no counts: pages that are not touched else. */
    struct dpu_count no_counts[DPU_MACHINE_THREADS_ROOM][DPU_COUNTS];
};

/*
 * State that a run changes, beside the memories: bits; cycles, instructions and rounds since the
 * machine exists, up to this batch; the cycle at which each DMA engine is free, which one had the
 * last transfer, and what they have done; the tasklets, of which one more without registers ends a
 * round.
 */
#define DPU_PROGRESS \
    uint8_t atomic[DPU_MACHINE_ATOMIC_BITS]; \
    uint64_t run_bits; \
    uint64_t cycles, instructions, rounds; \
    uint64_t dma_free[DPU_DMA_ENGINES_MOST]; \
    uint32_t dma_engine; \
    struct dpu_dma_totals dma; \
    struct dpu_counter counter; \
    struct dpu_fault fault; \
    struct dpu_thread threads[DPU_MACHINE_THREADS_ROOM + 1]
struct dpu_progress {
    DPU_PROGRESS;
};

/* Ways to decide how long transfers take. */
enum dpu_transfer_time {
    DPU_TRANSFERS_FITTED,     /* the options' constants */
    DPU_TRANSFERS_TRANSLATED, /* the same, with translated addresses: see tlb.h */
    DPU_TRANSFERS_OF_BANKS,   /* see dram.h and tlb.h */
    DPU_TRANSFERS_NONE,       /* nothing: the vendor's accounting */
};

struct dpu_engine;
struct dpu_issue_fact;
struct dpu_machine;
struct dpu_program;
struct dpu_remote_copy;
struct dpu_snapshot;

/*
 * Runs tasklet T alone: for BUDGET instructions, or up to an event, which is an instruction that
 * others notice (see drift.c) and which is not executed. Returns how many instructions it has
 * executed; less than BUDGET means that an event comes next. It uses *T, the WRAM and nothing else.
 */
typedef uint32_t (*dpu_runner)(struct dpu_machine *machine, struct dpu_thread *t, uint32_t budget);

struct dpu_machine {
    /* Of the program (program.h), which other machines may share. */
    struct dpu_operation *operations;
    struct dpu_program *program; /* NULL before the first run */
    bool iram_changed;           /* the program, or the switches it is decoded with, is another */
    uint32_t iram_used;          /* words from here on were never written */
    uint64_t iram[DPU_MACHINE_IRAM];
    _Alignas(64) uint8_t wram[DPU_MACHINE_WRAM_ROOM];
    union {
        struct {
            DPU_PROGRESS;
        };
        struct dpu_progress progress; /* the same, for snapshots */
    };
    uint8_t *mram;
    uint32_t wram_size, mram_size, iram_size, thread_count;
    uint64_t thread_bits; /* run bits of the tasklets */
    struct dpu_machine_options options;
    /* Of so many tasklets that take part: cycles of a round, and cycles that issue. */
    uint16_t round_length[DPU_MACHINE_THREADS_ROOM + 1], issue_length[DPU_MACHINE_THREADS_ROOM + 1];
    enum dpu_transfer_time transfer_time;
    uint32_t far_bits;                  /* that count of an address of MRAM, in DMA */
    uint32_t read_wait, write_wait;     /* cycles of a tasklet beside those of the bytes */
    struct dpu_issue_fact *issue_facts; /* of each instruction, see issue.c; NULL: none yet */
    _Atomic uint32_t interrupt;

    /* Of the run: what advances it, and the tasklets that may take part. */
    const struct dpu_engine *engine;
    uint64_t eligible;
    struct dpu_observer *observers; /* in the order of their calls; NULL: none */
    struct dpu_count *counts;       /* NULL: none */

    /* The batch of rounds that runs: who takes part, and how many rounds it has. */
    struct dpu_thread *order[DPU_MACHINE_THREADS_ROOM + 1];
    uint32_t runnable;
    uint64_t batch_rounds;
    struct dpu_ahead ahead;
    struct dpu_snapshot *snapshot; /* of this run, see snapshot.h; NULL: none was taken yet */
    bool regroup; /* set by what changes who runs: the batch ends with this round */
    /* For instructions that ask for the time: rounds of the batch that are complete, and how
     * many tasklets have issued before in this one. */
    uint64_t rounds_done;
    uint32_t slot;

    uint64_t launch_cycles, launch_instructions, launch_rounds; /* at the boot */
    struct dpu_dma_totals launch_dma;                           /* likewise */
    uint64_t refresh_interval; /* cycle at which one of the launch begins; see timing.c */
    struct dpu_observing observing;
    struct dpu_remote_copy *remote; /* NULL: no other process has one */
    uint8_t *lane;                  /* WRAM while it is in lockstep (lane.h); NULL else */
    uint32_t lane_step;             /* bytes from a word to the next one */
    bool lane_is_in_step;           /* transfers are moved by in_step.c */
    struct dpu_dram dram;           /* if transfers are of banks */
    struct dpu_tlb tlb;             /* if MRAM is translated */
    struct dpu_cache cache;         /* if there is one */
};

/* True if the time of transfers depends on those before, beside the engines. */
static inline bool dpu_transfers_leave_state(const struct dpu_machine *m)
{
    return m->transfer_time == DPU_TRANSFERS_OF_BANKS ||
           m->transfer_time == DPU_TRANSFERS_TRANSLATED;
}

static inline uint32_t dpu_pc(const struct dpu_machine *m, const struct dpu_operation *op)
{
    return (uint32_t)(op - m->operations) & (DPU_MACHINE_IRAM - 1);
}

/* The tasklets below, and up to one. */
static inline uint64_t dpu_threads_before(uint32_t id)
{
    return (UINT64_C(1) << id) - 1;
}
static inline uint64_t dpu_threads_up_to(uint32_t id)
{
    return (UINT64_C(2) << id) - 1;
}

/* The first tasklet of some. */
static inline uint32_t dpu_first_thread(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

/* How many bits are set; without the instruction for it, which not every host has. Most chips have
 * no more than 32 tasklets. */
static inline uint32_t dpu_count_half(uint32_t bits)
{
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    return ((bits + (bits >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}
static inline uint32_t dpu_count_bits(uint64_t bits)
{
    uint32_t count = dpu_count_half((uint32_t)bits);
    return UNLIKELY(bits >> 32 != 0) ? count + dpu_count_half((uint32_t)(bits >> 32)) : count;
}

/* The index that an operand of acquire, boot and their like designates. */
static inline uint32_t dpu_bit_index(uint32_t value)
{
    return (value >> 8 ^ value) & 0xFF;
}

#endif
