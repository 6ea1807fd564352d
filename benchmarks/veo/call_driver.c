/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_driver.c: what a call costs through the C API, without Python.
 *
 * Usage: call_driver KERNEL_LIBRARY BATCH ROUNDS. Prints nanoseconds a call, one number a round:
 * "sync" by veo_call_sync(), "one" submitted and awaited one by one, "queued" submitted all and
 * then awaited, "batch" by veosoft_call_many().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ve_offload.h>
#include <veosoft.h>

static struct veo_proc_handle *proc;
static struct veo_thr_ctxt *ctx;
static struct veo_args *args;
static uint64_t function;
static uint64_t *ids;
static uint64_t *results;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void expect(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "call_driver: %s failed\n", what);
        exit(1);
    }
}

static void sync_calls(uint64_t n)
{
    uint64_t result = 0;
    for (uint64_t i = 0; i < n; i++) {
        veo_args_set_i64(args, 0, (int64_t)i);
        expect(veo_call_sync(proc, function, args, &result) == 0 && result == i + 1, "sync call");
    }
}

static void one_by_one(uint64_t n)
{
    uint64_t result = 0;
    for (uint64_t i = 0; i < n; i++) {
        veo_args_set_i64(args, 0, (int64_t)i);
        uint64_t id = veo_call_async(ctx, function, args);
        expect(veo_call_wait_result(ctx, id, &result) == VEO_COMMAND_OK && result == i + 1, "call");
    }
}

static void queued(uint64_t n)
{
    uint64_t result = 0;
    for (uint64_t i = 0; i < n; i++) {
        veo_args_set_i64(args, 0, (int64_t)i);
        ids[i] = veo_call_async(ctx, function, args);
    }
    for (uint64_t i = 0; i < n; i++)
        expect(veo_call_wait_result(ctx, ids[i], &result) == VEO_COMMAND_OK && result == i + 1,
               "queued call");
}

static void in_a_batch(uint64_t n)
{
    uint64_t ended = 0;
    struct veosoft_column column = {.values = ids, .step = 1};
    struct veosoft_calls calls = {.address = function,
                                  .count = n,
                                  .ncolumns = 1,
                                  .columns = &column,
                                  .results = results,
                                  .ended = &ended};
    for (uint64_t i = 0; i < n; i++)
        ids[i] = i;
    uint64_t id = veosoft_call_many(ctx, &calls, args);
    expect(veo_call_wait_result(ctx, id, &ended) == VEO_COMMAND_OK && ended == n, "batch");
    for (uint64_t i = 0; i < n; i++)
        expect(results[i] == i + 1, "call of a batch");
}

static void measure(const char *name, void (*work)(uint64_t), uint64_t batch, int rounds)
{
    work(batch);
    printf("%s", name);
    for (int round = 0; round < rounds; round++) {
        double start = now_ns();
        work(batch);
        printf(" %.1f", (now_ns() - start) / (double)batch);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    expect(argc == 4, "usage");
    uint64_t batch = strtoull(argv[2], NULL, 10);
    int rounds = atoi(argv[3]);
    ids = calloc(batch, sizeof *ids);
    results = calloc(batch, sizeof *results);
    proc = veo_proc_create(0);
    expect(ids != NULL && results != NULL && proc != NULL, "veo_proc_create");
    uint64_t lib = veo_load_library(proc, argv[1]);
    function = veo_get_sym(proc, lib, "next1");
    ctx = veo_context_open(proc);
    args = veo_args_alloc();
    expect(lib != 0 && function != 0 && ctx != NULL && args != NULL, "set-up");
    measure("sync", sync_calls, batch, rounds);
    measure("one", one_by_one, batch, rounds);
    measure("queued", queued, batch, rounds);
    measure("batch", in_a_batch, batch, rounds);
    veo_args_free(args);
    veo_proc_destroy(proc);
    free(ids);
    free(results);
    return 0;
}
