/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: which one runs a program, that faults, interrupts and slices leave in drift what they
 * leave in turns, and that machines share decoded programs.
 *
 * build: @dpu_machine tsan
 */
#include "tests/dpu/support/program.h"

#include <pthread.h>

enum { TASKLETS = 16, SHARED_WORD = 64, WINDOW = 4096 };

#define READ(r, base, offset) W("lw", "erri", 0, r, base, offset)
#define WRITE(base, offset, r) W("sw", "erir", 0, base, offset, r)
#define REPEAT(pc) W("add", "rrici", 1, 1, -1, CC_NZ, pc)

static void expect_the_same(struct dpu_machine *drift, struct dpu_machine *turns)
{
    static uint8_t memory[2][DPU_MACHINE_WRAM];
    struct dpu_run_result a, b;
    dpu_machine_get_result(drift, &a);
    dpu_machine_get_result(turns, &b);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    for (uint32_t id = 0; id < dpu_machine_thread_count(turns); id++) {
        struct dpu_thread_state left, right;
        CHECK(dpu_machine_get_thread(drift, id, &left) &&
              dpu_machine_get_thread(turns, id, &right));
        CHECK(memcmp(&left, &right, sizeof left) == 0);
    }
    CHECK(dpu_machine_read_wram(drift, 0, memory[0], DPU_MACHINE_WRAM));
    CHECK(dpu_machine_read_wram(turns, 0, memory[1], DPU_MACHINE_WRAM));
    CHECK(memcmp(memory[0], memory[1], DPU_MACHINE_WRAM) == 0);
    CHECK(dpu_machine_read_mram(drift, 0, memory[0], DPU_MACHINE_WRAM));
    CHECK(dpu_machine_read_mram(turns, 0, memory[1], DPU_MACHINE_WRAM));
    CHECK(memcmp(memory[0], memory[1], DPU_MACHINE_WRAM) == 0);
    dpu_machine_destroy(drift);
    dpu_machine_destroy(turns);
}

/* Launches a program in both engines and compares what they leave. */
#define EXPECT_THE_SAME(status, ...) \
    do { \
        struct dpu_machine *drift_ = dpu_new(DPU_ACCOUNTING_PIPELINE, 0); \
        struct dpu_machine *turns_ = dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE); \
        LOAD(drift_, BOOT_CHAIN(TASKLETS, 0), __VA_ARGS__); \
        LOAD(turns_, BOOT_CHAIN(TASKLETS, 0), __VA_ARGS__); \
        CHECK(dpu_machine_launch(drift_, NULL) == (status)); \
        CHECK(dpu_machine_launch(turns_, NULL) == (status)); \
        CHECK(strcmp(dpu_machine_engine_name(drift_), "drift") == 0); \
        CHECK(strcmp(dpu_machine_engine_name(turns_), "turns") == 0); \
        expect_the_same(drift_, turns_); \
    } while (0)

static void test_a_fault_finds_nobody_ahead(void)
{
    /* The last tasklet faults in the third window, after stores and transfers of all. */
    EXPECT_THE_SAME(DPU_RUN_FAULT, MOVE(1, 3000), /* 3: */ W("add", "rrr", 2, 2, 1),
                    WRITE(ID4, 256, 2), W("lsl", "rri", 3, ID, 8), W("sdma", "rri", 3, 3, 3),
                    REPEAT(3), JUMP_IF(ID, TASKLETS - 1, CC_NZ, 3), W("fault", "i", 7));
}

static void test_a_fault_of_the_first_tasklet_alone(void)
{
    EXPECT_THE_SAME(DPU_RUN_FAULT, MOVE(1, 3000), /* 3: */ W("add", "rrr", 2, ID, 2), REPEAT(3),
                    JUMP_IF(ID, 0, CC_NZ, 3), READ(2, LNEG, 0));
}

/* The others run ahead of it, and write to parts of WRAM where only zeros were. */
static void test_a_fault_finds_zeros_where_nobody_has_written(void)
{
    EXPECT_THE_SAME(DPU_RUN_FAULT, JUMP_IF(ID, TASKLETS - 1, CC_NZ, 4), W("fault", "i", 7),
                    /* 4: */ MOVE(1, 100), REPEAT(5), W("lsl", "rri", 3, ID, 11),
                    WRITE(3, 16384, 3), STOP);
}

static void test_spinning_on_a_lock(void)
{
    EXPECT_THE_SAME(DPU_RUN_DONE, MOVE(1, 100), /* 3: */ W("acquire", "rici", ZERO, 9, CC_NZ, 3),
                    READ(2, ZERO, SHARED_WORD), W("add", "rri", 2, 2, 1),
                    WRITE(ZERO, SHARED_WORD, 2), W("release", "rici", ZERO, 9, 0, 8), REPEAT(3),
                    STOP);
}

/* Tasklet 0 waits until another has stopped, and resumes it. */
static void test_spinning_on_a_run_bit(void)
{
    EXPECT_THE_SAME(DPU_RUN_DONE, JUMP_IF(ID, 0, CC_NZ, 5), MOVE(1, 9),
                    /* 4: */ W("resume", "rici", ZERO, 5, CC_NZ, 4), /* 5: */ MOVE(1, 9000),
                    REPEAT(6), STOP, MOVE(3, 5), STOP);
    /* All others wait until tasklet 7 has stopped: those after it see it in the same round. */
    EXPECT_THE_SAME(DPU_RUN_DONE, JUMP_IF(ID, 7, CC_NZ, 6), MOVE(1, 9000), REPEAT(4), STOP,
                    /* 6: */ W("read_run", "rici", ZERO, 7, CC_NZ, 6), W("time", "r", 2),
                    WRITE(ID4, 256, 2), STOP);
}

static void test_the_limit_of_cycles(void)
{
    for (uint64_t limit = 1; limit < 200000; limit = limit * 3 + 1) {
        struct dpu_machine *both[] = {dpu_new(DPU_ACCOUNTING_PIPELINE, 0),
                                      dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE)};
        for (int i = 0; i < 2; i++) {
            struct dpu_machine_options options;
            dpu_machine_get_options(both[i], &options);
            options.max_cycles = limit;
            CHECK(dpu_machine_set_options(both[i], &options));
            LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), W("ldma", "rri", ID8, 0, 200), JUMP(2));
            CHECK(dpu_machine_launch(both[i], NULL) == DPU_RUN_CYCLE_LIMIT);
        }
        expect_the_same(both[0], both[1]);
    }
}

/* With an engine that is never busy, a short transfer is over before a long one that began first;
 * a launch with other refreshes counts them from its own beginning. */
static void test_transfers_that_end_in_another_order(void)
{
    struct dpu_machine *both[] = {dpu_new(DPU_ACCOUNTING_PIPELINE, 0),
                                  dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE)};
    uint64_t cycles[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 300), W("lsl", "rri", 3, ID, 28),
             /* 4: */ W("ldma", "rri", 3, 0, 255), REPEAT(4), STOP);
        for (uint32_t launch = 0; launch < 4; launch++) {
            struct dpu_machine_options options;
            dpu_machine_get_options(both[i], &options);
            options.dma_setup = options.dma_engine_per_kib = 0;
            options.dram_refresh_interval = 10920 >> (launch & 1);
            CHECK(dpu_machine_set_options(both[i], &options));

            struct dpu_run_result result;
            CHECK(dpu_machine_launch(both[i], &result) == DPU_RUN_DONE);
            CHECK(launch < 2 || result.cycles == cycles[launch & 1]);
            cycles[launch & 1] = result.cycles;
        }
        CHECK(cycles[0] < cycles[1]);
    }
    expect_the_same(both[0], both[1]);
}

static void test_several_dma_engines(void)
{
    uint64_t cycles[DPU_DMA_ENGINES_MOST + 1];
    for (uint32_t engines = 1; engines <= DPU_DMA_ENGINES_MOST; engines++) {
        struct dpu_machine *both[] = {dpu_new(DPU_ACCOUNTING_PIPELINE, 0),
                                      dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE)};
        for (int i = 0; i < 2; i++) {
            struct dpu_machine_options options;
            dpu_machine_get_options(both[i], &options);
            options.dma_engines = engines;
            CHECK(dpu_machine_set_options(both[i], &options));
            LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 60), W("lsl", "rri", 3, ID, 28),
                 /* 4: */ W("ldma", "rri", 3, 0, 255), REPEAT(4), STOP);
            struct dpu_run_result result;
            CHECK(dpu_machine_launch(both[i], &result) == DPU_RUN_DONE);
            cycles[engines] = result.cycles;
        }
        expect_the_same(both[0], both[1]);
        CHECK(engines == 1 || cycles[engines] < cycles[engines - 1]);
    }
}

/* Tasklets ask for the time, transfer, and one faults in the middle of a round. */
static void test_several_instructions_a_cycle(void)
{
    uint64_t cycles[DPU_ISSUE_WIDTH_MOST + 1];
    for (uint32_t width = 1; width <= DPU_ISSUE_WIDTH_MOST; width++) {
        struct dpu_machine *both[] = {dpu_new(DPU_ACCOUNTING_PIPELINE, 0),
                                      dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE)};
        for (int i = 0; i < 2; i++) {
            struct dpu_machine_options options;
            dpu_machine_get_options(both[i], &options);
            options.issue_width = width;
            options.round_cycles = 1;
            CHECK(dpu_machine_set_options(both[i], &options));
            LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 60), W("lsl", "rri", 3, ID, 12),
                 /* 4: */ W("ldma", "rri", 3, 0, 3), W("time", "r", 4), WRITE(ID4, 256, 4),
                 REPEAT(4), READ(0, ID8, 0), W("fault", "i", 3));
            struct dpu_run_result result;
            CHECK(dpu_machine_launch(both[i], &result) == DPU_RUN_FAULT);
            cycles[width] = result.cycles;
        }
        expect_the_same(both[0], both[1]);
        CHECK(width == 1 || cycles[width] <= cycles[width - 1]);
    }
    CHECK(cycles[2] < cycles[1]);
}

/* A program with a race has one result, wherever it was interrupted. */
static void test_interrupts_and_slices_change_nothing(void)
{
    struct dpu_machine *at_once = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_machine *sliced = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_machine *both[] = {at_once, sliced};
    for (int i = 0; i < 2; i++)
        LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 20000), READ(0, ZERO, SHARED_WORD),
             W("add", "rri", 0, 0, 1), WRITE(ZERO, SHARED_WORD, 0), REPEAT(3), STOP);
    CHECK(dpu_machine_launch(at_once, NULL) == DPU_RUN_DONE);

    dpu_machine_boot(sliced);
    enum dpu_run_status status = DPU_RUN_STEPPED;
    for (uint32_t i = 0; status == DPU_RUN_STEPPED || status == DPU_RUN_INTERRUPTED; i++) {
        if (i % 3 != 0)
            dpu_machine_interrupt(sliced);
        status = dpu_machine_slice(sliced, 2 * WINDOW, NULL);
    }
    CHECK(status == DPU_RUN_DONE);
    expect_the_same(at_once, sliced);
}

/* 64 tasklets, some of which spin on locks and run bits, transfer and ask for the time; in the end
 * one of the last faults. */
static void test_tasklets_beyond_the_32nd(void)
{
    for (uint32_t count = 31; count <= 64; count += 11) {
        struct dpu_machine *both[2];
        for (int i = 0; i < 2; i++) {
            struct dpu_machine_options options;
            dpu_machine_default_options(&options);
            options.tasklets = count;
            options.engine = i == 0 ? DPU_ENGINE_DRIFT : DPU_ENGINE_TURNS;
            options.dram_banks = count == 53;
            options.dma_setup = options.dma_engine_per_kib = 5;
            both[i] = dpu_machine_create(&options);
            CHECK(both[i] != NULL && dpu_machine_thread_count(both[i]) == count);
            LOAD(both[i], BOOT_CHAIN(count, 0), MOVE(1, 60), W("lsl", "rri", 3, ID, 10),
                 /* 4: */ W("ldma", "rri", 3, 0, 3), W("time", "r", 4),
                 /* 6: */ W("acquire", "rici", ZERO, 9, CC_NZ, 6), READ(2, ZERO, SHARED_WORD),
                 W("add", "rrr", 2, 2, 4), WRITE(ZERO, SHARED_WORD, 2),
                 W("release", "rici", ZERO, 9, 0, 11), /* 11: */ WRITE(ID4, 256, 2), REPEAT(4),
                 JUMP_IF(ID, count - 3, CC_Z, 18), JUMP_IF(ID, 0, CC_NZ, 17),
                 /* 15: */ W("resume", "rici", ZERO, count - 1, CC_NZ, 15), JUMP(2),
                 /* 17: */ STOP, MOVE(1, 1000), REPEAT(19), READ(0, ID8, 0), W("fault", "i", 3));
            CHECK(dpu_machine_launch(both[i], NULL) == DPU_RUN_FAULT);
        }
        CHECK(strcmp(dpu_machine_engine_name(both[0]), "drift") == 0);
        struct dpu_run_result result;
        dpu_machine_get_result(both[0], &result);
        CHECK(result.fault_thread == count - 3 && result.thread_instructions[count - 1] > 60);
        CHECK(count == 64 || result.thread_instructions[count] == 0);
        expect_the_same(both[0], both[1]);
    }
}

/* The banks, pages and refreshes of the launch stay, whichever engine goes on with it. */
static void test_an_engine_that_changes_in_the_middle(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.dram_banks = 2;
    options.dram_open_rows = 1;
    options.tlb_entries = 1;
    options.dram_refresh_interval = 1500;
    struct dpu_machine *both[2];
    for (int i = 0; i < 2; i++) {
        options.engine = DPU_ENGINE_TURNS;
        both[i] = dpu_machine_create(&options);
        CHECK(both[i] != NULL);
        LOAD(both[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 3000), W("lsl", "rri", 3, ID, 13),
             /* 4: */ W("ldma", "rri", ID8, 3, 0), W("add", "rri", 3, 3, 64), REPEAT(4), STOP);
        dpu_machine_boot(both[i]);
    }

    static const uint32_t engines[] = {DPU_ENGINE_TURNS, DPU_ENGINE_DRIFT};
    enum dpu_run_status status = DPU_RUN_STEPPED;
    for (uint32_t slice = 0; status == DPU_RUN_STEPPED; slice++) {
        options.engine = engines[slice % 2];
        CHECK(dpu_machine_set_options(both[1], &options));
        status = dpu_machine_slice(both[1], WINDOW, NULL);
        CHECK(dpu_machine_slice(both[0], WINDOW, NULL) == status);
        struct dpu_run_result turns, changing;
        dpu_machine_get_result(both[0], &turns);
        dpu_machine_get_result(both[1], &changing);
        CHECK(turns.cycles == changing.cycles && slice < 100);
    }
    CHECK(status == DPU_RUN_DONE);
    expect_the_same(both[0], both[1]);
}

/* Run bits behind the tasklets, and from 24 on, are notifications. */
static void test_run_bits_of_other_chips(void)
{
    static const struct {
        uint32_t tasklets;
        uint64_t exist;
    } cases[] = {{8, ~UINT64_C(0xFFFF00)}, {24, UINT64_MAX}, {40, UINT64_MAX}, {64, UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dpu_machine_options options;
        dpu_machine_default_options(&options);
        options.tasklets = cases[i].tasklets;
        struct dpu_machine *machine = dpu_machine_create(&options);
        CHECK(machine != NULL);
        dpu_machine_set_run_bits(machine, UINT64_MAX);
        CHECK(dpu_machine_get_run_bits(machine) == cases[i].exist);
        LOAD(machine, STOP);
        CHECK(dpu_machine_run(machine, NULL) == DPU_RUN_DONE);
        uint64_t tasklets = UINT64_MAX >> (64 - cases[i].tasklets);
        CHECK(dpu_machine_get_run_bits(machine) == (cases[i].exist & ~tasklets));
        dpu_machine_destroy(machine);
    }
}

static void test_what_only_turns_can_run(void)
{
    const uint64_t words[] = {W("ldmai", "rri", 0, 0, 0), W("clr_run", "rici", ZERO, 3, 0, 0)};
    for (int i = 0; i < 2; i++) {
        struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
        CHECK(strcmp(dpu_machine_engine_name(machine), "") == 0);
        LOAD(machine, STOP, words[i]);
        CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
        CHECK(strcmp(dpu_machine_engine_name(machine), "turns") == 0);
        LOAD(machine, words[i], STOP);
        CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
        CHECK(strcmp(dpu_machine_engine_name(machine), "turns") == 0);
        /* Another program. */
        LOAD(machine, STOP, STOP);
        CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
        CHECK(strcmp(dpu_machine_engine_name(machine), "drift") == 0);
        dpu_machine_destroy(machine);
    }
}

static void *launch(void *machine)
{
    CHECK(dpu_machine_launch(machine, NULL) == DPU_RUN_DONE);
    return NULL;
}

/* Threads decode the same words at the same time, and one goes on with other words. */
static void test_machines_that_share_a_program(void)
{
    enum { MACHINES = 4 };
    struct dpu_machine *machines[MACHINES];
    pthread_t threads[MACHINES];
    for (int i = 0; i < MACHINES; i++) {
        machines[i] = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
        LOAD(machines[i], BOOT_CHAIN(TASKLETS, 0), MOVE(1, 50), W("add", "rri", 2, 2, 3),
             WRITE(ID4, 256, 2), REPEAT(3), STOP);
    }
    for (int i = 0; i < MACHINES; i++)
        CHECK(pthread_create(&threads[i], NULL, launch, machines[i]) == 0);
    for (int i = 0; i < MACHINES; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);

    LOAD_AT(machines[0], 3, W("add", "rri", 2, 2, 5));
    for (int i = 0; i < MACHINES; i++) {
        launch(machines[i]);
        CHECK(dpu_wram_word(machines[i], 256 + 4 * 7) == (i == 0 ? 50 * 8 : 50 * 6));
    }
    for (int i = 0; i < MACHINES; i++)
        dpu_machine_destroy(machines[i]);
}

int main(void)
{
    test_a_fault_finds_nobody_ahead();
    test_a_fault_of_the_first_tasklet_alone();
    test_a_fault_finds_zeros_where_nobody_has_written();
    test_spinning_on_a_lock();
    test_spinning_on_a_run_bit();
    test_the_limit_of_cycles();
    test_transfers_that_end_in_another_order();
    test_several_dma_engines();
    test_several_instructions_a_cycle();
    test_interrupts_and_slices_change_nothing();
    test_tasklets_beyond_the_32nd();
    test_an_engine_that_changes_in_the_middle();
    test_run_bits_of_other_chips();
    test_what_only_turns_can_run();
    test_machines_that_share_a_program();
    return 0;
}
