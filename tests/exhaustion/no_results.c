/* SPDX-License-Identifier: BSD-3-Clause */
/* libveo without memory for results: waits end at their limit, do not burn the core meanwhile, and
 * what they waited for is there when there is memory again. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ve_offload.h"
#include "veosoft.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static const int64_t limit_ns = 400000000;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
static atomic_bool empty;

void *malloc(size_t size)
{
    return atomic_load(&empty) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return atomic_load(&empty) ? NULL : __libc_calloc(count, size);
}

static double seconds(clockid_t of)
{
    struct timespec ts;
    clock_gettime(of, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int main(void)
{
    struct veo_proc_handle *proc = veo_proc_create(0);
    CHECK(proc != NULL);
    uint64_t library = veo_load_library(proc, getenv("KERNELS"));
    uint64_t scenario = veo_get_sym(proc, library, "scenario");
    struct veo_thr_ctxt *ctx = veo_context_open(proc);
    struct veo_args *args = veo_args_alloc();
    char buffer[8] = {0};
    uint64_t result;
    CHECK(scenario != 0 && ctx != NULL && args != NULL);
    veo_args_set_i64(args, 0, 1);
    veo_args_set_i32(args, 1, 2);
    veo_args_set_double(args, 2, 3);
    veo_args_set_stack(args, VEO_INTENT_INOUT, 3, buffer, sizeof buffer);
    uint64_t first = veo_call_async(ctx, scenario, args);
    uint64_t second = veo_call_async(ctx, scenario, args);
    CHECK(first != VEO_REQUEST_ID_INVALID && second != VEO_REQUEST_ID_INVALID);

    atomic_store(&empty, true);
    double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int state = veosoft_call_wait_timed(ctx, second, &result, limit_ns);
    int drained = veosoft_context_drain(ctx, limit_ns);
    double took = seconds(CLOCK_MONOTONIC) - start;
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    atomic_store(&empty, false);

    CHECK(state == VEO_COMMAND_UNFINISHED && drained == 1);
    CHECK(took >= 2e-9 * (double)limit_ns);
    printf("%.3f s, of which %.4f s of a core\n", took, used);
    CHECK(used < 2e-2 * took);
    CHECK(veo_call_wait_result(ctx, second, &result) == VEO_COMMAND_OK && result == 6);
    CHECK(veo_call_wait_result(ctx, first, &result) == VEO_COMMAND_OK && result == 6);
    CHECK(buffer[0] == 1);
    veo_args_free(args);
    CHECK(veo_proc_destroy(proc) == 0);
    return 0;
}
