/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking back calls that have not begun. */
#include "cases.h"
#include "veosoft.h"

#include <time.h>

CASE(a_call_that_has_not_begun_is_cancelled)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t count = symbol(&f, "count");
    symbol(&f, "open_gate");
    uint64_t first = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    uint64_t second = veo_call_async(f.ctx, count, NULL);
    uint64_t cancelled = veo_call_async(f.ctx, count, NULL);
    uint64_t last = veo_call_async(f.ctx, count, NULL);

    CHECK_EQUAL(veosoft_call_cancel(f.ctx, first), 0);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, cancelled), 1);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, cancelled), 1);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, last + 1), 0);
    CHECK_EQUAL(veosoft_call_cancel(NULL, last), -1);
    call(&f, other, "open_gate");

    CHECK_EQUAL(wait_ok(f.ctx, second), 0);
    CHECK_EQUAL(wait_ok(f.ctx, last), 1);
    wait_ok(f.ctx, first);
    uint64_t result;
    CHECK_EQUAL(veo_call_peek_result(f.ctx, cancelled, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, last), 0);
    tear_down(&f);
}

static void check_behind(struct fixture *f, const char *wanted)
{
    char text[256];
    CHECK(veosoft_waits_for(f->ctx, text, sizeof text) > 0);
    const char *behind = strstr(text, "; ");
    CHECK_EQUAL(strcmp(behind != NULL ? behind : "", wanted), 0);
}

CASE(cancelled_calls_are_not_counted_as_queued)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t count = symbol(&f, "count");
    uint64_t gate = symbol(&f, "wait_at_gate");
    for (int round = 0; round < 2; round++) {
        veo_call_async(f.ctx, gate, NULL);
        uint64_t first = veo_call_async(f.ctx, count, NULL);
        uint64_t second = veo_call_async(f.ctx, count, NULL);
        check_behind(&f, "; 2 more queued behind it");
        CHECK_EQUAL(veosoft_call_cancel(f.ctx, first), 1);
        CHECK_EQUAL(veosoft_call_cancel(f.ctx, first), 1);
        check_behind(&f, "; 1 more queued behind it");
        CHECK_EQUAL(veosoft_call_cancel(f.ctx, second), 1);
        check_behind(&f, "");
        call(&f, other, "open_gate");
        veo_context_sync(f.ctx);
    }
    tear_down(&f);
}

/* Requests are in chunks of less than a hundred. */
CASE(many_calls_are_counted_as_queued)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t count = symbol(&f, "count");
    uint64_t last = 0;
    symbol(&f, "open_gate");
    veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    for (int i = 0; i < 200; i++)
        last = veo_call_async(f.ctx, count, NULL);
    check_behind(&f, "; 200 more queued behind it");
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, last), 1);
    /* At the border of two chunks. */
    for (uint64_t id = last - 140; id <= last - 130; id++)
        CHECK_EQUAL(veosoft_call_cancel(f.ctx, id), 1);
    check_behind(&f, "; 188 more queued behind it");
    call(&f, other, "open_gate");
    CHECK_EQUAL(wait_ok(f.ctx, last - 1), 187);
    tear_down(&f);
}

CASE(what_is_no_call_is_not_cancelled)
{
    static char bytes[64];
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t address;
    symbol(&f, "open_gate");
    CHECK_EQUAL(veo_alloc_mem(f.proc, &address, sizeof bytes), 0);
    veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    uint64_t nothing = veo_call_async(f.ctx, symbol(&f, "count"), NULL);
    uint64_t transfer = veo_async_write_mem(f.ctx, address, bytes, sizeof bytes);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, transfer), 0);
    call(&f, other, "open_gate");
    wait_ok(f.ctx, nothing);
    wait_ok(f.ctx, transfer);
    tear_down(&f);
}

CASE(stack_arguments_of_a_cancelled_call_stay)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    char text[] = "unchanged";
    symbol(&f, "open_gate");
    uint64_t first = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    veo_call_async(f.ctx, symbol(&f, "count"), NULL);
    veo_args_set_stack(f.args, VEO_INTENT_OUT, 0, text, sizeof text);
    uint64_t cancelled = veo_call_async(f.ctx, symbol(&f, "echo"), f.args);
    CHECK_EQUAL(veosoft_call_cancel(f.ctx, cancelled), 1);
    veo_args_clear(f.args);
    call(&f, other, "open_gate");
    wait_ok(f.ctx, first);
    veo_context_sync(f.ctx);
    CHECK(strcmp(text, "unchanged") == 0);
    tear_down(&f);
}

/* However close to its beginning: a call is either executed or cancelled. */
CASE(a_call_is_executed_or_cancelled)
{
    /* Beside other load, a round takes as long as turns on a core. */
    enum { N = 20000, LEAST = 1000, SECONDS = 10 };
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    uint64_t executed = 0;
    const time_t end = time(NULL) + SECONDS;
    for (int i = 0; i < N && (i < LEAST || time(NULL) < end); i++) {
        uint64_t first = veo_call_async(f.ctx, count, NULL);
        uint64_t second = veo_call_async(f.ctx, count, NULL);
        for (volatile int pause = i % 200; pause > 0; pause--)
            ;
        int cancelled = veosoft_call_cancel(f.ctx, second);
        CHECK_EQUAL(wait_ok(f.ctx, first), executed++);
        if (!cancelled)
            CHECK_EQUAL(wait_ok(f.ctx, second), executed++);
    }
    CHECK_EQUAL(call(&f, f.ctx, "count"), executed);
    tear_down(&f);
}
