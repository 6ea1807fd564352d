/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of the machine: rounds, DMA, the performance counter, and how a run is ended.
 *
 * build: @dpu_machine tsan
 */
#include "tests/dpu/support/program.h"

#include <pthread.h>

static struct dpu_run_result run(struct dpu_machine *machine, uint64_t tasklets)
{
    struct dpu_run_result result;
    dpu_machine_set_run_bits(machine, (UINT64_C(1) << tasklets) - 1);
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_DONE);
    return result;
}

/* 1 + 2 * 100 + 1 instructions each, all at the same time. */
static void test_rounds_last_11_cycles_or_as_many_as_run(void)
{
    static const struct {
        uint32_t tasklets, cycles;
    } cases[] = {{1, 11}, {2, 11}, {10, 11}, {11, 11}, {12, 12}, {16, 16}, {24, 24}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t accounting = 0; accounting < 2; accounting++) {
            struct dpu_machine *machine = dpu_new(accounting, 0);
            LOAD(machine, MOVE(0, 100), W("nop", "", 0), W("add", "rrici", 0, 0, -1, CC_NZ, 1),
                 STOP);
            struct dpu_run_result result = run(machine, cases[i].tasklets);
            uint32_t length =
                accounting == DPU_ACCOUNTING_VENDOR ? cases[i].tasklets : cases[i].cycles;
            CHECK(result.rounds == 202);
            CHECK(result.cycles == 202 * length);
            CHECK(result.instructions == 202 * cases[i].tasklets);
            for (uint32_t id = 0; id < 24; id++)
                CHECK(result.thread_instructions[id] == (id < cases[i].tasklets ? 202 : 0));
            dpu_machine_destroy(machine);
        }
}

/* A machine in which results are forwarded after so many cycles, and reads of a bank conflict. */
static struct dpu_machine *new_chip(uint32_t forwarding, uint32_t hazard, uint32_t width)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.forwarding = forwarding;
    options.hazard = hazard;
    options.issue_width = width;
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL);
    return machine;
}

/* Beside the round of the instruction under test, there is one of the stop. */
static uint64_t round_of(uint64_t word, uint32_t forwarding, uint32_t hazard, uint32_t tasklets)
{
    struct dpu_machine *machine = new_chip(forwarding, hazard, 1);
    LOAD(machine, word, W("addc", "rrr", 9, 2, 5), STOP);
    uint64_t last = forwarding != 0 ? forwarding : 11;
    uint64_t added = forwarding != 0 ? 1 : 11; /* its registers are of two banks */
    added = added > tasklets ? added : tasklets;
    uint64_t cycles = run(machine, tasklets).cycles - added - (last > tasklets ? last : tasklets);
    dpu_machine_destroy(machine);
    return cycles;
}

static void test_forwarding_shortens_rounds_in_which_nothing_is_needed(void)
{
    static const struct {
        uint32_t tasklets, cycles;
    } cases[] = {
        {1, 1 + 100 * (1 + 4) + 4}, {3, 3 + 100 * (3 + 4) + 4}, {5, 202 * 5}, {24, 202 * 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dpu_machine *machine = new_chip(4, 0, 1);
        LOAD(machine, MOVE(0, 100), W("nop", "", 0), W("add", "rrici", 0, 0, -1, CC_NZ, 1), STOP);
        struct dpu_run_result result = run(machine, cases[i].tasklets);
        CHECK(result.cycles == cases[i].cycles && result.rounds == 202);
        dpu_machine_destroy(machine);
    }

    /* An addc comes next, which reads r2, r5 and the carry. */
    CHECK(round_of(W("nop", "", 0), 4, 0, 1) == 1);
    CHECK(round_of(W("lsl", "rri", 3, 2, 1), 4, 0, 1) == 1);
    CHECK(round_of(W("lsl", "rri", 2, 0, 1), 4, 0, 1) == 4);
    CHECK(round_of(W("lsl", "rri", 5, 0, 1), 4, 0, 1) == 4);
    CHECK(round_of(W("add", "rri", 3, 0, 1), 4, 0, 1) == 4);
    CHECK(round_of(W("lw", "erri", 0, 5, ZERO, 64), 4, 0, 1) == 4);
    CHECK(round_of(W("ld", "erri", 0, 4, ZERO, 64), 4, 0, 1) == 4);
    CHECK(round_of(W("ld", "erri", 0, 6, ZERO, 64), 4, 0, 1) == 1);
    CHECK(round_of(W("lsl.u", "rri", 4, 0, 1), 4, 0, 1) == 4);
    CHECK(round_of(W("call", "rri", 23, ZERO, 1), 4, 0, 1) == 4);
    CHECK(round_of(W("lsl", "rri", 2, 0, 1), 11, 0, 1) == 11);
}

static void test_registers_of_one_bank_are_read_one_after_the_other(void)
{
    static const struct {
        uint32_t hazard, tasklets, odd_and_even, even;
    } cases[] = {{0, 24, 24, 24}, {2, 24, 24, 3 * 24}, {2, 3, 11, 11}, {5, 3, 11, 3 + 3 * 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t hazard = cases[i].hazard, tasklets = cases[i].tasklets;
        CHECK(round_of(W("lsl", "rrr", 9, 2, 3), 0, hazard, tasklets) == cases[i].odd_and_even);
        CHECK(round_of(W("lsl", "rrr", 9, 2, 2), 0, hazard, tasklets) == cases[i].odd_and_even);
        CHECK(round_of(W("lsl", "rrr", 9, ZERO, 2), 0, hazard, tasklets) == cases[i].odd_and_even);
        CHECK(round_of(W("lsl", "rrr", 9, 2, 4), 0, hazard, tasklets) == cases[i].even);
        CHECK(round_of(W("lsl", "rrr", 9, 3, 5), 0, hazard, tasklets) == cases[i].even);
        /* Of a pair, and the address: two are even. */
        CHECK(round_of(W("sd", "erir", 0, 2, 8, 4), 0, hazard, tasklets) == cases[i].even);
        CHECK(round_of(W("sd", "erir", 0, ZERO, 8, 4), 0, hazard, tasklets) ==
              cases[i].odd_and_even);
    }

    /* The words of the next program are looked at, not those of the last one. */
    struct dpu_machine *machine = new_chip(4, 0, 1);
    struct dpu_run_result result;
    LOAD(machine, W("lsl", "rri", 2, 0, 1), W("lsl", "rri", 3, 2, 1), STOP);
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE && result.cycles == 4 + 1 + 4);
    LOAD(machine, W("lsl", "rri", 2, 0, 1), W("lsl", "rri", 3, 0, 1), STOP);
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE && result.cycles == 1 + 1 + 4);
    struct dpu_machine_options options;
    dpu_machine_get_options(machine, &options);
    options.forwarding = options.round_cycles + 1;
    CHECK(!dpu_machine_set_options(machine, &options));
    dpu_machine_destroy(machine);
}

/* Tasklet n boots n + 1 in its second instruction, and that one starts in the next round. */
static void test_booted_tasklets_start_in_the_next_round(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, BOOT_CHAIN(13, 0), W("nop", "", 0), STOP);
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    /* The last one starts after 24 rounds and has 3 instructions; two at most run at once. */
    CHECK(result.rounds == 27 && result.cycles == 27 * 11);
    CHECK(result.instructions == 12 * 4 + 3);
    dpu_machine_destroy(machine);
}

/* The default of dma_page_crossing. */
#define PAGE_CROSSING 25

static void test_dma_blocks_for_its_time(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("ldma", "rri", 0, 0, 255), STOP);
    struct dpu_run_result result = run(machine, 1);
    CHECK(result.cycles == 73 + 1024 + PAGE_CROSSING + 11 && result.rounds == 2);
    dpu_machine_destroy(machine);

    machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("sdma", "rri", 0, 0, 0), STOP);
    CHECK(run(machine, 1).cycles == 57 + 4 + 11);
    dpu_machine_destroy(machine);

    /* The engine takes one after the other: the second transfer starts when it is free. */
    machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("ldma", "rri", 0, 0, 255), STOP);
    result = run(machine, 2);
    CHECK(result.cycles == (34 + 1042) + (73 + 1024) + 2 * PAGE_CROSSING + 11);
    CHECK(result.dma_read_bytes == 4096);
    dpu_machine_destroy(machine);

    machine = dpu_new(DPU_ACCOUNTING_VENDOR, 0);
    LOAD(machine, W("ldma", "rri", 0, 0, 255), STOP);
    CHECK(run(machine, 2).cycles == 4);
    dpu_machine_destroy(machine);
}

/* Cycles of a read of 8 * (UNITS + 1) bytes from FROM by one tasklet, with DMA of these options. */
static uint64_t read_cycles(const struct dpu_machine_options *options, uint32_t from,
                            uint32_t units)
{
    struct dpu_machine *machine = dpu_machine_create(options);
    CHECK(machine != NULL);
    LOAD(machine, MOVE(1, from), W("ldma", "rri", 0, 1, units), STOP);
    uint64_t cycles = run(machine, 1).cycles;
    dpu_machine_destroy(machine);
    return cycles;
}

static void test_pages_that_a_transfer_crosses_cost_time(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.dma_page_crossing = 1100;
    options.dram_refresh_cycles = 0;
    static const struct {
        uint32_t from, units, crossings;
    } cases[] = {{0, 127, 0},  {8, 126, 0}, {8, 127, 1},    {1016, 0, 0},
                 {1016, 1, 1}, {0, 255, 1}, {1024, 128, 1}, {8, 255, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t cycles = 73 + 4 * (cases[i].units + 1) + 1100 * cases[i].crossings;
        CHECK(read_cycles(&options, cases[i].from, cases[i].units) == 11 + cycles + 11);
    }
}

/* Transfers stand still in the last cycles of each interval, which counts from the boot. */
static void test_transfers_wait_for_refreshes(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.dma_page_crossing = 0;
    options.dram_refresh_interval = 200;
    options.dram_refresh_cycles = 50;
    /* The transfer starts at 11 and has 139 cycles before the first refresh. */
    CHECK(read_cycles(&options, 0, 15) == 11 + 73 + 64 + 11);      /* 137 */
    CHECK(read_cycles(&options, 0, 16) == 11 + 73 + 68 + 50 + 11); /* 141 */
    /* Then 150 in each interval: of 1097, six refreshes after the first one. */
    CHECK(read_cycles(&options, 0, 255) == 11 + 73 + 1024 + 7 * 50 + 11);

    /* Two launches take the same time, wherever the first one ended in its interval. */
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL);
    LOAD(machine, W("ldma", "rri", 0, 0, 255), W("nop", "", 0), STOP);
    struct dpu_run_result first, second;
    CHECK(dpu_machine_launch(machine, &first) == DPU_RUN_DONE);
    CHECK(dpu_machine_launch(machine, &second) == DPU_RUN_DONE);
    CHECK(first.cycles == second.cycles && first.cycles % 200 != 0);
    dpu_machine_destroy(machine);

    options.dram_refresh_cycles = 200;
    CHECK(dpu_machine_create(&options) == NULL);
}

/* While one waits for DMA the others go on, and it joins them when its time has come. */
static void test_others_run_during_dma(void)
{
    struct dpu_machine *machine = dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE);
    LOAD(machine, JUMP_IF(ID, 0, CC_NZ, 4), W("ldma", "rri", 0, 0, 15), /* 2: */
         W("sw", "erii", 0, ZERO, 512, 1), STOP, /* 4: until the store of the other is seen */
         W("add", "rri", 1, 1, 1), W("lw", "erri", 0, 2, ZERO, 512), JUMP_IF(2, 0, CC_Z, 4), STOP);
    run(machine, 2);
    /*
     * Issued at 11, ready at 11 + 73 + 64 = 148; the round that begins next is that of cycle 154,
     * the 14th from 0. Tasklet 1 has then counted in the rounds 1, 4, 7, 10, 13, and loads in 14,
     * after tasklet 0 by its id.
     */
    CHECK(dpu_register(machine, 1, 1) == 5);
    dpu_machine_destroy(machine);
}

static uint32_t count_nops(uint32_t accounting, uint32_t nops, uint32_t config)
{
    struct dpu_machine *machine = dpu_new(accounting, 0);
    uint64_t program[128] = {MOVE(8, config), W("time_cfg", "zr", 0, 8)};
    CHECK(nops + 4 <= 128);
    for (uint32_t i = 0; i < nops; i++)
        program[2 + i] = W("nop", "", 0);
    program[2 + nops] = W("time", "r", 3);
    program[3 + nops] = STOP;
    CHECK(dpu_machine_write_iram(machine, 0, program, nops + 4));
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    uint32_t value = dpu_register(machine, 0, 3);
    dpu_machine_destroy(machine);
    return value;
}

static void test_performance_counter(void)
{
    enum { RESET = 1, CYCLES = 2, INSTRUCTIONS = 4, OFF = 6 };
    /* The vendor counts an instruction each in both modes: those before the one that reads. */
    for (uint32_t mode = CYCLES; mode <= INSTRUCTIONS; mode += 2) {
        CHECK(count_nops(DPU_ACCOUNTING_VENDOR, 15, RESET | mode) == 0);
        CHECK(count_nops(DPU_ACCOUNTING_VENDOR, 16, RESET | mode) == 1);
        CHECK(count_nops(DPU_ACCOUNTING_VENDOR, 100, RESET | mode) == 100 / 16);
    }
    CHECK(count_nops(DPU_ACCOUNTING_VENDOR, 100, RESET | OFF) == 0);
    /* In the pipeline: from the issue of the one to that of the other. */
    for (uint32_t nops = 0; nops < 40; nops++) {
        CHECK(count_nops(DPU_ACCOUNTING_PIPELINE, nops, RESET | CYCLES) == (nops + 1) * 11 / 16);
        CHECK(count_nops(DPU_ACCOUNTING_PIPELINE, nops, RESET | INSTRUCTIONS) == (nops + 1) / 16);
    }

    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    struct dpu_counter_state state = {.value = (UINT64_C(1) << 36) - 1, .mode = 1};
    CHECK(dpu_machine_set_counter(machine, &state));
    LOAD(machine, W("nop", "", 0), W("time", "r", 0), STOP);
    run(machine, 1);
    CHECK(dpu_register(machine, 0, 0) == 0); /* 36 bits, then from 0 */
    dpu_machine_get_counter(machine, &state);
    CHECK(state.value == 32 && state.mode == 1);
    state.mode = 4;
    CHECK(!dpu_machine_set_counter(machine, &state));
    dpu_machine_destroy(machine);
}

/* `time_cfg; time x 32; nop x 20; time` reads 52 >> 4 in the vendor's accounting. */
static void test_the_vendor_counts_reads_of_the_counter(void)
{
    enum { RESET = 1, CYCLES = 2, OFF = 6 };
    uint64_t program[64] = {MOVE(8, RESET | CYCLES), W("time_cfg", "zr", 0, 8)};
    uint32_t length = 2;
    for (uint32_t i = 0; i < 32; i++)
        program[length++] = W("time", "r", 0);
    for (uint32_t i = 0; i < 20; i++)
        program[length++] = W("nop", "", 0);
    program[length++] = W("time", "r", 3);
    program[length++] = STOP;

    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_VENDOR, 0);
    struct dpu_run_result result;
    CHECK(dpu_machine_write_iram(machine, 0, program, length));
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(dpu_register(machine, 0, 3) == 3);
    dpu_machine_destroy(machine);

    /* A time_cfg that does not reset counts too, but not one that finds the counter off. */
    static const struct {
        uint32_t first, second, value;
    } cases[] = {{RESET | CYCLES, 0, 16}, {RESET | CYCLES, CYCLES, 16}, {RESET | OFF, CYCLES, 15}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dpu_counter_state counter;
        machine = dpu_new(DPU_ACCOUNTING_VENDOR, 0);
        LOAD(machine, MOVE(8, cases[i].first), MOVE(9, cases[i].second), W("time_cfg", "zr", 0, 8),
             W("time_cfg", "zr", 0, 9), MOVE(0, 6), W("add", "rrici", 0, 0, -1, CC_NZ, 5),
             W("nop", "", 0), W("nop", "", 0), W("nop", "", 0), W("nop", "", 0), W("nop", "", 0),
             W("nop", "", 0), W("nop", "", 0), STOP);
        CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
        dpu_machine_get_counter(machine, &counter);
        CHECK(counter.value == cases[i].value);
        dpu_machine_destroy(machine);
    }
}

static void test_cycle_limit_ends_a_loop(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.max_cycles = 1000;
    struct dpu_machine *machine = dpu_machine_create(&options);
    CHECK(machine != NULL);
    LOAD(machine, W("nop", "", 0), JUMP(0));
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_CYCLE_LIMIT);
    CHECK(result.status == DPU_RUN_CYCLE_LIMIT && result.cycles == 1001 && result.rounds == 91);
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_CYCLE_LIMIT && result.cycles == 1001);

    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 0, &state) && state.pc == 1 && state.running);

    /* A limit while the only tasklet waits for DMA. */
    LOAD(machine, W("ldma", "rri", 0, 0, 255), STOP);
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_CYCLE_LIMIT && result.cycles == 1000);
    options.max_cycles = 0;
    CHECK(dpu_machine_set_options(machine, &options));
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_DONE);
    CHECK(result.cycles == 73 + 1024 + PAGE_CROSSING + 11);
    dpu_machine_destroy(machine);
}

static void *interrupt(void *machine)
{
    dpu_machine_interrupt(machine);
    return NULL;
}

static void test_interruption_ends_a_loop(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("acquire", "rici", ZERO, 1, CC_NZ, 0), W("add", "rri", 0, 0, 1), JUMP(0));
    struct dpu_run_result result;
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, interrupt, machine) == 0);
        CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_INTERRUPTED);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    /* It goes on from there. */
    LOAD(machine, STOP, STOP, STOP);
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_DONE);
    CHECK(strcmp(dpu_run_status_name(DPU_RUN_INTERRUPTED), "interrupted") == 0);
    dpu_machine_destroy(machine);
}

int main(void)
{
    test_rounds_last_11_cycles_or_as_many_as_run();
    test_forwarding_shortens_rounds_in_which_nothing_is_needed();
    test_registers_of_one_bank_are_read_one_after_the_other();
    test_booted_tasklets_start_in_the_next_round();
    test_dma_blocks_for_its_time();
    test_pages_that_a_transfer_crosses_cost_time();
    test_transfers_wait_for_refreshes();
    test_others_run_during_dma();
    test_performance_counter();
    test_the_vendor_counts_reads_of_the_counter();
    test_cycle_limit_ends_a_loop();
    test_interruption_ends_a_loop();
    return 0;
}
