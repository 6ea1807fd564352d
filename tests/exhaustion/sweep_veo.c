/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libveo without memory: every call that works. usage: sweep_veo once|on FIRST STEP
 *
 * sweep_veo worker LIBRARY REPORT FIRST STEP: the same, with a worker whose allocations fail;
 * LIBRARY is failing.c for it.
 */
#include "failing.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ve_offload.h"
#include "veo_hmem.h"
#include "veosoft.h"

enum { SIZE = 100 << 10, CALLS = 300 };

static bool worked(bool ok, const char *call)
{
    return told(ok, call, veosoft_error());
}

#define TRY(condition) \
    do { \
        if (!worked(condition, #condition)) \
            return; \
    } while (0)

static char bytes[SIZE], back[SIZE];

static uint64_t on_host(void *argument)
{
    return (uint64_t)(uintptr_t)argument;
}

static void hook(void *payload, ...)
{
    (void)payload;
}

static struct veo_args *some_args(void)
{
    struct veo_args *args = veo_args_alloc();
    if (!worked(args != NULL, "veo_args_alloc()"))
        return NULL;
    bool ok = veo_args_set_i64(args, 0, 1) == 0 && veo_args_set_i32(args, 1, 2) == 0 &&
              veo_args_set_double(args, 2, 3) == 0 && veo_args_set_float(args, 12, 4) == 0 &&
              veo_args_set_stack(args, VEO_INTENT_INOUT, 3, bytes, 4096) == 0;
    if (worked(ok, "veo_args_set"))
        return args;
    veo_args_free(args);
    return NULL;
}

static void wait_for(struct veo_thr_ctxt *ctx, uint64_t id, const char *call)
{
    uint64_t result = 0;
    if (worked(id != VEO_REQUEST_ID_INVALID, call))
        worked(veo_call_wait_result(ctx, id, &result) == VEO_COMMAND_OK, call);
}

static void memory(struct veo_proc_handle *proc, struct veo_thr_ctxt *ctx)
{
    uint64_t address;
    void *tagged;
    TRY(veo_alloc_mem(proc, &address, SIZE) == 0);
    worked(veo_write_mem(proc, address, bytes, SIZE) == 0, "veo_write_mem");
    worked(veo_read_mem(proc, back, address, SIZE) == 0, "veo_read_mem");
    if (ctx != NULL) {
        wait_for(ctx, veo_async_write_mem(ctx, address, bytes, SIZE), "veo_async_write_mem");
        wait_for(ctx, veo_async_read_mem(ctx, back, address, SIZE), "veo_async_read_mem");
        wait_for(ctx, veo_free_mem_async(ctx, address), "veo_free_mem_async");
        wait_for(ctx, veo_alloc_mem_async(ctx, 4096), "veo_alloc_mem_async");
    } else {
        worked(veo_free_mem(proc, address) == 0, "veo_free_mem");
    }
    TRY(veo_alloc_hmem(proc, &tagged, 4096) == 0);
    worked(veo_hmemcpy(tagged, bytes, 4096) == 0, "veo_hmemcpy");
    TRY(veo_free_hmem(tagged) == 0);
}

static void many_calls(struct veo_proc_handle *proc, struct veo_thr_ctxt *ctx, uint64_t function,
                       const struct veo_args *types)
{
    uint64_t results[2], ended = 0, zero = 0, address;
    TRY(veo_alloc_mem(proc, &address, 8) == 0);
    const struct veosoft_column columns[] = {{&zero, 0}, {&zero, 0}, {&zero, 0}, {&address, 0}};
    const struct veosoft_calls many = {function, 2, 4, columns, results, &ended};
    wait_for(ctx, veosoft_call_many(ctx, &many, types), "veosoft_call_many");
    worked(veo_free_mem(proc, address) == 0, "veo_free_mem");
}

static void calls(struct veo_proc_handle *proc, struct veo_thr_ctxt *ctx, uint64_t library)
{
    uint64_t ids[CALLS], result;
    struct veo_args *args = some_args();
    uint64_t address = veo_get_sym(proc, library, "scenario");
    if (worked(address != 0, "veo_get_sym") && args != NULL) {
        worked(veo_call_sync(proc, address, args, &result) == 0, "veo_call_sync");
        wait_for(ctx, veo_call_async_by_name(ctx, library, "scenario", args), "by name");
        wait_for(ctx, veo_call_async_vh(ctx, on_host, bytes), "veo_call_async_vh");
        /* More than a chunk of the queue holds. */
        for (int i = 0; i < CALLS; i++)
            ids[i] = veo_call_async(ctx, address, args);
        for (int i = 0; i < CALLS; i++)
            wait_for(ctx, ids[i], "veo_call_async");
        many_calls(proc, ctx, address, args);
        /* Never asked for. */
        worked(veo_call_async(ctx, address, args) != VEO_REQUEST_ID_INVALID, "veo_call_async");
        veo_context_sync(ctx);
    }
    if (args != NULL)
        veo_args_free(args);
}

static void contexts(struct veo_proc_handle *proc, uint64_t library)
{
    struct veo_thr_ctxt *main_context = veo_context_open(proc);
    TRY(main_context != NULL);
    memory(proc, main_context);
    calls(proc, main_context, library);

    struct veo_thr_ctxt_attr *attr = veo_alloc_thr_ctxt_attr();
    TRY(attr != NULL);
    veo_set_thr_ctxt_stacksize(attr, 8 << 20);
    struct veo_thr_ctxt *other = veo_context_open_with_attr(proc, attr);
    veo_free_thr_ctxt_attr(attr);
    TRY(other != NULL);
    calls(proc, other, library);
    TRY(veo_context_close(other) == 0);
}

static const char *kernels;

static void try_all(void)
{
    struct veo_proc_handle *proc = veo_proc_create(0);
    TRY(proc != NULL);
    void *const hooked[] = {(void *)(uintptr_t)veo_alloc_mem,
                            (void *)(uintptr_t)veo_alloc_mem_async,
                            (void *)(uintptr_t)veo_free_mem_async};
    for (size_t i = 0; i < sizeof hooked / sizeof *hooked; i++)
        veo_register_hook(hooked[i], hook, NULL);
    memory(proc, NULL);
    uint64_t library = veo_load_library(proc, kernels);
    if (worked(library != 0, "veo_load_library")) {
        contexts(proc, library);
        /* With a dead worker this fails as a consequence. */
        veo_unload_library(proc, library);
    }
    for (size_t i = 0; i < sizeof hooked / sizeof *hooked; i++)
        veo_unregister_hook(hooked[i]);
    veo_proc_destroy(proc);
}

/* --- in the worker --- */

/* Tries a worker in which an allocation fails. Sets `bad` if a signal ended the worker. */
static void try_worker(const char *report, long number, bool *bad)
{
    struct veo_proc_handle *proc = veo_proc_create(0);
    if (proc == NULL)
        return;
    memory(proc, NULL);
    uint64_t library = veo_load_library(proc, kernels);
    if (library != 0)
        contexts(proc, library);
    /* It may give up, but must not crash. */
    if (strstr(veosoft_death_report(proc), "signal") != NULL) {
        printf("%ld: %s\n", number, veosoft_death_report(proc));
        *bad = true;
    }
    veo_proc_destroy(proc);
    (void)report;
}

static int sweep_worker(char *argv[])
{
    char number[32];
    bool bad = false;
    long at = atol(argv[4]), step = atol(argv[5]), tried = 0;
    setenv("LD_PRELOAD", argv[2], 1);
    setenv("FAILING_REPORT", argv[3], 1);
    do {
        snprintf(number, sizeof number, "%ld", at);
        setenv("FAILING_AT", number, 1);
        unlink(argv[3]);
        alarm(60);
        try_worker(argv[3], at, &bad);
        alarm(0);
        tried++;
        at += step;
    } while (access(argv[3], F_OK) == 0);
    printf("%ld allocations, %ld failed, 0 told\n", at - step - 1, tried - 1);
    return bad;
}

int main(int argc, char *argv[])
{
    kernels = getenv("KERNELS");
    veosoft_set_quiet(1);
    if (argc == 6 && strcmp(argv[1], "worker") == 0)
        return sweep_worker(argv);
    return sweep(argc, argv, try_all);
}
