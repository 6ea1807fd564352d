/* SPDX-License-Identifier: BSD-3-Clause */
/* Running programs synchronously, and how that ends. */
#include "cases.h"

#include <dpu_config.h>
#include <dpu_runner.h>

CASE(programs_run_on_every_dpu)
{
    struct dpu_set_t set = allocate(70, "backend=simulator"), dpu, rank;
    bool done, fault;
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_NO_PROGRAM_LOADED);
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(done && !fault);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu)
    {
        CHECK_EQUAL(read_counter(dpu), 1);
    }
    dpu = first_dpu(set);
    CHECK_OK(dpu_launch(dpu, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 2);
    uint32_t number;
    DPU_RANK_FOREACH(set, rank, number)
    {
        if (number == 1)
            CHECK_OK(dpu_launch(rank, (dpu_launch_policy_t)2));
    }
    DPU_RANK_FOREACH(set, rank, number)
    {
        CHECK_EQUAL(read_counter(first_dpu(rank)), 2);
    }
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(done && !fault);
    CHECK_OK(dpu_status(set, NULL, NULL));
    CHECK_OK(dpu_free(set));
}

CASE(reports_count)
{
    struct dpu_set_t set = allocate(1, "backend=simulator"), dpu = first_dpu(set);
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_NEVER_LAUNCHED);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    struct dpusoft_report report = read_report(dpu);
    CHECK_EQUAL(report.status, DPUSOFT_DONE);
    CHECK_EQUAL(report.instructions, 11);
    CHECK_EQUAL(report.cycles, 11);
    CHECK_EQUAL(report.thread_instructions[0], 11);
    CHECK_EQUAL(report.nr_threads, 24);
    CHECK_TRUE(report.seconds > 21e-9 && report.seconds < 23e-9);
    CHECK_OK(dpu_free(set));

    /* The pipeline: 11 cycles from one instruction of a tasklet to the next. */
    set = allocate(1, NULL);
    dpu = first_dpu(set);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    report = read_report(dpu);
    CHECK_EQUAL(report.instructions, 11);
    CHECK_EQUAL(report.cycles, 121);
    /* A caller of an older version has a smaller structure. */
    struct dpusoft_report old = {.size = 40, .instructions = 77};
    CHECK_OK(dpusoft_get_report(dpu, &old));
    CHECK_EQUAL(old.cycles, 121);
    CHECK_EQUAL(old.instructions, 77);
    old.size = 0;
    CHECK_EQUAL(dpusoft_get_report(dpu, &old), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_get_report(dpu, NULL), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_get_report(set, &report), DPU_ERR_INVALID_DPU_SET);
    CHECK_OK(dpu_free(set));
}

static void check_fault(enum command command, uint32_t kind, const char *text)
{
    struct dpu_set_t set = allocate(2, NULL), dpu = first_dpu(set);
    char said[300];
    bool done, fault;
    load_command(set, COUNT);
    CHECK_OK(dpusoft_describe_fault(dpu, said, sizeof said));
    CHECK_TRUE(said[0] == 0);
    load_command(dpu, command);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_DETAIL(text);
    CHECK_OK(dpusoft_describe_fault(dpu, said, sizeof said));
    CHECK_TRUE(strstr(said, "DPU 0.0.0 (id 0x0): tasklet 0 at pc ") == said);
    CHECK_TRUE(strstr(said, "(main+0x") != NULL);
    CHECK_TRUE(strstr(said, text) != NULL);
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_FAULT);
    CHECK_EQUAL(read_report(dpu).fault, kind);
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(done && fault);
    /* It stays, and stops nobody else. */
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_status(dpu, NULL, &fault));
    CHECK_TRUE(fault);
    struct dpu_set_t other = dpu_set_from_dpu(dpu_get(set.list.ranks[0], 1, 0));
    CHECK_OK(dpu_status(other, NULL, &fault));
    CHECK_TRUE(!fault);
    CHECK_EQUAL(read_counter(other), 2);
    CHECK_OK(dpu_poll_rank(set.list.ranks[0]));
    CHECK_EQUAL(dpu_get_run_context(set.list.ranks[0])->dpu_in_fault[0], 1);
    CHECK_EQUAL(dpu_get_run_context(set.list.ranks[0])->dpu_in_fault[1], 0);
    load_command(dpu, COUNT);
    CHECK_OK(dpu_status(dpu, NULL, &fault));
    CHECK_TRUE(!fault);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    char little[8];
    CHECK_OK(dpusoft_describe_fault(dpu, little, sizeof little));
    CHECK_EQUAL(dpusoft_describe_fault(dpu, little, 0), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_describe_fault(dpu, NULL, 8), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_OK(dpu_free(set));
}

CASE(faults_tell_what_happened)
{
    check_fault(ASSERT, 1, "fault instruction with number 3 (in C programs: assert failed)");
    check_fault(BAD_LOAD, 3, "WRAM access at 0x20000 out of bounds");
    check_fault(BAD_TRANSFER, 2, "out of bounds");
}

CASE(a_reset_ends_a_fault_too)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    load_command(set, ASSERT);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_EQUAL(read_report(dpu).fault_pc, PC_OF_FAULT);
    CHECK_EQUAL(read_report(dpu).breakpoint, 3);
    CHECK_OK(dpu_reset_dpu(dpu.dpu));
    bool fault;
    CHECK_OK(dpu_status_dpu(dpu.dpu, NULL, &fault));
    CHECK_TRUE(!fault);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_OK(dpu_reset_rank(set.list.ranks[0]));
    CHECK_EQUAL(read_register(dpu, 5), 0);
    CHECK_OK(dpu_free(set));
}

CASE(cycles_can_be_limited)
{
    struct dpu_set_t set = allocate(2, "softMaxCycles=100000"), dpu = first_dpu(set);
    char text[300];
    load_command(set, SPIN);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_TIMEOUT);
    CHECK_DETAIL("softMaxCycles");
    CHECK_DETAIL("running: 0 at pc 0x14 (main+0x12)");
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_CYCLE_LIMIT);
    CHECK_TRUE(read_report(dpu).cycles >= 100000 && read_report(dpu).cycles < 100100);
    CHECK_OK(dpusoft_describe_fault(dpu, text, sizeof text));
    CHECK_TRUE(strstr(text, "100000 cycles") != NULL);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_TIMEOUT);
    CHECK_DETAIL("load one again");
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_OK(dpu_free(set));
}

CASE(tasklets_can_be_started_by_the_host)
{
    struct dpu_set_t set = allocate(1, NULL);
    struct dpu_t *dpu = first_dpu(set).dpu;
    bool running = true, fault = true;
    load_command(set, COUNT);
    CHECK_OK(dpu_launch_thread_on_dpu(dpu, 0, false));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_launch_thread_on_rank(set.list.ranks[0], 1, false));
    CHECK_OK(dpu_sync(set));
    struct dpusoft_thread state = {.size = sizeof state};
    CHECK_OK(dpusoft_debug_get_thread(first_dpu(set), 1, &state));
    CHECK_EQUAL(state.registers[1], 2);
    /* It goes on after its stop, at the next one. */
    CHECK_OK(dpu_launch_thread_on_dpu(dpu, 1, true));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpusoft_debug_get_thread(first_dpu(set), 1, &state));
    CHECK_EQUAL(state.registers[1], 2);
    CHECK_EQUAL(state.pc, 12);
    CHECK_EQUAL(dpu_launch_thread_on_dpu(dpu, 24, false), DPU_ERR_INVALID_THREAD_ID);
    CHECK_OK(dpu_boot_dpu(dpu));
    CHECK_OK(dpu_boot_rank(set.list.ranks[0]));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_poll_dpu(dpu, &running, &fault));
    CHECK_TRUE(!running && !fault);
    CHECK_EQUAL(read_counter(first_dpu(set)), 4);
    load_command(set, SPIN);
    CHECK_OK(dpu_boot_dpu(dpu));
    CHECK_EQUAL(dpu_launch_thread_on_dpu(dpu, 1, false), DPU_ERR_DPU_ALREADY_RUNNING);
    CHECK_OK(dpusoft_interrupt(set));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_free(set));
}
