/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that crash, exit or hang, and workers that are killed. */
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static const struct {
    const char *kernel;
    int number;
    const char *shown; /* by the report */
} crashes[] = {
    {"crash_segv", SIGSEGV, "crash_segv"},      {"crash_fpe", SIGFPE, "crash_fpe"},
    {"crash_ill", SIGILL, "crash_ill"},         {"crash_bus", SIGBUS, "crash_bus"},
    {"crash_abort", SIGABRT, "crash_abort"},    {"overflow_stack", SIGSEGV, "overflow_stack"},
    {"crash_in_thread", SIGILL, "crash_there"}, {"crash_without_a_stack", SIGSEGV, "signal 11"},
    {"pattern", SIGSEGV, "signal 11"}};

CASE(a_crash_is_an_exception_and_the_rest_errors)
{
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        for (int own_context = 0; own_context < 2; own_context++) {
            struct fixture f = set_up();
            struct veo_thr_ctxt *ctx = own_context ? veo_context_open(f.proc) : f.ctx;
            uint64_t result = 0;
            uint64_t count = symbol(&f, "count");
            uint64_t before = veo_call_async(ctx, count, NULL);
            veo_args_set_i64(f.args, 0, 0);
            veo_args_set_i64(f.args, 1, 0);
            uint64_t crash = veo_call_async(ctx, symbol(&f, crashes[i].kernel), f.args);
            uint64_t after[10];
            for (int k = 0; k < 10; k++)
                after[k] = veo_call_async(ctx, count, NULL);
            CHECK_EQUAL(veo_call_wait_result(ctx, crash, &result), VEO_COMMAND_EXCEPTION);
            CHECK_EQUAL(result, crashes[i].number);
            for (int k = 0; k < 10; k++) {
                if (after[k] != VEO_REQUEST_ID_INVALID) {
                    CHECK_EQUAL(veo_call_wait_result(ctx, after[k], &result), VEO_COMMAND_ERROR);
                    CHECK_EQUAL(result, 0);
                }
            }
            CHECK_EQUAL(veo_call_wait_result(ctx, before, &result), VEO_COMMAND_OK);
            CHECK(veo_call_async(ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
            CHECK(veo_call_async(f.ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
            CHECK_EQUAL(veo_get_context_state(ctx), VEO_STATE_EXIT);
            CHECK(veo_context_open(f.proc) == NULL);
            CHECK(veo_load_library(f.proc, kernels_path()) == 0);
            uint64_t address;
            CHECK_EQUAL(veo_alloc_mem(f.proc, &address, 1), -2);
            const char *report = veosoft_death_report(f.proc);
            CHECK(strlen(report) > 20);
            CHECK(strstr(report, crashes[i].shown) != NULL);
            tear_down(&f);
        }
    }
}

CASE(a_kernel_that_ends_its_thread)
{
    struct fixture f = set_up();
    uint64_t result;
    uint64_t id = veo_call_async(f.ctx, symbol(&f, "end_thread"), NULL);
    CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_EXCEPTION);
    CHECK(strstr(veosoft_death_report(f.proc), "pthread_exit") != NULL);
    tear_down(&f);
}

CASE(a_sync_call_that_crashes_fails)
{
    struct fixture f = set_up();
    uint64_t result;
    CHECK(veo_call_sync(f.proc, symbol(&f, "crash_ill"), NULL, &result) < 0);
    tear_down(&f);
}

CASE(a_crash_ends_the_requests_of_other_contexts)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *a = veo_context_open(f.proc);
    struct veo_thr_ctxt *b = veo_context_open(f.proc);
    uint64_t result;
    uint64_t waits = veo_call_async(a, symbol(&f, "wait_at_gate"), NULL);
    uint64_t queued = veo_call_async(a, symbol(&f, "count"), NULL);
    uint64_t crash = veo_call_async(b, symbol(&f, "crash_ill"), NULL);
    CHECK_EQUAL(veo_call_wait_result(a, queued, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_call_wait_result(a, waits, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(veo_call_wait_result(b, crash, &result), VEO_COMMAND_EXCEPTION);
    CHECK_EQUAL(veo_proc_destroy(f.proc), 0);
    veo_args_free(f.args);
}

CASE(a_kernel_that_exits)
{
    struct fixture f = set_up();
    uint64_t result = 1;
    uint64_t count = symbol(&f, "count");
    veo_args_set_i32(f.args, 0, 3);
    uint64_t leave = veo_call_async(f.ctx, symbol(&f, "leave"), f.args);
    CHECK_EQUAL(veo_call_wait_result(f.ctx, leave, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(result, 0);
    CHECK(strstr(veosoft_death_report(f.proc), "status 3") != NULL);
    CHECK(veo_call_async(f.ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
    tear_down(&f);
}

static void *kill_soon(void *pid)
{
    usleep(30000);
    kill(*(pid_t *)pid, SIGKILL);
    return NULL;
}

CASE(a_killed_worker_hangs_nobody)
{
    struct fixture f = set_up();
    pthread_t killer;
    pid_t pid = veosoft_worker_pid(f.proc);
    uint64_t result;
    uint64_t count = symbol(&f, "count");
    uint64_t waits = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    CHECK_EQUAL(pthread_create(&killer, NULL, kill_soon, &pid), 0);
    double start = seconds();
    CHECK_EQUAL(veo_call_wait_result(f.ctx, waits, &result), VEO_COMMAND_ERROR);
    CHECK(seconds() - start < 1);
    CHECK(veo_call_async(f.ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
    CHECK(strstr(veosoft_death_report(f.proc), "signal 9") != NULL);
    pthread_join(killer, NULL);
    tear_down(&f);
    /* And before anything was asked of it: the next call notices. */
    f = set_up();
    uint64_t again = symbol(&f, "count");
    kill(veosoft_worker_pid(f.proc), SIGKILL);
    uint64_t id = veo_call_async(f.ctx, again, NULL);
    if (id != VEO_REQUEST_ID_INVALID)
        CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_ERROR);
    tear_down(&f);
}

CASE(a_dead_process_ends_polling)
{
    struct fixture f = set_up();
    uint64_t result;
    uint64_t waits = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    kill(veosoft_worker_pid(f.proc), SIGKILL);
    double start = seconds();
    int state;
    while ((state = veo_call_peek_result(f.ctx, waits, &result)) == VEO_COMMAND_UNFINISHED)
        CHECK(seconds() - start < 5);
    CHECK_EQUAL(state, VEO_COMMAND_ERROR);
    tear_down(&f);
}

CASE(waits_can_have_a_limit)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    symbol(&f, "open_gate");
    uint64_t result;
    uint64_t id = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    double start = seconds();
    CHECK_EQUAL(veosoft_call_wait_timed(f.ctx, id, &result, 50000000), VEO_COMMAND_UNFINISHED);
    CHECK(seconds() - start > 0.04 && seconds() - start < 1);
    CHECK_EQUAL(veosoft_context_drain(f.ctx, 1000000), 1);
    call(&f, other, "open_gate");
    CHECK_EQUAL(veosoft_call_wait_timed(f.ctx, id, &result, -1), VEO_COMMAND_OK);
    CHECK_EQUAL(veosoft_context_drain(f.ctx, 0), 0);
    tear_down(&f);
}

CASE(output_of_kernels_appears)
{
    struct fixture f = set_up();
    char text[] = "hello from the kernel";
    veo_args_set_stack(f.args, VEO_INTENT_IN, 0, text, sizeof text);
    call(&f, f.ctx, "say");
    /* Before the process ends: the test looks for both lines in this order. */
    printf("host: after the call\n");
    fflush(stdout);
    tear_down(&f);
}

/* The test kills this program, or ends it without a word, and looks for the worker. */
CASE(leaves_a_worker_behind)
{
    struct fixture f = set_up();
    veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    printf("%d\n", (int)veosoft_worker_pid(f.proc));
    fflush(stdout);
    if (getenv("LEAVE_AT_ONCE"))
        _exit(0);
    pause();
}

CASE(forgets_to_destroy)
{
    struct fixture f = set_up();
    char text[] = "last words";
    veo_args_set_stack(f.args, VEO_INTENT_IN, 0, text, sizeof text);
    veo_call_async(f.ctx, symbol(&f, "say"), f.args);
    printf("%d\n", (int)veosoft_worker_pid(f.proc));
    fflush(stdout);
}

/* A process with the number PID, 0 where that is not allowed. */
static pid_t start_stranger(pid_t pid)
{
    int64_t number = pid;
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
    long made = syscall(SYS_clone3, &args, sizeof args);
    if (made == 0)
        for (;;)
            pause();
    return made == pid ? pid : 0;
}

/* As where a program ignores its children, and numbers come round quickly. */
CASE(a_stranger_with_the_number_of_the_worker_is_left_alone)
{
    signal(SIGCHLD, SIG_IGN);
    struct fixture f = set_up();
    uint64_t pattern = symbol(&f, "pattern");
    uint64_t value = 0;
    pid_t worker = veosoft_worker_pid(f.proc);
    kill(worker, SIGKILL);
    double start = seconds();
    while (kill(worker, 0) == 0)
        CHECK(seconds() - start < 5);
    pid_t stranger = start_stranger(worker);
    if (stranger == 0)
        printf("skipped: numbers of processes cannot be chosen\n");

    CHECK_EQUAL(veo_write_mem(f.proc, pattern, &value, sizeof value), -1);
    CHECK_EQUAL(veosoft_context_drain(f.ctx, 1000000000), -1);
    start = seconds();
    tear_down(&f);
    CHECK(seconds() - start < 5);
    if (stranger) {
        CHECK_EQUAL(kill(stranger, 0), 0);
        kill(stranger, SIGKILL);
    }
}

CASE(symbols_are_found_behind_a_running_kernel)
{
    struct fixture f = set_up();
    uint64_t open_gate = symbol(&f, "open_gate");
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t gate = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    double start = seconds();
    symbol(&f, "count");
    CHECK(veo_get_sym(f.proc, f.library, "there_is_no_such_thing") == 0);
    CHECK(seconds() - start < 10);
    wait_ok(other, veo_call_async(other, open_gate, NULL));
    wait_ok(f.ctx, gate);
    tear_down(&f);
}

CASE(a_library_in_use_is_not_unloaded)
{
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t open_gate = symbol(&f, "open_gate");
    uint64_t gate = veo_call_async(other, symbol(&f, "wait_at_gate"), NULL);
    CHECK_EQUAL(veo_unload_library(f.proc, veo_load_library(f.proc, kernels_path())), 0);
    uint64_t number_at_gate = symbol(&f, "number_at_gate");
    while (wait_ok(f.ctx, veo_call_async(f.ctx, number_at_gate, NULL)) == 0)
        usleep(200);
    double start = seconds();
    int rc = veo_unload_library(f.proc, f.library);
    CHECK(seconds() - start < 10);
    CHECK_EQUAL(rc, -1);
    CHECK_EQUAL(errno, EBUSY);
    wait_ok(f.ctx, veo_call_async(f.ctx, open_gate, NULL));
    wait_ok(other, gate);
    CHECK_EQUAL(veo_unload_library(f.proc, f.library), 0);
    tear_down(&f);
}
