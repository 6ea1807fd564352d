/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls, results, contexts. */
#include <unistd.h>

#include "cases.h"

CASE(version)
{
    CHECK_EQUAL(veo_api_version(), 16);
    CHECK(strcmp(veo_version_string(), "3.0.2") == 0);
}

CASE(sync_calls_count)
{
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    uint64_t sum = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t result;
        CHECK_EQUAL(veo_call_sync(f.proc, count, NULL, &result), 0);
        sum += result;
    }
    CHECK_EQUAL(sum, 10000ull * 9999 / 2);
    tear_down(&f);
}

CASE(async_calls_are_in_order)
{
    enum { N = 10000 };
    static uint64_t ids[N];
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    for (int i = 0; i < N; i++) {
        ids[i] = veo_call_async(f.ctx, count, f.args);
        CHECK(ids[i] != VEO_REQUEST_ID_INVALID);
        CHECK(i == 0 || ids[i] > ids[i - 1]);
    }
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(wait_ok(f.ctx, ids[i]), i);
    tear_down(&f);
}

CASE(results_in_any_order)
{
    enum { N = 1000 };
    uint64_t ids[N];
    struct fixture f = set_up();
    for (int i = 0; i < N; i++) {
        veo_args_set_i32(f.args, 0, i);
        ids[i] = veo_call_async(f.ctx, symbol(&f, "echo"), f.args);
    }
    for (int i = N - 1; i >= 0; i -= 2)
        CHECK_EQUAL(wait_ok(f.ctx, ids[i]), i);
    for (int i = 0; i < N; i += 2)
        CHECK_EQUAL(wait_ok(f.ctx, ids[i]), i);
    tear_down(&f);
}

CASE(first_request_of_a_context_is_0_and_results_are_delivered_once)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    uint64_t result;
    uint64_t id = veo_call_async(ctx, symbol(&f, "count"), NULL);
    CHECK_EQUAL(id, 0);
    wait_ok(ctx, id);
    CHECK_EQUAL(veo_call_wait_result(ctx, id, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_call_peek_result(ctx, id, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_call_wait_result(ctx, 12345, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_call_wait_result(ctx, VEO_REQUEST_ID_INVALID, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_context_close(ctx), 0);
    tear_down(&f);
}

CASE(peek_says_unfinished_and_then_the_result)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t result = 7;
    symbol(&f, "open_gate"); /* later this would have to wait for the main context */
    uint64_t id = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    CHECK_EQUAL(veo_call_peek_result(f.ctx, id, &result), VEO_COMMAND_UNFINISHED);
    call(&f, other, "open_gate");
    int state;
    while ((state = veo_call_peek_result(f.ctx, id, &result)) == VEO_COMMAND_UNFINISHED)
        usleep(100);
    CHECK_EQUAL(state, VEO_COMMAND_OK);
    tear_down(&f);
}

CASE(contexts_are_counted_and_concurrent)
{
    struct veo_proc_handle *proc = veo_proc_create(-1);
    CHECK(proc != NULL);
    CHECK_EQUAL(veo_num_contexts(proc), 0);
    CHECK(veo_get_context(proc, 0) == NULL);
    uint64_t library = veo_load_library(proc, kernels_path());
    struct veo_thr_ctxt *first = veo_context_open(proc);
    struct veo_thr_ctxt *second = veo_context_open(proc);
    CHECK(first && second && first != second);
    CHECK_EQUAL(veo_num_contexts(proc), 2);
    CHECK(veo_get_context(proc, 0) == first);
    CHECK(veo_get_context(proc, 1) == second);
    CHECK(veo_get_context(proc, 2) == NULL);
    CHECK(veo_get_context(proc, -1) == NULL);
    CHECK_EQUAL(veo_get_context_state(second), VEO_STATE_RUNNING);
    /* One waits in the first for what the other does: only threads get past this. */
    uint64_t open_gate = veo_get_sym(proc, library, "open_gate");
    uint64_t a = veo_call_async_by_name(first, library, "wait_at_gate", NULL);
    uint64_t b = veo_call_async(second, open_gate, NULL);
    wait_ok(second, b);
    wait_ok(first, a);
    CHECK_EQUAL(veo_context_close(second), 0);
    CHECK_EQUAL(veo_num_contexts(proc), 1);
    CHECK_EQUAL(veo_context_close(second), -1);
    /* The main one stays. */
    CHECK_EQUAL(veo_context_close(first), 0);
    wait_ok(first, veo_call_async_by_name(first, library, "count", NULL));
    CHECK_EQUAL(veo_num_contexts(NULL), -1);
    CHECK_EQUAL(veo_proc_destroy(proc), 0);
}

CASE(closing_a_context_runs_what_is_queued)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    for (int i = 0; i < 1000; i++)
        CHECK(veo_call_async(ctx, symbol(&f, "count"), NULL) != VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(veo_context_close(ctx), 0);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 1000);
    tear_down(&f);
}

CASE(context_sync_waits_and_keeps_results)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    uint64_t result;
    veo_args_set_u64(f.args, 0, 30000);
    uint64_t id = veo_call_async(ctx, symbol(&f, "nap"), f.args);
    veo_context_sync(ctx);
    CHECK_EQUAL(veo_call_peek_result(ctx, id, &result), VEO_COMMAND_OK);
    tear_down(&f);
}

CASE(attributes_set_the_stack_size)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt_attr *attr = veo_alloc_thr_ctxt_attr();
    size_t size = 0;
    CHECK_EQUAL(veo_get_thr_ctxt_stacksize(attr, &size), 0);
    CHECK_EQUAL(size, 0x8000000);
    CHECK_EQUAL(veo_set_thr_ctxt_stacksize(attr, (4u << 20) - 1), -1);
    CHECK_EQUAL(errno, EINVAL);
    CHECK_EQUAL(veo_set_thr_ctxt_stacksize(attr, 16u << 20), 0);
    CHECK_EQUAL(veo_get_thr_ctxt_stacksize(attr, &size), 0);
    CHECK_EQUAL(size, 16u << 20);
    struct veo_thr_ctxt *ctx = veo_context_open_with_attr(f.proc, attr);
    CHECK(ctx != NULL);
    CHECK_EQUAL(call(&f, ctx, "count"), 0);
    CHECK(veo_context_open_with_attr(f.proc, NULL) == NULL);
    CHECK_EQUAL(errno, EINVAL);
    CHECK(veo_context_open_with_attr(NULL, attr) == NULL);
    CHECK_EQUAL(veo_free_thr_ctxt_attr(attr), 0);
    CHECK_EQUAL(veo_free_thr_ctxt_attr(NULL), -1);
    CHECK_EQUAL(veo_set_thr_ctxt_stacksize(NULL, 1u << 24), -1);
    CHECK_EQUAL(veo_get_thr_ctxt_stacksize(NULL, &size), -1);
    tear_down(&f);
}

CASE(previous_result_is_known_to_a_kernel)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    veo_args_set_u64(f.args, 0, 4711);
    veo_call_async(ctx, symbol(&f, "echo"), f.args);
    uint64_t alloc = veo_alloc_mem_async(ctx, 1000);
    veo_args_set_i32(f.args, 0, 0);
    uint64_t last = veo_call_async(ctx, symbol(&f, "previous"), f.args);
    veo_args_set_i32(f.args, 0, 2);
    uint64_t third = veo_call_async(ctx, symbol(&f, "previous"), f.args);
    uint64_t address = wait_ok(ctx, alloc);
    CHECK(address != 0);
    CHECK_EQUAL(wait_ok(ctx, last), address);
    CHECK_EQUAL(wait_ok(ctx, third), 4711);
    tear_down(&f);
}

static uint64_t host_add_one(void *argument)
{
    *(uint64_t *)argument += 1;
    return *(uint64_t *)argument;
}

CASE(vh_functions_run_in_their_turn)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *ctx = veo_context_open(f.proc);
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t value = 10;
    uint64_t result;
    uint64_t gate = veo_call_async(ctx, symbol(&f, "wait_at_gate"), NULL);
    uint64_t host = veo_call_async_vh(ctx, host_add_one, &value);
    uint64_t after = veo_call_async(ctx, symbol(&f, "count"), NULL);
    usleep(20000);
    CHECK_EQUAL(veo_call_peek_result(ctx, host, &result), VEO_COMMAND_UNFINISHED);
    CHECK_EQUAL(__atomic_load_n(&value, __ATOMIC_SEQ_CST), 10);
    call(&f, other, "open_gate");
    wait_ok(ctx, after);
    CHECK_EQUAL(value, 11);
    CHECK_EQUAL(wait_ok(ctx, host), 11);
    wait_ok(ctx, gate);
    for (int i = 0; i < 2000; i++)
        CHECK(veo_call_async_vh(ctx, host_add_one, &value) != VEO_REQUEST_ID_INVALID);
    veo_context_sync(ctx);
    CHECK_EQUAL(value, 2011);
    CHECK(veo_call_async_vh(ctx, NULL, NULL) == VEO_REQUEST_ID_INVALID);
    tear_down(&f);
}

CASE(bad_calls_are_refused)
{
    struct fixture f = set_up();
    uint64_t result = 1;
    CHECK(veo_call_async(f.ctx, 0, f.args) == VEO_REQUEST_ID_INVALID);
    CHECK(veo_call_async(NULL, 1, f.args) == VEO_REQUEST_ID_INVALID);
    CHECK(veo_call_async_by_name(f.ctx, f.library, "no_such_kernel", NULL) ==
          VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(veo_call_sync(NULL, 1, NULL, &result), -1);
    CHECK_EQUAL(veo_call_sync(f.proc, 0, NULL, &result), -1);
    CHECK_EQUAL(veo_call_peek_result(NULL, 0, &result), -1);
    CHECK(veo_context_open(NULL) == NULL);
    CHECK_EQUAL(veo_proc_identifier(NULL), -1);
    CHECK_EQUAL(veo_proc_destroy(NULL), -1);
    CHECK_EQUAL(veo_context_close(NULL), -1);
    veo_context_sync(NULL);
    tear_down(&f);
    CHECK_EQUAL(veo_proc_destroy(f.proc), -1);
    CHECK(veo_call_async(f.ctx, 1, NULL) == VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(veo_get_context_state(f.ctx), VEO_STATE_EXIT);
}
