/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps, breakpoints and registers. */
#include "cases.h"

#define EVERY_THREAD UINT32_MAX

CASE(a_program_can_be_stepped)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpusoft_report report = {.size = sizeof report};
    struct dpusoft_thread state = {.size = sizeof state};
    CHECK_EQUAL(dpusoft_debug_boot(dpu), DPU_ERR_NO_PROGRAM_LOADED);
    load_command(set, COUNT);
    CHECK_OK(dpusoft_debug_boot(dpu));
    CHECK_OK(dpusoft_debug_get_thread(dpu, 0, &state));
    CHECK_TRUE(state.pc == 0 && state.running);
    CHECK_OK(dpusoft_debug_step(dpu, 0, 1, &report));
    CHECK_EQUAL(report.status, DPUSOFT_STEPPED);
    CHECK_EQUAL(report.instructions, 1);
    CHECK_OK(dpusoft_debug_step(dpu, EVERY_THREAD, 7, &report));
    CHECK_EQUAL(report.instructions, 8);
    CHECK_OK(dpusoft_debug_get_thread(dpu, 0, &state));
    CHECK_EQUAL(state.pc, 8);
    /* Half a launch cannot be launched. */
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_TIMEOUT);
    state.registers[1] = 41;
    CHECK_OK(dpusoft_debug_set_thread(dpu, 0, &state));
    CHECK_OK(dpusoft_debug_step(dpu, 0, 100, &report));
    CHECK_EQUAL(report.status, DPUSOFT_DONE);
    CHECK_EQUAL(report.instructions, 11);
    CHECK_EQUAL(read_counter(dpu), 42);
    CHECK_EQUAL(dpusoft_debug_step(dpu, 0, 1, &report), DPU_ERR_INVALID_THREAD_ID);
    CHECK_OK(dpusoft_debug_step(dpu, EVERY_THREAD, 1, NULL));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 43);
    CHECK_OK(dpu_free(set));
}

CASE(breakpoints_stop_what_goes_on)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpusoft_report report = {.size = sizeof report};
    struct dpusoft_thread state = {.size = sizeof state};
    load_loop(set, 3);
    CHECK_OK(dpusoft_debug_set_breakpoint(dpu, 22, true));
    CHECK_OK(dpusoft_debug_boot(dpu));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(dpusoft_debug_continue(dpu, 0, &report));
        CHECK_EQUAL(report.status, DPUSOFT_BREAKPOINT);
        CHECK_OK(dpusoft_debug_get_thread(dpu, 0, &state));
        CHECK_EQUAL(state.pc, 22);
        CHECK_EQUAL(state.registers[1], 3 - i);
    }
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_BREAKPOINT);
    CHECK_OK(dpusoft_debug_continue(dpu, 1, &report));
    CHECK_EQUAL(report.status, DPUSOFT_STEPPED);
    CHECK_OK(dpusoft_debug_continue(dpu, 0, NULL));
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_DONE);
    CHECK_EQUAL(read_counter(dpu), 1);
    /* They are not for launches; and a removed one is none. */
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_OK(dpusoft_debug_set_breakpoint(dpu, 22, false));
    CHECK_OK(dpusoft_debug_set_breakpoint(dpu, 22, false));
    CHECK_OK(dpusoft_debug_boot(dpu));
    CHECK_OK(dpusoft_debug_continue(dpu, 0, &report));
    CHECK_EQUAL(report.status, DPUSOFT_DONE);
    CHECK_EQUAL(read_counter(dpu), 3);
    CHECK_EQUAL(dpusoft_debug_set_breakpoint(dpu, 4096, true), DPU_ERR_INVALID_IRAM_ACCESS);
    CHECK_OK(dpu_free(set));
}

CASE(a_fault_ends_stepping)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpusoft_report report = {.size = sizeof report};
    bool fault;
    load_command(set, ASSERT);
    CHECK_OK(dpusoft_debug_boot(dpu));
    CHECK_OK(dpusoft_debug_continue(dpu, 0, &report));
    CHECK_EQUAL(report.status, DPUSOFT_FAULT);
    CHECK_EQUAL(report.fault_pc, PC_OF_FAULT);
    CHECK_OK(dpu_status(dpu, NULL, &fault));
    CHECK_TRUE(fault);
    CHECK_EQUAL(dpusoft_debug_boot(dpu), DPU_ERR_DPU_FAULT);
    load_command(set, ASSERT);
    CHECK_OK(dpusoft_debug_boot(dpu));
    CHECK_OK(dpu_free(set));
}

CASE(debugging_takes_one_dpu_and_sizes)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpusoft_report report = {.size = 1};
    struct dpusoft_thread state = {.size = 1};
    load_command(set, COUNT);
    CHECK_EQUAL(dpusoft_debug_boot(set), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpusoft_debug_step(dpu, 0, 1, &report), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_debug_continue(dpu, 0, &report), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_debug_get_thread(dpu, 0, &state), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_debug_set_thread(dpu, 0, NULL), DPU_ERR_INVALID_BUFFER_SIZE);
    state.size = sizeof state;
    CHECK_EQUAL(dpusoft_debug_get_thread(dpu, 24, &state), DPU_ERR_INVALID_THREAD_ID);
    CHECK_OK(dpusoft_debug_get_thread(dpu, 23, &state));
    state.pc = 4096;
    CHECK_EQUAL(dpusoft_debug_set_thread(dpu, 23, &state), DPU_ERR_INVALID_THREAD_ID);
    CHECK_EQUAL(dpusoft_debug_step(dpu, 30, 1, NULL), DPU_ERR_INVALID_THREAD_ID);
    CHECK_EQUAL(dpusoft_version(), DPUSOFT_VERSION);
    CHECK_OK(dpu_free(set));
}
