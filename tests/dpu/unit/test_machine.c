/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs on the machine: state, tasklets, locks, memories, instruction memory that changes.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"

static void launch(struct dpu_machine *machine)
{
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(result.status == DPU_RUN_DONE && result.fault == DPU_FAULT_NONE);
}

/* A sum by shift-and-add, with a jump that counts. */
static void test_loop(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(0, 1000), MOVE(1, 0), W("lsl_add", "rrri", 1, 1, 0, 1), /* 2: r1 += 2 r0 */
         W("add", "rrici", 0, 0, -1, CC_NZ, 2), STOP);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 0);
    CHECK(dpu_register(machine, 0, 1) == 1001000);
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 0, &state));
    CHECK(state.pc == 5 && state.zero == 1 && state.carry == 1 && state.running == 0);
    dpu_machine_destroy(machine);
}

static uint32_t multiply(struct dpu_machine *machine, uint32_t a, uint32_t b)
{
    uint64_t program[36] = {MOVE(2, a), MOVE(0, b), MOVE(1, 0)};
    for (int64_t i = 0; i < 32; i++)
        program[3 + i] = W("mul_step", "rrrici", 0, 2, 0, i, CC_Z, 35);
    program[35] = STOP;
    CHECK(dpu_machine_write_iram(machine, 0, program, 36));
    launch(machine);
    return dpu_register(machine, 0, 1);
}

static void test_multiply_and_divide_ladders(uint64_t *state)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    for (int i = 0; i < 30; i++) {
        uint32_t a = (uint32_t)check_random(state);
        uint32_t b = (uint32_t)check_random(state) >> check_random_below(state, 32);
        CHECK(multiply(machine, a, b) == a * b);

        uint64_t program[36] = {MOVE(2, b | 1), MOVE(0, 0), MOVE(1, a)};
        for (int64_t j = 0; j < 32; j++)
            program[3 + j] = W("div_step", "rrrici", 0, 2, 0, 31 - j, CC_FALSE, 0);
        program[35] = STOP;
        /* Quotient bits are right only from where the divisor fits: start there, as code does. */
        uint32_t skip = (uint32_t)__builtin_clz(b | 1);
        program[2] = MOVE(1, a);
        for (uint32_t j = 0; j < 31 - skip; j++)
            program[3 + j] = W("nop", "", 0);
        CHECK(dpu_machine_write_iram(machine, 0, program, 36));
        launch(machine);
        CHECK(dpu_register(machine, 0, 0) == a / (b | 1));
        CHECK(dpu_register(machine, 0, 1) == a % (b | 1));
    }
    dpu_machine_destroy(machine);
}

/* 64-bit arithmetic by carry, and its comparison by the conditions that look at both halves. */
static void test_pairs(uint64_t *state)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("ld", "erri", 0, 0, ZERO, 0), W("ld", "erri", 0, 2, ZERO, 8),
         W("add", "rrr", 5, 1, 3), W("addc", "rrr", 4, 0, 2), W("sd", "erir", 0, ZERO, 16, 4),
         W("sub", "zrr", 0, 1, 3), W("subc", "zrrci", 0, 0, 2, 28, 8), /* xles */
         STOP, MOVE(10, 1), STOP);
    for (int i = 0; i < 100; i++) {
        int64_t a = (int64_t)check_random(state) >> check_random_below(state, 64);
        int64_t b = i % 10 == 0 ? a : (int64_t)check_random(state) >> check_random_below(state, 64);
        int64_t values[3] = {a, b, 0};
        struct dpu_thread_state thread = {0};
        CHECK(dpu_machine_set_thread(machine, 0, &thread));
        CHECK(dpu_machine_write_wram(machine, 0, values, sizeof(values)));
        launch(machine);
        CHECK(dpu_machine_read_wram(machine, 0, values, sizeof(values)));
        CHECK((uint64_t)values[2] == (uint64_t)a + (uint64_t)b);
        CHECK(dpu_register(machine, 0, 10) == (a <= b));
    }
    dpu_machine_destroy(machine);
}

static void test_24_tasklets_count_under_a_lock(void)
{
    struct dpu_machine *machine = dpu_new_in_turns(DPU_ACCOUNTING_PIPELINE);
    LOAD(machine, BOOT_CHAIN(24, 0), MOVE(0, 50),
         /* 3: */ W("acquire", "rici", ZERO, 200, CC_NZ, 3), W("lw", "erri", 0, 1, ZERO, 64),
         W("add", "rri", 1, 1, 1), W("nop", "", 0), W("sw", "erir", 0, ZERO, 64, 1),
         W("release", "rici", ZERO, 200, 0, 9),
         /* 9: */ W("add", "rrici", 0, 0, -1, CC_NZ, 3), STOP);
    launch(machine);
    CHECK(dpu_wram_word(machine, 64) == 24 * 50);
    bool held;
    CHECK(dpu_machine_get_atomic(machine, 200, &held) && !held);
    CHECK(!dpu_machine_get_atomic(machine, 256, &held) && !dpu_machine_set_atomic(machine, 256, 1));

    /* Without the lock the sums get lost, always in the same way. */
    LOAD_AT(machine, 3, W("nop", "", 0));
    LOAD_AT(machine, 8, W("nop", "", 0));
    uint32_t zero = 0, first = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(dpu_machine_write_wram(machine, 64, &zero, 4));
        launch(machine);
        CHECK(dpu_wram_word(machine, 64) < 24 * 50);
        CHECK(i == 0 || dpu_wram_word(machine, 64) == first);
        first = dpu_wram_word(machine, 64);
    }
    dpu_machine_destroy(machine);
}

static void test_constants(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    uint64_t program[11] = {BOOT_CHAIN(24, 0)};
    for (int64_t i = 0; i < 8; i++)
        program[2 + i] = W("or", "rri", i, ZERO + i, 0);
    program[10] = STOP;
    CHECK(dpu_machine_write_iram(machine, 0, program, 11));
    launch(machine);
    for (uint32_t id = 0; id < 24; id++) {
        const uint32_t expected[8] = {0, 1, UINT32_MAX, 0x80000000, id, 2 * id, 4 * id, 8 * id};
        for (uint32_t i = 0; i < 8; i++)
            CHECK(dpu_register(machine, id, i) == expected[i]);
    }
    dpu_machine_destroy(machine);
}

/* Tasklet 1 stops, is resumed behind its stop, and booted again, which starts at 0. */
static void test_boot_stop_and_resume(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, JUMP_IF(ID, 0, CC_NZ, 20), BOOT(ONE, 0), /* 2: until it has stopped: */
         W("read_run", "rici", ONE, 0, CC_NZ, 2), W("lw", "erri", 0, 0, ZERO, 0),
         W("resume", "rici", ONE, 0, CC_NZ, 4), W("read_run", "rici", ONE, 0, CC_NZ, 5),
         W("lw", "erri", 0, 1, ZERO, 0), BOOT(ONE, 0),           /* 8: */
         W("boot", "rici", ONE, 0, CC_NZ, 11), MOVE(3, 1), STOP, /* 11: it was running: */
         MOVE(3, 2), STOP);
    LOAD_AT(machine, 20, W("add", "rri", 5, 5, 1), W("sw", "erir", 0, ZERO, 0, 5),
            W("stop", "ci", CC_FALSE, 0), W("add", "rri", 5, 5, 100),
            W("sw", "erir", 0, ZERO, 0, 5), STOP);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 1);
    CHECK(dpu_register(machine, 0, 1) == 101);
    CHECK(dpu_register(machine, 0, 3) == 2);
    CHECK(dpu_register(machine, 1, 5) == 102); /* registers are kept by a boot */
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 1, &state) && state.pc == 23);
    dpu_machine_destroy(machine);
}

static void test_notification_bits_stay(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("resume", "rici", ZERO, 40, CC_Z, 2), STOP, MOVE(0, 7), STOP);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 7);
    CHECK(dpu_machine_get_run_bits(machine) == UINT64_C(1) << 40);
    LOAD(machine, W("read_run", "rici", ZERO, 40, CC_NZ, 2), STOP,
         W("clr_run", "rici", ZERO, 40, CC_NZ, 4), STOP, MOVE(0, 8), STOP);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 8);
    CHECK(dpu_machine_get_run_bits(machine) == 0);
    dpu_machine_destroy(machine);
}

static void test_clr_run_stops_a_tasklet(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, JUMP_IF(ID, 0, CC_NZ, 6), BOOT(ONE, 0), W("nop", "", 0),
         W("clr_run", "rici", ONE, 0, CC_Z, 0), STOP, STOP, JUMP(6));
    launch(machine);
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 1, &state) && state.pc == 6 && !state.running);
    dpu_machine_destroy(machine);
}

static void test_state_is_kept_between_launches(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("add", "rri", 0, 0, 5), W("acquire", "rici", ZERO, 9, CC_NZ, 3), STOP,
         MOVE(1, 99), STOP);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 5 && dpu_register(machine, 0, 1) == 0);
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 10 && dpu_register(machine, 0, 1) == 99);
    dpu_machine_destroy(machine);
}

static void test_dma_moves_data(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    uint8_t data[2048], back[2048];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    CHECK(dpu_machine_write_mram(machine, 4096, data, sizeof(data)));
    /* 2048 bytes there, 24 of them back: the length in the top byte of ra adds to the operand. */
    LOAD(machine, MOVE(0, 1024), MOVE(1, 4096), W("ldma", "rri", 0, 1, 255),
         MOVE(0, 0x03000000 + 1024 + 64), MOVE(1, DPU_MACHINE_MRAM - 24),
         W("sdma", "rri", 0, 1, 255), STOP);
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(result.dma_read_bytes == 2048 && result.dma_write_bytes == 24);
    CHECK(dpu_machine_read_wram(machine, 1024, back, sizeof(back)));
    CHECK(memcmp(back, data, sizeof(data)) == 0);
    CHECK(dpu_machine_read_mram(machine, DPU_MACHINE_MRAM - 24, back, 24));
    CHECK(memcmp(back, data + 64, 24) == 0);
    dpu_machine_destroy(machine);
}

static void test_code_that_is_written_is_executed(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, MOVE(0, 1), STOP);
    launch(machine);
    LOAD(machine, MOVE(0, 2));
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 2);

    /* The program loads the instruction behind its ldmai, which has been executed before. */
    uint64_t word = MOVE(3, 77);
    CHECK(dpu_machine_write_mram(machine, 0, &word, sizeof(word)));
    LOAD(machine, JUMP(3), W("ldmai", "rri", 5, 6, 0), MOVE(5, 8 * 3), /* 3: */ MOVE(3, 66),
         W("add", "rrici", 4, 4, 1, CC_NZ, 5), /* 5: */ JUMP_IF(4, 2, CC_Z, 9), MOVE(5, 8 * 3),
         JUMP(1), STOP, STOP);
    struct dpu_thread_state zero = {0};
    CHECK(dpu_machine_set_thread(machine, 0, &zero));
    launch(machine);
    CHECK(dpu_register(machine, 0, 3) == 77);
    CHECK(dpu_machine_read_iram(machine, 3, &word, 1) && word == MOVE(3, 77));
    dpu_machine_destroy(machine);
}

static void test_execution_goes_on_at_the_first_word(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("add", "rrici", 0, 0, 1, CC_NZ, 1), JUMP_IF(0, 3, CC_Z, 4), JUMP(4095));
    LOAD_AT(machine, 4, STOP);
    LOAD_AT(machine, 4095, W("call", "rri", 23, ZERO, 4096 * 3));
    launch(machine);
    CHECK(dpu_register(machine, 0, 23) == 4096);
    LOAD_AT(machine, 4095, W("nop", "", 0));
    LOAD(machine, W("add", "rrici", 0, 0, 1, CC_NZ, 1), JUMP_IF(0, 6, CC_Z, 4));
    launch(machine);
    CHECK(dpu_register(machine, 0, 0) == 6);
    dpu_machine_destroy(machine);
}

static void test_bounds_of_memories(void)
{
    struct dpu_machine_options options;
    dpu_machine_default_options(&options);
    options.architecture = DPU_ARCHITECTURE_V1B;
    struct dpu_machine *small = dpu_machine_create(&options);
    struct dpu_machine *large = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    CHECK(small != NULL);
    uint64_t words[2] = {0, UINT64_MAX};
    CHECK(dpu_machine_thread_count(small) == 16 && dpu_machine_thread_count(large) == 24);
    CHECK(dpu_machine_wram_size(small) == 63488 && dpu_machine_iram_size(small) == 3968);
    CHECK(dpu_machine_write_wram(small, 63480, words, 8));
    CHECK(!dpu_machine_write_wram(small, 63481, words, 8));
    CHECK(!dpu_machine_write_iram(small, 3967, words, 2));
    CHECK(dpu_machine_write_iram(large, 4094, words, 2));
    CHECK(dpu_machine_read_iram(large, 4095, words, 1) && words[0] == DPU_WORD_MASK);
    CHECK(!dpu_machine_read_iram(large, 4095, words, 2));
    CHECK(dpu_machine_write_wram(large, 65536, words, 0));
    CHECK(!dpu_machine_read_wram(large, 65537, words, 0));
    CHECK(!dpu_machine_read_wram(large, 0, words, SIZE_MAX));
    CHECK(!dpu_machine_write_mram(large, DPU_MACHINE_MRAM - 7, words, 8));
    CHECK(dpu_machine_read_mram(large, DPU_MACHINE_MRAM - 8, words, 8) && words[0] == 0);
    struct dpu_thread_state state = {0};
    CHECK(!dpu_machine_get_thread(small, 16, &state) && dpu_machine_get_thread(large, 23, &state));
    state.pc = DPU_MACHINE_IRAM;
    CHECK(!dpu_machine_set_thread(large, 0, &state));
    options.size = 1;
    CHECK(dpu_machine_create(&options) == NULL);
    dpu_machine_destroy(small);
    dpu_machine_destroy(large);
    dpu_machine_destroy(NULL);
}

/* One round at a time gives what one run gives. */
static void test_steps(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, BOOT_CHAIN(3, 0), W("add", "rri", 0, 0, 1), STOP);
    struct dpu_run_result result;
    dpu_machine_boot(machine);
    CHECK(dpu_machine_step(machine, 3, &result) == DPU_RUN_STEPPED);
    CHECK(result.rounds == 3 && result.instructions == 4); /* 1, 1, then two tasklets */
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 1, &state) && state.pc == 1 && state.running);
    CHECK(dpu_machine_step_thread(machine, 1, &result) == DPU_RUN_STEPPED);
    CHECK(dpu_machine_get_thread(machine, 1, &state) && state.pc == 2);
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_DONE);
    for (uint32_t id = 0; id < 3; id++)
        CHECK(dpu_register(machine, id, 0) == 1);
    CHECK(dpu_machine_step(machine, 1, &result) == DPU_RUN_DONE);
    dpu_machine_destroy(machine);
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL);
    CHECK(fscanf(file, "%*u %llu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

static void test_idle_machines_take_little_memory(void)
{
    struct dpu_machine *machines[64];
    uint64_t before = resident_bytes();
    for (int i = 0; i < 64; i++) {
        machines[i] = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
        LOAD(machines[i], MOVE(0, 5), STOP);
        launch(machines[i]);
    }
    CHECK(resident_bytes() - before < 10000000);
    for (int i = 0; i < 64; i++)
        dpu_machine_destroy(machines[i]);
}

/* From within pages, over whole ones, and none at all. */
static void test_clearing_mram(void)
{
    enum { SIZE = 5 * 4096 };
    static const uint32_t ranges[][2] = {{0, SIZE}, {4096, 4096}, {4090, 4102},
                                         {8, 16},   {100, 12000}, {8192, 0},
                                         {0, 4096}, {4095, 2},    {8191, 8194}};
    static uint8_t full[SIZE], expected[SIZE], seen[SIZE];
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    memset(full, 0x5A, SIZE);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        CHECK(dpu_machine_write_mram(machine, 0, full, SIZE));
        CHECK(dpu_machine_clear_mram(machine, ranges[i][0], ranges[i][1]));
        memcpy(expected, full, SIZE);
        memset(expected + ranges[i][0], 0, ranges[i][1]);
        CHECK(dpu_machine_read_mram(machine, 0, seen, SIZE));
        CHECK(memcmp(seen, expected, SIZE) == 0);
    }
    CHECK(dpu_machine_clear_mram(machine, DPU_MACHINE_MRAM, 0));
    CHECK(!dpu_machine_clear_mram(machine, DPU_MACHINE_MRAM - 8, 9));
    CHECK(!dpu_machine_clear_mram(machine, 8, SIZE_MAX));
    dpu_machine_destroy(machine);
}

int main(void)
{
    uint64_t state = check_seed(21);
    test_loop();
    test_multiply_and_divide_ladders(&state);
    test_pairs(&state);
    test_24_tasklets_count_under_a_lock();
    test_constants();
    test_boot_stop_and_resume();
    test_notification_bits_stay();
    test_clr_run_stops_a_tasklet();
    test_state_is_kept_between_launches();
    test_dma_moves_data();
    test_code_that_is_written_is_executed();
    test_execution_goes_on_at_the_first_word();
    test_bounds_of_memories();
    test_steps();
    test_idle_machines_take_little_memory();
    test_clearing_mram();
    return 0;
}
