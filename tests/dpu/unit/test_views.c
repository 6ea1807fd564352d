/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs, checkpoints and the debugger's functions on DPUs of the library.
 *
 * build: @libdpu
 */
#include "echo_program.h"

#include "dpu_checkpoint.h"
#include "dpu_debug.h"
#include "dpu_log.h"
#include "dpu_log_internals.h"
#include "dpu_management.h"
#include "dpu_memory.h"

/* --- logs --- */

/* Makes the DPU's log what a program would have left. */
static void put_log(struct dpu_set_t dpu, const void *bytes, size_t size, uint32_t position,
                    uint32_t wrapped)
{
    const uint32_t state[2] = {position, wrapped};
    uint8_t padded[LOG_SIZE] = {0};
    memcpy(padded, bytes, size);
    OK(dpu_copy_to(dpu, "__stdout_buffer", 0, padded, sizeof padded));
    OK(dpu_copy_to_wram_for_dpu(dpu_from_set(dpu), STATE / 4, state, 2));
}

static dpu_error_t read_log(struct dpu_set_t set, char **text)
{
    size_t size;
    FILE *stream = open_memstream(text, &size);
    CHECK(stream != NULL);
    dpu_error_t error = dpu_log_read(set, stream);
    CHECK(fclose(stream) == 0);
    return error;
}

static dpu_error_t refuse_to_print(void *argument, const char *format, ...)
{
    CHECK(argument == NULL && format[0] == '%');
    return DPU_ERR_TIMEOUT;
}

static void test_logs(void)
{
    struct dpu_set_t set = echo_set(2, NULL), dpu = echo_dpu(set, 1), other;
    struct dpu_t *inner = dpu_from_set(dpu);
    char *text, expected[128];
    static const struct {
        char bytes[24];
        uint32_t position, wrapped;
        const char *text;
        dpu_error_t error;
    } cases[] = {
        {"", 0, 0, "", DPU_OK},
        {"%s%d%s\0x=\0\52\0\0\0\n", 16, 0, "x=42\n", DPU_OK},
        {"%s\0one\n\0%s", 8, 0, "one\n", DPU_OK},
        {"%s\0one\n\0", 8, 1, "", DPU_ERR_LOG_BUFFER_TOO_SMALL},
        {"%s\0one\n\0", 4, 0, "", DPU_ERR_INVALID_MRAM_ACCESS},
        {"%s\0one\n\0", LOG_SIZE + 8, 0, "", DPU_ERR_LOG_FORMAT},
        {"%s\0one\n\0%s\0abcde", 16, 0, "one\n", DPU_ERR_LOG_FORMAT},
        {"%9999d\0\0", 8, 0, "", DPU_ERR_LOG_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_log(dpu, cases[i].bytes, sizeof cases[i].bytes, cases[i].position, cases[i].wrapped);
        CHECK_RESULT(read_log(dpu, &text), cases[i].error);
        snprintf(expected, sizeof expected, "=== DPU#0x%x ===\n%s", dpu_get_id(inner),
                 cases[i].text);
        CHECK(strcmp(text, expected) == 0);
        free(text);
    }
    put_log(dpu, "%s\0text", 8, 8, 0);
    CHECK_RESULT(dpulog_read_for_dpu_(inner, refuse_to_print, NULL), DPU_ERR_TIMEOUT);
    CHECK_RESULT(dpulog_read_for_dpu(inner, NULL), DPU_ERR_SYSTEM);
    CHECK_RESULT(read_log(set, &text), DPU_ERR_INVALID_DPU_SET);
    CHECK(text[0] == '\0');
    free(text);
    FILE *full = fopen("/dev/full", "w");
    CHECK(full != NULL && setvbuf(full, NULL, _IONBF, 0) == 0);
    CHECK_RESULT(dpulog_read_for_dpu(inner, full), DPU_ERR_SYSTEM);
    CHECK(fclose(full) == 0);
    OK(dpu_alloc(1, NULL, &other));
    CHECK_RESULT(read_log(echo_dpu(other, 0), &text), DPU_ERR_NO_PROGRAM_LOADED);
    free(text);
    OK(dpu_free(other));
    OK(dpu_free(set));
}

/* --- checkpoints --- */

#define ALL ((dpu_checkpoint_flags_t)DPU_CHECKPOINT_ALL)

static void test_a_state_goes_to_another_dpu(void)
{
    struct dpu_set_t set = echo_set(2, NULL), from = echo_dpu(set, 0), to = echo_dpu(set, 1);
    struct dpu_context_t context, again;
    uint32_t value = 0x12345678, seen;
    uint64_t wide = 0x1122334455667788, other = 0;
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    OK(dpu_copy_to(from, "words", 0, &value, 4));
    OK(dpu_copy_to(from, "buffer", 800, &wide, 8));
    OK(dpu_checkpoint_save(from, ALL, &context));
    CHECK(context.pcs[0] == 25 && context.nr_of_running_threads == 0);
    CHECK(context.wram[WORDS / 4] == value && context.mram[800] == 0x88);

    uint8_t *bytes = NULL;
    uint32_t size = dpu_checkpoint_get_serialized_context_size(&context), wrong = size - 1;
    CHECK(size == 2731 + 32768 + 67108864 + 65536);
    OK(dpu_checkpoint_serialize(&context, &bytes, &wrong));
    CHECK(wrong == size);
    wrong--;
    CHECK_RESULT(dpu_checkpoint_serialize(&context, &bytes, &wrong), DPU_ERR_INVALID_BUFFER_SIZE);
    OK(dpu_checkpoint_free(&context));
    CHECK_RESULT(dpu_checkpoint_serialize(&context, &bytes, &size), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_checkpoint_deserialize(bytes, wrong, &again), DPU_ERR_ELF_INVALID_FILE);
    CHECK_RESULT(dpu_checkpoint_deserialize(NULL, 5, &again), DPU_ERR_ELF_INVALID_FILE);
    OK(dpu_checkpoint_deserialize(bytes, size, &again));
    free(bytes);

    OK(dpu_checkpoint_restore(to, ALL, &again));
    OK(dpu_copy_from(to, "words", 0, &seen, 4));
    OK(dpu_copy_from(to, "buffer", 800, &other, 8));
    CHECK(seen == value && other == wide);
    CHECK_RESULT(dpu_checkpoint_restore(set, ALL, &again), DPU_ERR_INVALID_DPU_SET);
    CHECK_RESULT(dpu_checkpoint_save(set, ALL, &context), DPU_ERR_INVALID_DPU_SET);
    CHECK_RESULT(dpu_checkpoint_save(to, ALL, NULL), DPU_ERR_INTERNAL);
    again.info.nr_threads = 16;
    CHECK_RESULT(dpu_checkpoint_restore(to, ALL, &again), DPU_ERR_INVALID_THREAD_ID);
    again.info.nr_threads = 24;
    again.bkp_fault = true;
    again.bkp_fault_thread_index = 24;
    CHECK_RESULT(dpu_checkpoint_restore(to, ALL, &again), DPU_ERR_INVALID_THREAD_ID);
    again.info.wram_size = 99999;
    CHECK_RESULT(dpu_checkpoint_restore(to, ALL, &again), DPU_ERR_INTERNAL);
    again.info.wram_size = 16384;
    OK(dpu_checkpoint_free(&again));
    CHECK_RESULT(dpu_checkpoint_restore(to, ALL, &again), DPU_ERR_INTERNAL);
    OK(dpu_free(set));
}

static void test_what_is_saved(void)
{
    struct dpu_set_t set = echo_set(1, NULL), dpu = echo_dpu(set, 0);
    struct dpu_context_t context;
    for (uint32_t flags = 0; flags < 0x20; flags++) {
        OK(dpu_checkpoint_save(dpu, (dpu_checkpoint_flags_t)flags, &context));
        CHECK((context.iram != NULL) == ((flags & DPU_CHECKPOINT_IRAM) != 0));
        CHECK((context.mram != NULL) == ((flags & DPU_CHECKPOINT_MRAM) != 0));
        CHECK((context.wram != NULL) == ((flags & DPU_CHECKPOINT_WRAM) != 0));
        OK(dpu_checkpoint_restore(dpu, ALL, &context));
        OK(dpu_checkpoint_free(&context));
    }
    OK(dpu_free(set));
}

static void test_running_tasklets_go_on(void)
{
    struct dpu_set_t set = echo_set(2, NULL), from = echo_dpu(set, 0), to = echo_dpu(set, 1);
    struct dpu_context_t context;
    uint32_t active = 1;
    bool done;
    OK(dpu_copy_to(set, "active", 0, &active, 4));
    struct dpusoft_report report = {.size = sizeof report};
    OK(dpusoft_debug_boot(from));
    OK(dpusoft_debug_step(from, UINT32_MAX, 7, &report));
    OK(dpu_checkpoint_save(from, DPU_CHECKPOINT_INTERNAL | DPU_CHECKPOINT_WRAM, &context));
    CHECK(context.nr_of_running_threads == 1 && context.scheduling[0] == 0);
    CHECK(context.scheduling[1] == 0xFF && !context.bkp_fault);
    OK(dpu_checkpoint_restore(to, DPU_CHECKPOINT_INTERNAL | DPU_CHECKPOINT_WRAM, &context));
    OK(dpu_checkpoint_free(&context));
    OK(dpu_status(to, &done, NULL));
    CHECK(!done);
    active = 0;
    OK(dpu_broadcast_to(to, "active", 0, &active, 4, DPU_XFER_PARALLEL));
    OK(dpu_sync(to));
    OK(dpu_checkpoint_save(to, DPU_CHECKPOINT_INTERNAL, &context));
    CHECK(context.nr_of_running_threads == 0 && context.pcs[0] == 25);
    OK(dpu_checkpoint_free(&context));
    OK(dpu_free(set));
}

/* --- faults --- */

/* In place of the program: two instructions, `fault 5`, and the end. */
static void put_fault(struct dpu_t *dpu)
{
    const uint64_t words[] = {MOVE(1, 10), MOVE(2, 20), W("fault", "i", 5), STOP};
    OK(dpu_copy_to_iram_for_dpu(dpu, 0, words, 4));
}

static void test_saving_ends_a_fault(void)
{
    struct dpu_set_t set = echo_set(1, NULL), dpu = echo_dpu(set, 0);
    struct dpu_context_t context;
    bool fault;
    put_fault(dpu_from_set(dpu));
    for (int i = 0; i < 2; i++) {
        CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
        CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
        OK(dpu_checkpoint_save(dpu, DPU_CHECKPOINT_INTERNAL, &context));
        CHECK(context.bkp_fault && context.bkp_fault_id == 5 && context.pcs[0] == 2);
        CHECK(context.nr_of_running_threads == 1 && context.registers[2] == 20);
        if (i == 0)
            OK(dpu_checkpoint_free(&context));
    }
    uint64_t stop = STOP;
    OK(dpu_copy_to_iram_for_dpu(dpu_from_set(dpu), 2, &stop, 1));
    OK(dpu_launch(set, DPU_SYNCHRONOUS));
    /* And restoring brings it back. */
    OK(dpu_checkpoint_restore(dpu, DPU_CHECKPOINT_INTERNAL, &context));
    OK(dpu_status(dpu, NULL, &fault));
    CHECK(fault);
    CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    OK(dpu_checkpoint_free(&context));
    OK(dpu_free(set));
}

static void test_a_debugger(void)
{
    struct dpu_set_t set = echo_set(1, NULL), ranks = set;
    struct dpu_t *dpu = dpu_from_set(echo_dpu(set, 0));
    struct dpu_context_t context, *attached;
    OK(dpu_context_fill_from_rank(&context, dpu_rank_from_set(ranks)));
    CHECK(context.info.nr_threads == 24 && context.info.mram_size == DPU_MACHINE_MRAM);
    put_fault(dpu);
    CHECK_RESULT(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    OK(dpu_initialize_fault_process_for_dpu(dpu, &context, 0));
    CHECK(context.bkp_fault && context.bkp_fault_id == 5 && context.pcs[0] == 2);
    CHECK(context.scheduling[0] == 0 && context.scheduling[1] == 0xFF);
    OK(dpu_extract_context_for_dpu(dpu, &context));
    CHECK(context.registers[1] == 10);

    /* Back to the first instruction, and two steps from there. */
    context.pcs[0] = 0;
    context.registers[1] = context.registers[2] = 0;
    context.bkp_fault = false;
    OK(dpu_restore_context_for_dpu(dpu, &context));
    CHECK_RESULT(dpu_execute_thread_step_in_fault_for_dpu(dpu, 1, &context), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_execute_thread_step_in_fault_for_dpu(dpu, 24, &context),
                 DPU_ERR_INVALID_THREAD_ID);
    OK(dpu_execute_thread_step_in_fault_for_dpu(dpu, 0, &context));
    OK(dpu_extract_pcs_for_dpu(dpu, &context));
    CHECK(context.pcs[0] == 1 && context.nr_of_running_threads == 1 && !context.bkp_fault);
    OK(dpu_execute_thread_step_in_fault_for_dpu(dpu, 0, &context));
    OK(dpu_execute_thread_step_in_fault_for_dpu(dpu, 0, &context));
    CHECK(context.bkp_fault && context.pcs[0] == 2);

    /* Over the fault, and on. */
    OK(dpu_extract_context_for_dpu(dpu, &context));
    context.pcs[0] = 3;
    context.bkp_fault = false;
    OK(dpu_restore_context_for_dpu(dpu, &context));
    OK(dpu_finalize_fault_process_for_dpu(dpu, &context));
    OK(dpu_sync(set));
    OK(dpu_extract_context_for_dpu(dpu, &context));
    OK(dpu_extract_pcs_for_dpu(dpu, &context));
    CHECK(context.registers[2] == 20 && context.pcs[0] == 4);
    OK(dpu_pop_debug_context(dpu, &attached));
    CHECK(attached == NULL);
    dpu_free_dpu_context(&context);
    CHECK_RESULT(dpu_extract_context_for_dpu(dpu, &context), DPU_ERR_INTERNAL);
    CHECK_RESULT(dpu_extract_pcs_for_dpu(dpu, NULL), DPU_ERR_INTERNAL);
    OK(dpu_free(set));
}

int main(void)
{
    test_logs();
    test_a_state_goes_to_another_dpu();
    test_what_is_saved();
    test_running_tasklets_go_on();
    test_saving_ends_a_fault();
    test_a_debugger();
    return 0;
}
