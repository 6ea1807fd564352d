/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of each kind, and the switches for what is uncertain.
 *
 * build: @dpu_machine
 */
#include "tests/dpu/support/program.h"

/* Runs one instruction of tasklet 3 at pc 7, with r0 and r1 given; its result. */
static struct dpu_run_result try(uint32_t switches, uint64_t word, uint32_t r0, uint32_t r1,
                                 struct dpu_thread_state *after)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, switches);
    struct dpu_thread_state state = {.registers = {r0, r1}, .pc = 7, .running = 1};
    struct dpu_run_result result;
    for (uint32_t i = 2; i < 24; i++)
        state.registers[i] = 0x5A5A5A00 + i;
    LOAD_AT(machine, 7, word, STOP);
    CHECK(dpu_machine_set_thread(machine, 3, &state));
    dpu_machine_run(machine, &result);
    CHECK(dpu_machine_get_thread(machine, 3, after));
    dpu_machine_destroy(machine);
    return result;
}

static void check_fault(uint32_t switches, uint64_t word, uint32_t r0, uint32_t r1,
                        enum dpu_fault_kind kind)
{
    struct dpu_thread_state after;
    struct dpu_run_result result = try(switches, word, r0, r1, &after);
    CHECK(result.fault == (uint32_t)kind);
    if (kind == DPU_FAULT_NONE) {
        CHECK(result.status == DPU_RUN_DONE && after.pc == 9);
        return;
    }
    CHECK(result.status == DPU_RUN_FAULT && result.fault_thread == 3 && result.fault_pc == 7);
    CHECK(after.pc == 7 && result.thread_instructions[3] == 1 && result.instructions == 1);
}

/* Compares what is told of a transfer of BYTES that leaves a memory. */
static void check_transfer(uint64_t word, uint32_t r0, uint32_t r1, enum dpu_fault_detail detail,
                           uint32_t bytes)
{
    struct dpu_thread_state after;
    struct dpu_run_result result = try(0, word, r0, r1, &after);
    uint32_t address = detail == DPU_FAULT_DETAIL_BOUNDS ? r0 : r1;
    CHECK(result.fault == DPU_FAULT_DMA && result.fault_detail == (uint32_t)detail);
    CHECK(result.fault_bytes == bytes && result.fault_address == address);
}

static void test_loads_and_stores(void)
{
    static const struct {
        const char *mnemonic;
        uint32_t address;
        bool faults;
    } cases[] = {
        {"lbu", 65535, false},  {"lbu", 65536, true},      {"lhu", 65534, false},
        {"lhu", 65535, true},   {"lhu", 1, true},          {"lhs", 65536, true},
        {"lw", 65532, false},   {"lw", 65536, true},       {"lw", 2, true},
        {"lw", 0x10000, true},  {"lw", 0x01000000, false}, {"lw", 0xFFFFFFFC, true},
        {"lbs", 0xFFFF, false}, {"lbs", 0xFFFFFFFF, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_fault(0, W(cases[i].mnemonic, "erri", 0, 2, 0, 0), cases[i].address, 0,
                    cases[i].faults ? DPU_FAULT_MEMORY : DPU_FAULT_NONE);
    check_fault(0, W("ld", "erri", 0, 2, 0, 0), 65528, 0, DPU_FAULT_NONE);
    check_fault(0, W("ld", "erri", 0, 2, 0, 0), 4, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sd", "erir", 0, 0, 8, 2), 65528, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sw", "erir", 0, 0, -4, 2), 0, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sw", "erir", 0, 0, -4, 2), 4, 0, DPU_FAULT_NONE);
    check_fault(0, W("sw", "erii", 0, 0, 2, 5), 0, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sh", "erii", 1, 0, 1, 5), 0, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sb", "erir", 0, 0, 0, 2), 65536, 0, DPU_FAULT_MEMORY);
    check_fault(DPU_SWITCH_WRAM_32_BITS, W("lw", "erri", 0, 2, 0, 0), 0x01000000, 0,
                DPU_FAULT_MEMORY);
    /* Safe: {limit, address}. */
    check_fault(0, W("lw", "ersi", 0, 2, 0, 4), 100 << 16 | 88, 0, DPU_FAULT_NONE);
    check_fault(0, W("lw", "ersi", 0, 2, 0, 8), 100 << 16 | 88, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("lbu", "ersi", 0, 2, 0, 11), 100 << 16 | 88, 0, DPU_FAULT_NONE);
    check_fault(0, W("lbu", "ersi", 0, 2, 0, 12), 100 << 16 | 88, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("lbu", "ersi", 0, 2, 0, -89), 100 << 16 | 88, 0, DPU_FAULT_MEMORY);
}

/* A faulting access is done all the same, as the vendor's simulator does it; or not. */
static void test_faulting_access(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t switches = i == 0 ? 0 : DPU_SWITCH_FAULT_STOPS_ACCESS;
        struct dpu_thread_state after;
        struct dpu_run_result result = try(switches, W("lw", "erri", 0, 2, 0, 0), 6, 0, &after);
        CHECK(result.fault == DPU_FAULT_MEMORY && result.fault_address == 6);
        CHECK(after.registers[2] == (i == 0 ? 0 : 0x5A5A5A02));
    }
}

static void test_dma(void)
{
    uint64_t read = W("ldma", "rri", 0, 1, 1); /* 16 bytes */
    check_fault(0, read, 65520, 0, DPU_FAULT_NONE);
    check_fault(0, read, 65528, 0, DPU_FAULT_DMA);
    check_fault(0, read, 0, DPU_MACHINE_MRAM - 16, DPU_FAULT_NONE);
    check_fault(0, read, 0, DPU_MACHINE_MRAM - 8, DPU_FAULT_DMA);
    check_fault(0, read, 0, 0xFFFFFFF8, DPU_FAULT_DMA);
    check_fault(0, read, 0, 0x08000000, DPU_FAULT_DMA);
    check_fault(DPU_SWITCH_MRAM_26_BITS, read, 0, 0x08000000, DPU_FAULT_NONE);
    check_fault(0, read, 4, 4, DPU_FAULT_NONE);
    check_fault(DPU_SWITCH_DMA_ALIGNMENT_FAULTS, read, 8, 4, DPU_FAULT_DMA);
    check_fault(DPU_SWITCH_DMA_ALIGNMENT_FAULTS, read, 4, 8, DPU_FAULT_DMA);
    check_fault(0, W("sdma", "rri", 0, 1, 255), 65536 - 2040, 0, DPU_FAULT_DMA);
    check_fault(0, W("ldmai", "rri", 0, 1, 0), 32768, 0, DPU_FAULT_DMA);
    check_transfer(read, 65528, 0, DPU_FAULT_DETAIL_BOUNDS, 16);
    check_transfer(read, 65528, DPU_MACHINE_MRAM, DPU_FAULT_DETAIL_BOUNDS, 16);
    check_transfer(read, 0, DPU_MACHINE_MRAM - 8, DPU_FAULT_DETAIL_MRAM_BOUNDS, 16);
    check_transfer(W("sdma", "rri", 0, 1, 255), 0, DPU_MACHINE_MRAM, DPU_FAULT_DETAIL_MRAM_BOUNDS,
                   2048);
}

static void test_other_faults(void)
{
    struct dpu_thread_state after;
    struct dpu_run_result result = try(0, W("fault", "i", 0x123456), 0, 0, &after);
    CHECK(result.fault == DPU_FAULT_BREAKPOINT && result.breakpoint == 0x123456);
    check_fault(0, W("fault", "i", 0), 0, 0, DPU_FAULT_BREAKPOINT);
    check_fault(0, W("add", "ssi", 2, 0, 16), 0x1234FFE0, 0, DPU_FAULT_NONE);
    check_fault(0, W("add", "ssi", 2, 0, 32), 0x1234FFE0, 0, DPU_FAULT_MEMORY);
    check_fault(0, W("sub", "sss", 2, 0, 1), 0x12340004, 5, DPU_FAULT_MEMORY);
    check_fault(0, 0, 0, 0, DPU_FAULT_NONE);
    check_fault(DPU_SWITCH_UNDECODABLE_FAULTS, 0, 0, 0, DPU_FAULT_UNDECODABLE);
}

static void test_names_of_faults_and_ends(void)
{
    static const char *const faults[] = {
        [DPU_FAULT_NONE] = "none",
        [DPU_FAULT_BREAKPOINT] = "breakpoint",
        [DPU_FAULT_DMA] = "dma",
        [DPU_FAULT_MEMORY] = "memory",
        [DPU_FAULT_UNDECODABLE] = "undecodable instruction",
    };
    static const char *const ends[] = {
        [DPU_RUN_DONE] = "done",
        [DPU_RUN_FAULT] = "fault",
        [DPU_RUN_INTERRUPTED] = "interrupted",
        [DPU_RUN_CYCLE_LIMIT] = "cycle limit",
        [DPU_RUN_STEPPED] = "stepped",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        CHECK(faults[i] == NULL || strcmp(dpu_fault_name((enum dpu_fault_kind)i), faults[i]) == 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        CHECK(ends[i] == NULL || strcmp(dpu_run_status_name((enum dpu_run_status)i), ends[i]) == 0);
}

/* Tasklets 0 and 1 have issued in the round of the fault of 1, tasklet 2 has not. */
static void test_fault_among_tasklets(void)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(machine, W("nop", "", 0), JUMP_IF(ID, 1, CC_Z, 3), JUMP(0), W("fault", "i", 9));
    struct dpu_run_result result;
    dpu_machine_set_run_bits(machine, 7);
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_FAULT);
    CHECK(result.fault_thread == 1 && result.fault_pc == 3 && result.breakpoint == 9);
    CHECK(result.rounds == 2 && result.instructions == 8 && result.cycles == 2 * 11 + 2);
    struct dpu_thread_state state;
    CHECK(dpu_machine_get_thread(machine, 0, &state) && state.pc == 0 && state.running);
    CHECK(dpu_machine_get_thread(machine, 2, &state) && state.pc == 2 && state.running);

    /* It stays, and nothing runs, until it is cleared; then only tasklet 0 is started. */
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_FAULT && result.breakpoint == 9);
    CHECK(result.instructions == 0);
    dpu_machine_clear_fault(machine);
    LOAD(machine, MOVE(5, 1), STOP);
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE && result.instructions == 2);
    CHECK(dpu_machine_set_fault(machine, DPU_FAULT_MEMORY, 2, 0));
    CHECK(dpu_machine_run(machine, &result) == DPU_RUN_FAULT && result.fault_thread == 2);
    CHECK(!dpu_machine_set_fault(machine, DPU_FAULT_MEMORY, 24, 0));
    dpu_machine_destroy(machine);
}

static uint32_t result_of(uint32_t switches, uint64_t word, uint32_t r0, uint32_t r1, uint32_t r)
{
    struct dpu_thread_state after;
    CHECK(try(switches, word, r0, r1, &after).status == DPU_RUN_DONE);
    return after.registers[r];
}

/* Returns true if the jump of mul_ul_ul on `small` is taken. */
static bool is_small(uint32_t switches, uint32_t a, uint32_t b)
{
    struct dpu_machine *machine = dpu_new(DPU_ACCOUNTING_PIPELINE, switches);
    LOAD(machine, MOVE(0, a), MOVE(1, b), W("mul_ul_ul", "rrrci", 2, 0, 1, 30, 4), STOP, MOVE(3, 1),
         STOP);
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    bool jumped = dpu_register(machine, 0, 3) == 1;
    dpu_machine_destroy(machine);
    return jumped;
}

/* With the switch a tasklet whose run bit is cleared runs on. */
static void test_switch_of_clr_run(void)
{
    struct dpu_machine *machine =
        dpu_new(DPU_ACCOUNTING_PIPELINE, DPU_SWITCH_CLR_RUN_KEEPS_RUNNING);
    LOAD(machine, W("clr_run", "rici", ZERO, 0, CC_NZ, 2), STOP, MOVE(0, 5), STOP);
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(machine, &result) == DPU_RUN_DONE);
    CHECK(dpu_register(machine, 0, 0) == 5);
    dpu_machine_destroy(machine);
}

static void test_switches_of_results(void)
{
    /* 256 * 0: the product is small, an operand is not; 255 * 255: the other way round. */
    CHECK(!is_small(0, 256, 0) && is_small(DPU_SWITCH_SMALL_IS_PRODUCT, 256, 0));
    CHECK(is_small(0, 255, 255) && !is_small(DPU_SWITCH_SMALL_IS_PRODUCT, 255, 255));
    uint64_t cls = W("cls", "rr", 2, 0);
    CHECK(result_of(0, cls, 0xFF000000, 0, 2) == 7);
    CHECK(result_of(0, cls, 0, 0, 2) == 31);
    CHECK(result_of(DPU_SWITCH_CLS_COUNTS_SIGN, cls, 0xFF000000, 0, 2) == 8);
    CHECK(result_of(DPU_SWITCH_CLS_COUNTS_SIGN, cls, 0, 0, 2) == 32);
    /* The pair {2, 5} to d2: the lowest bit is clear, so r3 is not computed. */
    uint64_t step = W("mul_step", "rrrici", 2, ONE, 0, 0, CC_FALSE, 0);
    CHECK(result_of(0, step, 2, 5, 2) == 1 && result_of(0, step, 2, 5, 3) == 0x5A5A5A03);
    CHECK(result_of(DPU_SWITCH_STEP_COPIES_PAIR, step, 2, 5, 3) == 5);
}

int main(void)
{
    test_loads_and_stores();
    test_faulting_access();
    test_dma();
    test_other_faults();
    test_names_of_faults_and_ends();
    test_fault_among_tasklets();
    test_switch_of_clr_run();
    test_switches_of_results();
    return 0;
}
