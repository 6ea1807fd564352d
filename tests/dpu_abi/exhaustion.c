/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdpu without memory: a program that does a little of everything, again and again, and each
 * time the next allocation fails. What fails must say so, what was begun must come to its end, and
 * nothing may be left allocated.
 *
 * The functions of malloc(), and mmap(), are this program's own.
 */
#include "cases/cases.h"

#include <dpu_checkpoint.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static atomic_long countdown; /* the allocation that takes it to 0 fails; 0: none does */
static atomic_long live, failed;

static bool fails(void)
{
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1)
        return false;
    atomic_fetch_add(&failed, 1);
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    if (block != NULL)
        atomic_fetch_add(&live, 1);
    return block;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return malloc(size);
    return fails() ? NULL : __libc_realloc(block, size);
}

void free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&live, 1);
    __libc_free(block);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

/* --- what it does --- */

#define SIZE 64

static struct program count_program = {.command = COUNT, .tasklets = 1, .mram_size = 64};
static struct program fault_program = {.command = ASSERT, .tasklets = 1, .mram_size = 64};

/* The first error ends the part that it is in. */
#define TRY(call) \
    do { \
        dpu_error_t status_ = (call); \
        if (status_ != DPU_OK) \
            return status_; \
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

static dpu_error_t transfer(struct dpu_set_t set)
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
    return dpu_sync(set);
}

static dpu_error_t run(struct dpu_set_t set)
{
    TRY(dpu_launch(set, DPU_SYNCHRONOUS));
    TRY(dpu_launch(set, DPU_ASYNCHRONOUS));
    TRY(dpu_callback(set, nothing, NULL, DPU_CALLBACK_ASYNC));
    TRY(dpu_callback(set, nothing, NULL, DPU_CALLBACK_DEFAULT));
    return dpu_sync(set);
}

static dpu_error_t checkpoint(struct dpu_set_t dpu)
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
    if (status == DPU_OK)
        status = dpu_checkpoint_deserialize(bytes, size, &again);
    free(bytes);
    if (status != DPU_OK)
        return status;
    status = dpu_checkpoint_restore(dpu, flags, &again);
    dpu_checkpoint_free(&again);
    return status;
}

static dpu_error_t debug(struct dpu_set_t dpu)
{
    struct dpusoft_report report = {.size = sizeof report};
    TRY(dpusoft_debug_boot(dpu));
    TRY(dpusoft_debug_set_breakpoint(dpu, 3, true));
    TRY(dpusoft_debug_continue(dpu, 0, &report));
    return dpusoft_debug_step(dpu, 0, 1, &report);
}

static dpu_error_t fault(struct dpu_set_t set)
{
    char text[200];
    TRY(dpu_load_from_memory(set, fault_program.image, fault_program.size, NULL));
    dpu_error_t status = dpu_launch(set, DPU_SYNCHRONOUS);
    if (status != DPU_ERR_DPU_FAULT)
        return status != DPU_OK ? status : DPU_ERR_INTERNAL;
    TRY(dpu_launch(set, DPU_ASYNCHRONOUS));
    status = dpu_sync(set);
    if (status != DPU_ERR_DPU_FAULT)
        return status != DPU_OK ? status : DPU_ERR_INTERNAL;
    return dpusoft_describe_fault(first_dpu(set), text, sizeof text);
}

/* Each part is tried, whatever became of those before it. */
static int try_all(void)
{
    struct dpu_set_t set;
    int errors = 0;
    if (dpu_alloc(3, "backend=cas,sgXferEnable=true", &set) != DPU_OK)
        return 1;
    if (dpu_load_from_memory(set, count_program.image, count_program.size, NULL) != DPU_OK) {
        errors++;
    } else {
        errors += transfer(set) != DPU_OK;
        errors += run(set) != DPU_OK;
        errors += checkpoint(first_dpu(set)) != DPU_OK;
        errors += debug(first_dpu(set)) != DPU_OK;
        errors += fault(set) != DPU_OK;
        dpu_sync(set);
    }
    CHECK_OK(dpu_free(set));
    return errors;
}

/* Threads of the library end a little later than the set. */
static void wait_for(long wanted)
{
    double start = seconds_now();
    while (atomic_load(&live) > wanted && seconds_now() - start < 5)
        usleep(100);
}

CASE(every_allocation_may_fail)
{
    make_program(&count_program);
    make_program(&fault_program);
    if (freopen("/dev/null", "w", stderr) == NULL)
        exit(2);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(try_all(), 0);
    usleep(10000);
    long before = atomic_load(&live), number = 0, told = 0;
    int again = 0;
    bool reached;
    do {
        atomic_store(&failed, 0);
        atomic_store(&countdown, again == 0 ? ++number : number);
        int errors = try_all();
        atomic_store(&countdown, 0);
        reached = atomic_load(&failed) != 0;
        told += errors != 0;
        wait_for(before);
        long left = atomic_load(&live) - before;
        /* The system keeps stacks of threads that have ended, each with a block: one more when
         * there were more threads at a time than ever. What is lost is lost each time. */
        again = left > 0 ? again + 1 : 0;
        if (again == 5 || (!reached && errors != 0)) {
            printf("allocation %ld: %ld blocks left, %d errors\n", number, left, errors);
            exit(1);
        }
        before += left > 0 ? left : 0;
    } while (reached || again != 0);
    CHECK_EQUAL(try_all(), 0);
    printf("%ld allocations, %ld told\n", number - 1, told);
}
