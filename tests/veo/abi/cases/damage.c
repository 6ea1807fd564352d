/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that write over the memory in which the queues are. Results may be spoilt, but every
 * wait ends, and so does the process.
 */
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

static const int64_t limit_ns = INT64_C(20000000000);

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* How the kernel ends after it has written. */
enum ending { RETURN, EXIT, KILLED };

static void overrun(long before, long after, int byte, enum ending ending)
{
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    uint64_t scribble = symbol(&f, "scribble");
    uint64_t wait_at_gate = symbol(&f, "wait_at_gate");
    uint64_t open_gate = symbol(&f, "open_gate");
    char buffer[64] = {0};
    uint64_t result;

    /* A block of the first call's size is free again when the second context is opened, so that
     * the next stack argument lies between the queues of the two. */
    veo_args_set_stack(f.args, VEO_INTENT_INOUT, 0, buffer, sizeof buffer);
    for (int i = 1; i < 5; i++)
        veo_args_set_i64(f.args, i, 0);
    uint64_t first = veo_call_async(f.ctx, scribble, f.args);
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    CHECK(other != NULL);
    wait_ok(f.ctx, first);

    /* Requests that wait while it writes. */
    uint64_t gate = veo_call_async(other, wait_at_gate, NULL);
    uint64_t behind = veo_call_async(other, count, NULL);
    veo_args_set_i64(f.args, 1, before);
    veo_args_set_i64(f.args, 2, after);
    veo_args_set_i32(f.args, 3, byte);
    veo_args_set_i32(f.args, 4, ending);
    uint64_t bad = veo_call_async(f.ctx, scribble, f.args);
    uint64_t next = veo_call_async(f.ctx, open_gate, NULL);

    double start = seconds();
    veosoft_call_wait_timed(f.ctx, bad, &result, limit_ns);
    CHECK(veosoft_call_wait_timed(f.ctx, next, &result, limit_ns) != VEO_COMMAND_UNFINISHED);
    CHECK(veosoft_call_wait_timed(other, behind, &result, limit_ns) != VEO_COMMAND_UNFINISHED);
    CHECK(veosoft_call_wait_timed(other, gate, &result, limit_ns) != VEO_COMMAND_UNFINISHED);
    CHECK(veosoft_context_drain(f.ctx, limit_ns) != 1);
    CHECK(veosoft_context_drain(other, limit_ns) != 1);
    tear_down(&f);
    CHECK(seconds() - start < 15);
}

static void overrun_by_all(enum ending ending)
{
    static const int bytes[] = {255, 0, 1, 3, 0x5a};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        overrun(0, 65536, bytes[i], ending);
        overrun(24576, 64, bytes[i], ending);
        overrun(4096, 65536, bytes[i], ending);
    }
}

CASE(an_overrun_by_a_kernel_that_exits)
{
    overrun_by_all(EXIT);
}

CASE(an_overrun_by_a_kernel_that_is_killed)
{
    overrun_by_all(KILLED);
}

CASE(an_overrun_by_a_kernel_that_returns)
{
    overrun_by_all(RETURN);
}

CASE(a_limited_wait_ends_though_the_queue_is_overwritten)
{
    struct fixture f = set_up();
    char buffer[64] = {0};
    uint64_t result;
    veo_args_set_stack(f.args, VEO_INTENT_INOUT, 0, buffer, sizeof buffer);
    veo_args_set_i64(f.args, 1, 24576);
    veo_args_set_i64(f.args, 2, 64);
    veo_args_set_i32(f.args, 3, 255);
    veo_args_set_i32(f.args, 4, EXIT);
    uint64_t bad = veo_call_async(f.ctx, symbol(&f, "scribble"), f.args);
    double start = seconds();
    CHECK(veosoft_call_wait_timed(f.ctx, bad, &result, 3000000000) != VEO_COMMAND_OK);
    CHECK(seconds() - start < 10);
    tear_down(&f);
}

/* Has a kernel write over its queue, and sees that the process is given up. */
static void overwrite(struct fixture *f)
{
    char buffer[64] = {0};
    uint64_t result;
    uint64_t count = symbol(f, "count");
    veo_args_set_stack(f->args, VEO_INTENT_INOUT, 0, buffer, sizeof buffer);
    veo_args_set_i64(f->args, 1, 24576);
    veo_args_set_i64(f->args, 2, 64);
    veo_args_set_i32(f->args, 3, 255);
    veo_args_set_i32(f->args, 4, RETURN);
    uint64_t bad = veo_call_async(f->ctx, symbol(f, "scribble"), f->args);
    veosoft_call_wait_timed(f->ctx, bad, &result, limit_ns);
    CHECK(veosoft_context_drain(f->ctx, limit_ns) != 1);
    veosoft_call_wait_timed(f->ctx, veo_call_async(f->ctx, count, NULL), &result, limit_ns);
    /* The worker may not have come to the next slot yet. */
    double start = seconds();
    while (veo_get_context_state(f->ctx) != VEO_STATE_EXIT)
        CHECK(seconds() - start < 20);
}

CASE(an_overwritten_queue_is_named_as_the_cause)
{
    struct fixture f = set_up();
    overwrite(&f);
    CHECK(strstr(veosoft_death_report(f.proc), "wrote over") != NULL);
    tear_down(&f);
}

/* As on a machine with so much else to do that the worker does not come to its end. */
CASE(an_overwritten_queue_is_named_before_its_worker_is_gone)
{
    /* The worker has a second to write why it ends, and nobody reads that. */
    int ends[2];
    char filler[4096] = {0};
    int errors = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    while (write(ends[1], filler, sizeof filler) > 0)
        ;
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    struct fixture f = set_up();
    CHECK(dup2(errors, STDERR_FILENO) >= 0);

    overwrite(&f);
    kill(veosoft_worker_pid(f.proc), SIGSTOP);
    const char *report = veosoft_death_report(f.proc);
    kill(veosoft_worker_pid(f.proc), SIGCONT);
    CHECK(strstr(report, "wrote over") != NULL);
    tear_down(&f);
    close(errors);
    close(ends[0]);
    close(ends[1]);
}
