/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of an observed machine, and the jumps that it tells of: where tasklets run ahead, they are
 * those that an observer sees who is told of each instruction, and nobody runs ahead of him.
 *
 * build: @dpu_machine -Wl,--wrap=dpu_observe_instruction
 */
#include "tests/dpu/support/program.h"
#include "dpu/machine/observe.h"
#include "dpu/machine/observed.h"
#include "dpu/machine/prepare.h"

#include <stdlib.h>

enum { TASKLETS = 16, LOCK = 9, SHARED = 64 };

#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)
#define CALL(pc) W("call", "rri", 23, ZERO, pc)
#define RETURN W("call", "zri", 0, 23, 0)

void __real_dpu_observe_instruction(struct dpu_machine *m, struct dpu_thread *t,
                                    const struct dpu_operation *op, uint32_t code);
void __wrap_dpu_observe_instruction(struct dpu_machine *m, struct dpu_thread *t,
                                    const struct dpu_operation *op, uint32_t code);

static uint32_t decoded_meanwhile;

/* As if another machine with the same program had decoded the instruction meanwhile: it must not be
 * executed untold. */
void __wrap_dpu_observe_instruction(struct dpu_machine *m, struct dpu_thread *t,
                                    const struct dpu_operation *op, uint32_t code)
{
    __real_dpu_observe_instruction(m, t, op, code);
    if (code == DPU_CODE_DECODE) {
        dpu_prepare_operation(m, (uint32_t)(op - m->operations));
        decoded_meanwhile++;
    }
}

struct jumps {
    uint64_t count, digest;
};

struct seen {
    struct dpu_count counts[DPU_MACHINE_THREADS][DPU_MACHINE_IRAM];
    struct jumps jumps[DPU_MACHINE_THREADS];
    uint64_t late;       /* jumps that were told of when the tasklet was elsewhere */
    uint64_t stopped_at; /* the end of the round of the last stop */
    uint32_t reboots;    /* of a tasklet that stopped in the same round */
};

static void on_instruction(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc)
{
    struct seen *seen = context;
    seen->counts[thread][pc].instructions++;
    seen->counts[thread][pc].cycles += dpu_machine_round_cycles(m);
}

static void on_jump(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                    enum dpu_jump kind, uint32_t target)
{
    struct seen *seen = context;
    struct jumps *jumps = &seen->jumps[thread];
    const uint64_t facts[] = {pc, (uint64_t)kind, target,
                              dpu_machine_thread_instructions(m, thread), dpu_machine_round_end(m)};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        jumps->digest = (jumps->digest ^ facts[i]) * UINT64_C(0x100000001B3);
    jumps->count++;

    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(m, thread, &state));
    seen->late += state.pc != pc;
}

static void on_run_bit(void *context, struct dpu_machine *m, uint32_t thread, uint32_t pc,
                       enum dpu_run_bit_change change, uint32_t target, bool was_set)
{
    struct seen *seen = context;
    (void)thread, (void)pc, (void)target;
    if (change == DPU_RUN_BIT_STOP)
        seen->stopped_at = dpu_machine_round_end(m);
    if (change == DPU_RUN_BIT_BOOT && !was_set)
        seen->reboots += seen->stopped_at == dpu_machine_round_end(m);
}

/* A machine that counts, and has an observer of jumps, or also of each instruction. */
struct observed {
    struct dpu_machine *machine;
    struct dpu_observer observer;
    struct dpu_count *counts;
    struct seen seen;
};

static struct observed *observe(struct dpu_machine *machine, bool each)
{
    struct observed *o = calloc(1, sizeof *o);
    CHECK(o != NULL);
    o->counts = calloc((size_t)DPU_MACHINE_THREADS * DPU_COUNTS, sizeof *o->counts);
    CHECK(o->counts != NULL);
    o->machine = machine;
    o->observer = (struct dpu_observer){
        .context = &o->seen,
        .jumped = on_jump,
        .run_bit = on_run_bit,
        .instruction = each ? on_instruction : NULL,
    };
    dpu_machine_observe(machine, &o->observer);
    dpu_machine_count(machine, o->counts);
    return o;
}

static void destroy(struct observed *o)
{
    dpu_machine_destroy(o->machine);
    free(o->counts);
    free(o);
}

static void expect_counts(const struct dpu_count *counts, const struct seen *seen)
{
    for (uint32_t id = 0; id < DPU_MACHINE_THREADS; id++) {
        struct dpu_count sum = {0, 0};
        for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
            sum.instructions += counts[id * DPU_COUNTS + pc].instructions;
            sum.cycles += counts[id * DPU_COUNTS + pc].cycles;
            CHECK(sum.instructions == seen->counts[id][pc].instructions);
            CHECK(sum.cycles == seen->counts[id][pc].cycles);
        }
    }
}

/* Launches both twice, the first time in slices, and compares them. */
static void expect_the_same(struct observed *ahead, struct observed *each,
                            enum dpu_run_status status)
{
    for (int launch = 0; launch < 2; launch++) {
        struct dpu_run_result a, b;
        enum dpu_run_status found = DPU_RUN_STEPPED;
        dpu_machine_boot(ahead->machine);
        while (found == DPU_RUN_STEPPED)
            found = launch == 0 ? dpu_machine_slice(ahead->machine, 100, &a)
                                : dpu_machine_run(ahead->machine, &a);
        CHECK(found == status && dpu_machine_launch(each->machine, &b) == status);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        if (status == DPU_RUN_FAULT)
            break;
    }

    expect_counts(each->counts, &each->seen);
    expect_counts(ahead->counts, &each->seen);
    CHECK(memcmp(ahead->seen.jumps, each->seen.jumps, sizeof ahead->seen.jumps) == 0);
    CHECK(each->seen.late == 0);
}

/* PAIR: the machines, which the caller looks at and gives back. */
#define COMPARE(pair, accounting, status, ...) \
    struct observed *pair[2]; \
    for (int i_ = 0; i_ < 2; i_++) { \
        struct dpu_machine *machine_ = dpu_new(accounting, 0); \
        LOAD(machine_, __VA_ARGS__); \
        pair[i_] = observe(machine_, i_ == 1); \
    } \
    expect_the_same(pair[0], pair[1], status)

static void destroy_both(struct observed *pair[2])
{
    destroy(pair[0]);
    destroy(pair[1]);
}

static void test_calls_of_tasklets_that_run_ahead(void)
{
    for (uint32_t accounting = 0; accounting < 2; accounting++) {
        COMPARE(pair, accounting, DPU_RUN_DONE, BOOT_CHAIN(TASKLETS, 0),
                W("add", "rri", 1, ID8, 300), /* 3: */ CALL(6), REPEAT(3), STOP,
                /* 6: */ W("add", "rri", 2, 2, 1), JUMP(9), STOP, /* 9: */ RETURN);
        CHECK(pair[0]->seen.late > 0 && pair[0]->seen.jumps[1].count >= 600);
        destroy_both(pair);
    }
}

/* Rounds are longer or shorter, as tasklets wait, and tries are undone. */
static void test_locks_transfers_and_shared_words(void)
{
    COMPARE(pair, DPU_ACCOUNTING_PIPELINE, DPU_RUN_DONE, BOOT_CHAIN(TASKLETS, 0),
            W("add", "rri", 1, ID, 40),
            /* 3: */ W("acquire", "rici", ZERO, LOCK, CC_NZ, 3),
            W("lw", "erri", 0, 2, ZERO, SHARED), W("add", "rri", 2, 2, 1),
            W("sw", "erir", 0, ZERO, SHARED, 2), W("release", "rici", ZERO, LOCK, 0, 8),
            W("lsl", "rri", 3, ID, 8), W("ldma", "rri", 3, 3, 15), MOVE(4, 60),
            /* 11: */ W("add", "rrici", 4, 4, -1, CC_NZ, 11), REPEAT(3), STOP);
    destroy_both(pair);
}

static void test_one_tasklet(void)
{
    COMPARE(pair, DPU_ACCOUNTING_PIPELINE, DPU_RUN_DONE, MOVE(1, 100), CALL(4), REPEAT(1), STOP,
            RETURN);
    destroy_both(pair);
}

/* The tasklet at fault has executed that instruction, and those before it in the round theirs. */
static void test_a_fault(void)
{
    COMPARE(pair, DPU_ACCOUNTING_PIPELINE, DPU_RUN_FAULT, BOOT_CHAIN(TASKLETS, 0), MOVE(1, 700),
            /* 3: */ REPEAT(3), JUMP_IF(ID, 5, CC_Z, 6), JUMP(3), W("fault", "i", 7));
    destroy_both(pair);
}

/* Behind the last instruction comes the first. */
static void test_the_end_of_iram(void)
{
    struct observed *pair[2];
    for (int i = 0; i < 2; i++) {
        struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
        LOAD(machine, JUMP_IF(1, 0, CC_NZ, 6), BOOT_CHAIN(TASKLETS, 1), MOVE(1, 400),
             JUMP(DPU_MACHINE_IRAM - 2), STOP, /* 6: */ REPEAT(DPU_MACHINE_IRAM - 2), STOP);
        LOAD_AT(machine, DPU_MACHINE_IRAM - 2, W("add", "rri", 2, 2, 1), W("add", "rri", 3, 3, 1));
        pair[i] = observe(machine, i == 1);
    }
    expect_the_same(pair[0], pair[1], DPU_RUN_DONE);
    CHECK(pair[1]->seen.counts[7][DPU_MACHINE_IRAM - 1].instructions == 800);
    destroy_both(pair);
}

/* Tasklet 2 starts tasklet 1 again and again, in the round in which that one stops. */
static void test_a_tasklet_that_stops_and_starts_in_a_round(void)
{
    COMPARE(pair, DPU_ACCOUNTING_PIPELINE, DPU_RUN_DONE, JUMP_IF(ID, 1, CC_Z, 8),
            JUMP_IF(ID, 2, CC_Z, 4), BOOT(ZERO, 2), STOP, /* 4: */ MOVE(1, 100), BOOT(ZERO, 1),
            REPEAT(5), STOP, /* 8: */ W("add", "rri", 2, 2, 1), W("add", "rri", 2, 2, 1), STOP);
    CHECK(pair[0]->seen.reboots > 0 && pair[0]->seen.reboots == pair[1]->seen.reboots);
    destroy_both(pair);
}

/* No machine has executed this program before, so that the wrapper has something to decode. */
static void test_an_instruction_that_is_decoded_meanwhile(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(1, 123), W("add", "rri", 2, 2, 45), REPEAT(1), STOP);
    struct observed *each = observe(machine, true);
    struct dpu_run_result result;
    decoded_meanwhile = 0;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(decoded_meanwhile == 4 && each->seen.counts[0][0].instructions == 1);
    expect_counts(each->counts, &each->seen);
    destroy(each);
}

int main(void)
{
    test_an_instruction_that_is_decoded_meanwhile();
    test_calls_of_tasklets_that_run_ahead();
    test_locks_transfers_and_shared_words();
    test_one_tasklet();
    test_a_fault();
    test_the_end_of_iram();
    test_a_tasklet_that_stops_and_starts_in_a_round();
    return 0;
}
