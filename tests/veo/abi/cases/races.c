/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads at once. Also run under ThreadSanitizer, with fewer rounds. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

static int rounds(int otherwise)
{
    const char *text = getenv("ROUNDS_PERCENT");
    int n = text ? otherwise * atoi(text) / 100 : otherwise;
    return n ? n : 1;
}

static void run_threads(int n, void *(*function)(void *), void *arguments[])
{
    pthread_t threads[16];
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, function, arguments[i]), 0);
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

struct job {
    struct fixture *f;
    struct veo_thr_ctxt *ctx;
    uint64_t echo;
    int number;
};

static void *call_and_wait(void *argument)
{
    const struct job *job = argument;
    struct veo_args *args = veo_args_alloc();
    for (int i = 0; i < rounds(5000); i++) {
        uint64_t value = (uint64_t)job->number << 32 | (uint64_t)i;
        veo_args_set_u64(args, 0, value);
        CHECK(wait_ok(job->ctx, veo_call_async(job->ctx, job->echo, args)) == value);
    }
    veo_args_free(args);
    return NULL;
}

CASE(threads_share_a_context)
{
    struct fixture f = set_up();
    struct job jobs[4];
    void *arguments[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){.f = &f, .ctx = f.ctx, .echo = symbol(&f, "echo"), .number = i};
        arguments[i] = &jobs[i];
    }
    run_threads(4, call_and_wait, arguments);
    tear_down(&f);
}

CASE(threads_have_contexts)
{
    struct fixture f = set_up();
    struct job jobs[4];
    void *arguments[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){
            .f = &f, .ctx = veo_context_open(f.proc), .echo = symbol(&f, "echo"), .number = i};
        CHECK(jobs[i].ctx != NULL);
        arguments[i] = &jobs[i];
    }
    run_threads(4, call_and_wait, arguments);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(veo_context_close(jobs[i].ctx), i == 4 ? -1 : 0);
    tear_down(&f);
}

static void *alloc_write_read_free(void *argument)
{
    const struct job *job = argument;
    size_t size = rounds(100) < 100 ? 1u << 20 : 80u << 20;
    uint32_t *there = malloc(size);
    uint32_t *back = malloc(size);
    CHECK(there && back);
    for (int round = 0; round < rounds(40); round++) {
        uint64_t at;
        for (size_t i = 0; i < size / 4; i += 1024)
            there[i] = (uint32_t)(i * 7 + (size_t)round + (size_t)job->number);
        CHECK_EQUAL(veo_alloc_mem(job->f->proc, &at, size), 0);
        CHECK_EQUAL(veo_write_mem(job->f->proc, at, there, size), 0);
        CHECK_EQUAL(veo_read_mem(job->f->proc, back, at, size), 0);
        for (size_t i = 0; i < size / 4; i += 1024)
            CHECK_EQUAL(back[i], there[i]);
        CHECK_EQUAL(veo_free_mem(job->f->proc, at), 0);
    }
    free(there);
    free(back);
    return NULL;
}

CASE(four_threads_times_80_mb)
{
    struct fixture f = set_up();
    struct job jobs[4];
    void *arguments[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){.f = &f, .number = i};
        arguments[i] = &jobs[i];
    }
    run_threads(4, alloc_write_read_free, arguments);
    tear_down(&f);
}

static void *open_processes(void *argument)
{
    (void)argument;
    for (int i = 0; i < rounds(20); i++) {
        struct fixture f = set_up();
        CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
        tear_down(&f);
    }
    return NULL;
}

CASE(threads_open_processes)
{
    void *arguments[4] = {NULL};
    run_threads(4, open_processes, arguments);
}

static void *open_contexts(void *argument)
{
    const struct job *job = argument;
    for (int i = 0; i < rounds(50); i++) {
        struct veo_thr_ctxt *ctx = veo_context_open(job->f->proc);
        CHECK(ctx != NULL);
        struct veo_args *args = veo_args_alloc();
        veo_args_set_i32(args, 0, i);
        CHECK_EQUAL(wait_ok(ctx, veo_call_async(ctx, job->echo, args)), i);
        veo_args_free(args);
        CHECK_EQUAL(veo_context_close(ctx), 0);
    }
    return NULL;
}

CASE(threads_open_and_close_contexts)
{
    struct fixture f = set_up();
    struct job jobs[4];
    void *arguments[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){.f = &f, .echo = symbol(&f, "echo"), .number = i};
        arguments[i] = &jobs[i];
    }
    run_threads(4, open_contexts, arguments);
    CHECK_EQUAL(veo_num_contexts(f.proc), 1);
    tear_down(&f);
}

/* While one thread holds the context, its requests are neighbours. */
static void *submit_blocks(void *argument)
{
    const struct job *job = argument;
    for (int i = 0; i < rounds(500); i++) {
        uint64_t ids[8];
        veo_req_block_begin(job->ctx);
        veo_req_block_begin(job->ctx);
        for (int k = 0; k < 8; k++)
            ids[k] = veo_call_async(job->ctx, job->echo, NULL);
        veo_req_block_end(job->ctx);
        veo_req_block_end(job->ctx);
        for (int k = 1; k < 8; k++)
            CHECK_EQUAL(ids[k], ids[0] + (uint64_t)k);
        for (int k = 0; k < 8; k++)
            wait_ok(job->ctx, ids[k]);
    }
    return NULL;
}

CASE(blocks_of_requests_are_not_interrupted)
{
    struct fixture f = set_up();
    struct job job = {.f = &f, .ctx = f.ctx, .echo = symbol(&f, "count")};
    void *arguments[4] = {&job, &job, &job, &job};
    run_threads(4, submit_blocks, arguments);
    tear_down(&f);
}

static void *submit_all_sorts(void *argument)
{
    const struct job *job = argument;
    unsigned char buffer[64];
    unsigned char *large = malloc(100000);
    struct veo_args *args = veo_args_alloc();
    for (int i = 0; i < rounds(300); i++) {
        memset(buffer, job->number, sizeof buffer);
        memset(large, job->number, 100000);
        uint64_t at = wait_ok(job->ctx, veo_alloc_mem_async(job->ctx, 100000));
        CHECK(at != 0);
        uint64_t a = veo_async_write_mem(job->ctx, at, large, 100000);
        uint64_t b = veo_async_write_mem(job->ctx, at + 10, buffer, sizeof buffer);
        wait_ok(job->ctx, a);
        memset(large, job->number, 100000);
        a = veo_async_write_mem(job->ctx, at, large, 100000);
        unsigned char back[64] = {0};
        uint64_t c = veo_async_read_mem(job->ctx, back, at + 5, sizeof back);
        uint64_t d = veo_free_mem_async(job->ctx, at);
        wait_ok(job->ctx, c);
        CHECK(memcmp(back, buffer, sizeof back) == 0);
        wait_ok(job->ctx, a);
        wait_ok(job->ctx, b);
        wait_ok(job->ctx, d);
    }
    veo_args_free(args);
    free(large);
    return NULL;
}

CASE(all_sorts_of_requests_at_once)
{
    struct fixture f = set_up();
    struct job jobs[4];
    void *arguments[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] =
            (struct job){.f = &f, .ctx = i < 2 ? f.ctx : veo_context_open(f.proc), .number = i + 1};
        arguments[i] = &jobs[i];
    }
    run_threads(4, submit_all_sorts, arguments);
    tear_down(&f);
}

static uint64_t answer(void *number)
{
    return *(uint64_t *)number;
}

/* The host executes the last of a chunk of 63 slots, which is used again at once, by this
 * context or another one, while the worker still looks at the slot. */
static void *end_chunks_in_the_host(void *argument)
{
    const struct job *job = argument;
    uint64_t ids[63];
    uint64_t number = (uint64_t)job->number;
    while (veo_call_async(job->ctx, job->echo, NULL) % 63 != 62)
        ;
    for (int i = 0; i < rounds(400); i++) {
        for (int k = 0; k < 62; k++)
            ids[k] = veo_call_async(job->ctx, job->echo, NULL);
        ids[62] = veo_call_async_vh(job->ctx, answer, &number);
        CHECK_EQUAL(ids[62] % 63, 62);
        CHECK_EQUAL(wait_ok(job->ctx, ids[62]), job->number);
        for (int k = 0; k < 62; k++)
            wait_ok(job->ctx, ids[k]);
    }
    return NULL;
}

CASE(chunks_that_end_in_the_host_are_used_again)
{
    struct fixture f = set_up();
    struct job jobs[3];
    void *arguments[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct job){.f = &f,
                               .ctx = i == 0 ? f.ctx : veo_context_open(f.proc),
                               .echo = symbol(&f, "count"),
                               .number = i + 1};
        arguments[i] = &jobs[i];
    }
    run_threads(3, end_chunks_in_the_host, arguments);
    tear_down(&f);
}

static void *crash_or_not(void *argument)
{
    const struct job *job = argument;
    uint64_t result;
    for (;;) {
        uint64_t id = veo_call_async(job->ctx, job->echo, NULL);
        if (id == VEO_REQUEST_ID_INVALID || veo_call_wait_result(job->ctx, id, &result) != 0)
            return NULL;
    }
}

CASE(a_crash_ends_all_threads_waits)
{
    for (int round = 0; round < rounds(20); round++) {
        struct fixture f = set_up();
        struct job jobs[3];
        pthread_t threads[3];
        uint64_t crash = symbol(&f, "crash_ill");
        for (int i = 0; i < 3; i++) {
            jobs[i] =
                (struct job){.f = &f, .ctx = veo_context_open(f.proc), .echo = symbol(&f, "count")};
            CHECK_EQUAL(pthread_create(&threads[i], NULL, crash_or_not, &jobs[i]), 0);
        }
        usleep(1000);
        uint64_t result;
        uint64_t id = veo_call_async(f.ctx, crash, NULL);
        CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_EXCEPTION);
        for (int i = 0; i < 3; i++)
            CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        tear_down(&f);
    }
}

CASE(destroying_ends_the_calls_of_other_threads)
{
    for (int round = 0; round < rounds(20); round++) {
        struct fixture f = set_up();
        struct job jobs[2];
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            jobs[i] =
                (struct job){.f = &f, .ctx = veo_context_open(f.proc), .echo = symbol(&f, "count")};
            CHECK_EQUAL(pthread_create(&threads[i], NULL, crash_or_not, &jobs[i]), 0);
        }
        usleep(1000);
        CHECK_EQUAL(veo_proc_destroy(f.proc), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        veo_args_free(f.args);
    }
}

struct calls_until_closed {
    struct veo_thr_ctxt *ctx;
    uint64_t count;
    _Atomic int done;
};

static void *call_until_closed(void *argument)
{
    struct calls_until_closed *calls = argument;
    uint64_t result;
    for (;;) {
        uint64_t id = veo_call_async(calls->ctx, calls->count, NULL);
        if (id == VEO_REQUEST_ID_INVALID || veo_call_wait_result(calls->ctx, id, &result) != 0)
            return NULL;
        atomic_fetch_add(&calls->done, 1);
    }
}

CASE(closing_a_context_ends_the_calls_of_other_threads)
{
    struct fixture f = set_up();
    for (int round = 0; round < rounds(100); round++) {
        struct calls_until_closed calls = {.ctx = veo_context_open(f.proc),
                                           .count = symbol(&f, "count")};
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            CHECK_EQUAL(pthread_create(&threads[i], NULL, call_until_closed, &calls), 0);
        while (atomic_load(&calls.done) < 3 * (round % 50 + 1))
            sched_yield();
        CHECK_EQUAL(veo_context_close(calls.ctx), 0);
        for (int i = 0; i < 3; i++)
            CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        CHECK_EQUAL(veo_num_contexts(f.proc), 1);
    }
    CHECK(wait_ok(f.ctx, veo_call_async(f.ctx, symbol(&f, "count"), NULL)) > 0);
    tear_down(&f);
}

static void *transfer_and_call(void *argument)
{
    const struct job *job = argument;
    struct veo_args *args = veo_args_alloc();
    uint64_t at;
    CHECK_EQUAL(veo_alloc_mem(job->f->proc, &at, 8192), 0);
    for (int i = 0; i < rounds(2000); i++) {
        char there[8192];
        char back[8192];
        memset(there, job->number + i, sizeof there);
        veo_args_set_i32(args, 0, i);
        uint64_t ids[] = {
            veo_async_write_mem(job->ctx, at, there, sizeof there),
            veo_call_async(job->ctx, job->echo, args),
            veo_async_read_mem(job->ctx, back, at, sizeof back),
        };
        CHECK_EQUAL(wait_ok(job->ctx, ids[2]), 0);
        CHECK(memcmp(there, back, sizeof back) == 0);
        CHECK_EQUAL(wait_ok(job->ctx, ids[0]), 0);
        CHECK_EQUAL(wait_ok(job->ctx, ids[1]), i);
    }
    CHECK_EQUAL(veo_free_mem(job->f->proc, at), 0);
    veo_args_free(args);
    return NULL;
}

CASE(threads_mix_transfers_and_calls)
{
    struct fixture f = set_up();
    struct job jobs[3];
    void *arguments[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct job){.f = &f, .ctx = f.ctx, .echo = symbol(&f, "echo"), .number = i};
        arguments[i] = &jobs[i];
    }
    run_threads(3, transfer_and_call, arguments);
    tear_down(&f);
}

/* Names come, go with their library, and are asked for, at once. One thread asks for nothing else,
 * so that nothing but the lock of the names orders what it reads. */
static void *look_up(void *argument)
{
    static const char *const names[] = {"echo", "counter", "add_all", "nothing_of_the_kind"};
    const struct job *job = argument;
    struct veo_proc_handle *proc = job->f->proc;
    char text[256];
    for (int i = 0; i < rounds(500); i++) {
        if (job->number == 2) {
            veo_get_sym(proc, job->f->library, names[i % 3]);
            continue;
        }
        uint64_t address = veo_get_sym(proc, job->f->library, names[i % 4]);
        veosoft_signature(proc, address, text, sizeof text);
        if (job->number == 0 && i % 8 == 0) {
            uint64_t again = veo_load_library(proc, kernels_path());
            CHECK(again != 0);
            for (int k = 0; k < 4; k++)
                veo_get_sym(proc, again, names[k]);
            CHECK_EQUAL(veo_unload_library(proc, again), 0);
        }
    }
    return NULL;
}

CASE(threads_look_symbols_up_while_a_library_goes)
{
    struct fixture f = set_up();
    struct job jobs[3];
    void *arguments[3];
    veosoft_set_quiet(1);
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct job){.f = &f, .number = i};
        arguments[i] = &jobs[i];
    }
    run_threads(3, look_up, arguments);
    veosoft_set_quiet(0);
    tear_down(&f);
}

/* One thread makes the queue longer, chunk after chunk, while others walk along it. */
static void *submit_many(void *argument)
{
    const struct job *job = argument;
    struct veo_args *args = veo_args_alloc();
    for (int i = 0; i < rounds(4000); i++)
        CHECK(veo_call_async(job->ctx, job->echo, args) != VEO_REQUEST_ID_INVALID);
    veo_args_free(args);
    return NULL;
}

static void *ask_for_many(void *argument)
{
    const struct job *job = argument;
    uint64_t result;
    char text[256];
    for (uint64_t id = 0; id < (uint64_t)rounds(4000); id++) {
        veosoft_call_wait_timed(job->ctx, id + 200, &result, 1000);
        veosoft_call_cancel(job->ctx, id + 100);
        veosoft_waits_for(job->ctx, text, sizeof text);
    }
    return NULL;
}

CASE(a_queue_grows_while_threads_look_along_it)
{
    struct fixture f = set_up();
    struct job jobs[3];
    void *arguments[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct job){.f = &f, .ctx = f.ctx, .echo = symbol(&f, "echo"), .number = i};
        arguments[i] = &jobs[i];
    }
    pthread_t submitter;
    CHECK_EQUAL(pthread_create(&submitter, NULL, submit_many, arguments[0]), 0);
    run_threads(2, ask_for_many, &arguments[1]);
    CHECK_EQUAL(pthread_join(submitter, NULL), 0);
    veo_context_sync(f.ctx);
    tear_down(&f);
}
