/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps, breakpoints and registers. */
#include "cases.h"

#include <dpu_checkpoint.h>
#include <dpu_debug.h>
#include <dpu_fifo.h>
#include <dpu_memory.h>
#include <dpu_transfer_matrix.h>

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

CASE(contexts_that_are_null_are_refused)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpu_rank_t *rank = dpu_get_rank(dpu.dpu);
    struct dpu_context_t context, *attached = &context;
    uint8_t *bytes = NULL, *some = (uint8_t *)&context;
    uint32_t size = 0;
    load_command(set, COUNT);
    CHECK_EQUAL(dpu_context_fill_from_rank(NULL, rank), DPU_ERR_INTERNAL);
    CHECK_DETAIL("context must not be NULL");
    CHECK_EQUAL(dpu_context_fill_from_rank(&context, NULL), DPU_ERR_INVALID_DPU_SET);
    CHECK_EQUAL(dpu_pop_debug_context(dpu.dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_DETAIL("must not be NULL");
    CHECK_EQUAL(dpu_pop_debug_context(NULL, &attached), DPU_ERR_INVALID_DPU_SET);
    CHECK_TRUE(attached == NULL);
    CHECK_EQUAL(dpu_extract_pcs_for_dpu(dpu.dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_extract_context_for_dpu(dpu.dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_restore_context_for_dpu(dpu.dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_initialize_fault_process_for_dpu(dpu.dpu, NULL, 0), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_execute_thread_step_in_fault_for_dpu(dpu.dpu, 0, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_finalize_fault_process_for_dpu(dpu.dpu, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_create_core_dump(rank, NULL, "core", NULL, NULL, NULL, NULL, 0, 0, 0),
                DPU_ERR_INTERNAL);
    dpu_free_dpu_context(NULL);

    CHECK_EQUAL(dpu_checkpoint_save(dpu, DPU_CHECKPOINT_ALL, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_checkpoint_restore(dpu, DPU_CHECKPOINT_ALL, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_checkpoint_get_serialized_context_size(NULL), 0);
    CHECK_EQUAL(dpu_checkpoint_serialize(NULL, &bytes, &size), DPU_ERR_INTERNAL);
    CHECK_OK(dpu_checkpoint_save(dpu, DPU_CHECKPOINT_INTERNAL, &context));
    CHECK_EQUAL(dpu_checkpoint_serialize(&context, NULL, &size), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_checkpoint_serialize(&context, &bytes, NULL), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_checkpoint_serialize(&context, &some, NULL), DPU_ERR_INTERNAL);
    CHECK_DETAIL("must not be NULL");
    CHECK_TRUE(bytes == NULL && size == 0);
    CHECK_OK(dpu_checkpoint_serialize(&context, &bytes, &size));
    CHECK_EQUAL(dpu_checkpoint_deserialize(bytes, size, NULL), DPU_ERR_INTERNAL);
    free(bytes);
    CHECK_OK(dpu_checkpoint_free(&context));
    CHECK_OK(dpu_checkpoint_free(NULL));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(dpu), 1);
    CHECK_OK(dpu_free(set));
}

CASE(links_matrices_and_buffers_may_be_null)
{
    struct dpu_set_t set = allocate(1, NULL), dpu = first_dpu(set);
    struct dpu_rank_t *rank = dpu_get_rank(dpu.dpu);
    struct dpu_transfer_matrix matrix = {.offset = 1};
    struct dpu_fifo_link_t link;
    char name[] = "counter";
    uint64_t word = 0;
    load_command(set, COUNT);
    CHECK_EQUAL(dpu_link_input_fifo(set, NULL, name), DPU_ERR_INTERNAL);
    CHECK_EQUAL(dpu_link_output_fifo(set, NULL, name), DPU_ERR_INTERNAL);
    CHECK_DETAIL("must not be NULL");
    CHECK_EQUAL(dpu_link_input_fifo(set, &link, NULL), DPU_ERR_UNKNOWN_SYMBOL);
    CHECK_OK(dpu_fifo_link_free(&link));
    CHECK_OK(dpu_fifo_link_free(NULL));

    dpu_transfer_matrix_add_dpu(dpu.dpu, &matrix, &word);
    dpu_transfer_matrix_add_dpu(NULL, &matrix, NULL);
    dpu_transfer_matrix_add_dpu(dpu.dpu, NULL, &word);
    dpu_transfer_matrix_set_all(NULL, &matrix, NULL);
    dpu_transfer_matrix_set_all(rank, NULL, &word);
    dpu_transfer_matrix_clear_dpu(NULL, &matrix);
    dpu_transfer_matrix_clear_dpu(dpu.dpu, NULL);
    dpu_transfer_matrix_clear_all(rank, NULL);
    dpu_transfer_matrix_copy(NULL, &matrix);
    dpu_transfer_matrix_copy(&matrix, NULL);
    CHECK_TRUE(dpu_transfer_matrix_get_ptr(dpu.dpu, &matrix) == &word && matrix.offset == 1);
    CHECK_TRUE(dpu_transfer_matrix_get_ptr(NULL, &matrix) == NULL);
    CHECK_TRUE(dpu_transfer_matrix_get_ptr(dpu.dpu, NULL) == NULL);
    dpu_transfer_matrix_clear_dpu(dpu.dpu, &matrix);
    CHECK_TRUE(dpu_transfer_matrix_get_ptr(dpu.dpu, &matrix) == NULL);

    CHECK_EQUAL(dpu_copy_to_iram_for_rank(rank, 0, NULL, 1), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_EQUAL(dpu_copy_to_wram_for_rank(rank, 0, NULL, 1), DPU_ERR_INVALID_MEMORY_TRANSFER);
    CHECK_DETAIL("the buffer must not be NULL");
    CHECK_OK(dpu_copy_to_wram_for_rank(rank, 0, NULL, 0));
    CHECK_OK(dpu_free(set));
}
