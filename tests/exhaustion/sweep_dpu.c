/* SPDX-License-Identifier: BSD-3-Clause */
/* libdpu without memory: a little of everything. usage: sweep_dpu once|on FIRST STEP */
#include "tests/dpu/abi/cases/cases.h"
#include "failing.h"

#include <dpu_bank_interface_pmc.h>
#include <dpu_checkpoint.h>
#include <dpu_memory.h>
#include <dpu_transfer_matrix.h>
#include <unistd.h>

#define SIZE 64

static struct program count_program = {.command = COUNT, .tasklets = 1, .mram_size = 64};
static struct program fault_program = {.command = ASSERT, .tasklets = 1, .mram_size = 64};

static bool worked(dpu_error_t status, const char *call)
{
    char text[300];
    snprintf(text, sizeof text, "%d %s", status, dpusoft_last_error_detail());
    return told(status == DPU_OK, call, text);
}

/* The first error ends the part that it is in. */
#define TRY(call) \
    do { \
        if (!worked(call, #call)) \
            return; \
    } while (0)

static bool one_block(struct sg_block_info *out, uint32_t dpu, uint32_t block, void *argument)
{
    *out = (struct sg_block_info){*(uint8_t **)argument + dpu * 8, 8};
    return block == 0;
}

static dpu_error_t nothing(struct dpu_set_t set, uint32_t index, void *argument)
{
    (void)set, (void)index, (void)argument;
    return DPU_OK;
}

static void transfer(struct dpu_set_t set)
{
    static uint8_t bytes[SIZE];
    static uint8_t *host = bytes;
    get_block_t blocks = {one_block, &host, sizeof host};
    TRY(dpu_copy_to(set, "mbuf", 0, bytes, SIZE));
    TRY(dpu_broadcast_to(set, "mbuf", 0, bytes, SIZE, DPU_XFER_ASYNC));
    TRY(dpu_prepare_xfer(set, bytes));
    TRY(dpu_push_xfer(set, DPU_XFER_TO_DPU, "wbuf", 0, SIZE, DPU_XFER_DEFAULT));
    TRY(dpu_copy_from(first_dpu(set), "mbuf", 0, bytes, SIZE));
    TRY(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "mbuf", 0, 8, &blocks, DPU_SG_XFER_ASYNC));
    TRY(dpu_sync(set));
}

static void matrices(struct dpu_set_t set)
{
    static uint8_t bytes[SIZE];
    struct dpu_t *dpu = first_dpu(set).dpu;
    struct dpu_rank_t *rank = dpu_get_rank(dpu);
    struct dpu_transfer_matrix matrix;
    dpuword_t word = 0;
    dpu_transfer_matrix_clear_all(rank, &matrix);
    dpu_transfer_matrix_add_dpu(dpu, &matrix, bytes);
    matrix.size = SIZE;
    matrix.offset = 0x100;
    TRY(dpu_copy_to_mrams(rank, &matrix));
    TRY(dpu_copy_from_mrams(rank, &matrix));
    TRY(dpu_copy_to_wram_for_dpu(dpu, 16, &word, 1));
    TRY(dpu_copy_from_wram_for_dpu(dpu, &word, 16, 1));
}

static void run(struct dpu_set_t set)
{
    TRY(dpu_launch(set, DPU_SYNCHRONOUS));
    TRY(dpu_launch(set, DPU_ASYNCHRONOUS));
    TRY(dpu_callback(set, nothing, NULL, DPU_CALLBACK_ASYNC));
    TRY(dpu_callback(set, nothing, NULL, DPU_CALLBACK_DEFAULT));
    TRY(dpu_callback(set, nothing, NULL,
                     (dpu_callback_flags_t)(DPU_CALLBACK_ASYNC | DPU_CALLBACK_NONBLOCKING)));
    TRY(dpu_sync(set));
}

static void checkpoint(struct dpu_set_t dpu)
{
    const dpu_checkpoint_flags_t flags =
        (dpu_checkpoint_flags_t)(DPU_CHECKPOINT_INTERNAL | DPU_CHECKPOINT_IRAM |
                                 DPU_CHECKPOINT_WRAM);
    struct dpu_context_t context, again;
    uint8_t *bytes = NULL;
    uint32_t size = 0;
    TRY(dpu_checkpoint_save(dpu, flags, &context));
    dpu_error_t status = dpu_checkpoint_serialize(&context, &bytes, &size);
    dpu_checkpoint_free(&context);
    if (!worked(status, "dpu_checkpoint_serialize"))
        return;
    status = dpu_checkpoint_deserialize(bytes, size, &again);
    free(bytes);
    if (!worked(status, "dpu_checkpoint_deserialize"))
        return;
    worked(dpu_checkpoint_restore(dpu, flags, &again), "dpu_checkpoint_restore");
    dpu_checkpoint_free(&again);
}

static void debug(struct dpu_set_t dpu)
{
    struct dpusoft_report report = {.size = sizeof report};
    TRY(dpusoft_debug_boot(dpu));
    TRY(dpusoft_debug_set_breakpoint(dpu, 3, true));
    TRY(dpusoft_debug_continue(dpu, 0, &report));
    TRY(dpusoft_debug_step(dpu, 0, 1, &report));
}

static void expect_fault(dpu_error_t status, const char *call)
{
    if (status != DPU_ERR_DPU_FAULT)
        told(false, call, status == DPU_OK ? "no fault" : dpusoft_last_error_detail());
}

static void fault(struct dpu_set_t set)
{
    char text[200];
    TRY(dpu_load_from_memory(set, fault_program.image, fault_program.size, NULL));
    expect_fault(dpu_launch(set, DPU_SYNCHRONOUS), "dpu_launch");
    TRY(dpu_launch(set, DPU_ASYNCHRONOUS));
    expect_fault(dpu_sync(set), "dpu_sync");
    TRY(dpusoft_describe_fault(first_dpu(set), text, sizeof text));
}

/* Each part is tried, whatever became of those before it. */
static void try_all(void)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    TRY(dpu_alloc(3, "backend=cas,sgXferEnable=true", &set));
    if (worked(dpu_load(set, "count.dpu", &program), "dpu_load"))
        transfer(set);
    if (worked(dpu_load_from_memory(set, count_program.image, count_program.size, NULL),
               "dpu_load_from_memory")) {
        transfer(set);
        matrices(set);
        run(set);
        checkpoint(first_dpu(set));
        debug(first_dpu(set));
        fault(set);
        dpu_sync(set);
    }
    CHECK_OK(dpu_free(set));
}

int main(int argc, char *argv[])
{
    make_program(&count_program);
    make_program(&fault_program);
    write_program("count.dpu", COUNT);
    /* Its warnings; what the sweep has to say goes to stdout. */
    if (freopen("/dev/null", "w", stderr) == NULL)
        return 2;
    return sweep(argc, argv, try_all);
}
