/* SPDX-License-Identifier: BSD-3-Clause */
/* libveo without any memory left: the results of what was submitted have room, in whatever order
 * they are fetched, and further requests are refused. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ve_offload.h"
#include "veosoft.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static const int64_t limit_ns = 20000000000;

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
    enum { CALLS = 1000 };
    uint64_t ids[CALLS];
    for (int i = 0; i < CALLS; i++) {
        ids[i] = veo_call_async(ctx, scenario, args);
        CHECK(ids[i] != VEO_REQUEST_ID_INVALID);
    }

    atomic_store(&empty, true);
    CHECK(veo_call_wait_result(ctx, ids[CALLS - 1], &result) == VEO_COMMAND_OK && result == 6);
    CHECK(veosoft_context_drain(ctx, limit_ns) == 0);
    for (int i = 0; i < CALLS - 1; i++)
        CHECK(veo_call_wait_result(ctx, ids[i], &result) == VEO_COMMAND_OK && result == 6);
    CHECK(buffer[0] == 1);
    int submitted = 0;
    while (submitted < CALLS && veo_call_async(ctx, scenario, args) != VEO_REQUEST_ID_INVALID)
        submitted++;
    CHECK(submitted < CALLS && errno == ENOMEM);
    CHECK(veosoft_context_drain(ctx, limit_ns) == 0);
    atomic_store(&empty, false);

    veo_args_free(args);
    CHECK(veo_proc_destroy(proc) == 0);
    return 0;
}
