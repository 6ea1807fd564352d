/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libveo tsan
 *
 * Locks and memory orders of a context's queue and of the table of symbols. Threads of this program
 * are the host's threads and the worker, and nothing else orders them, so that ThreadSanitizer sees
 * each lock or order that is missing.
 */
#include "veo/lib/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/check.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/symbol_table.h"

static struct veo_proc_handle proc;
static struct veo_thr_ctxt ctx;
static pthread_barrier_t start; /* the threads have nothing in common after it */

static void queue_make(void)
{
    pthread_mutexattr_t recursive;
    uint64_t wire = veolib_wire_get(&proc.memory, sizeof *ctx.wire);
    CHECK(wire != 0);
    memset(&ctx, 0, sizeof ctx);
    ctx.proc = &proc;
    ctx.wire = memset((void *)(uintptr_t)wire, 0, sizeof *ctx.wire);
    CHECK(pthread_mutexattr_init(&recursive) == 0);
    CHECK(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&ctx.submit, &recursive) == 0);
    CHECK(pthread_mutex_init(&ctx.queue, NULL) == 0);
    CHECK(veolib_queue_init(&ctx));
}

static void queue_end(void)
{
    veolib_queue_free(&ctx);
    veolib_wire_put(&proc.memory, (uint64_t)(uintptr_t)ctx.wire);
    pthread_mutex_destroy(&ctx.queue);
    pthread_mutex_destroy(&ctx.submit);
}

static void beside(void *(*other)(void *), void (*own)(void))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    pthread_barrier_wait(&start);
    own();
    CHECK(pthread_join(thread, NULL) == 0);
}

/* --- a page of results is reserved while another thread fetches some --- */

static void *fetch_results(void *unused)
{
    pthread_barrier_wait(&start);
    for (uint64_t id = 0; id < RESULT_PAGE / 2; id++) {
        uint64_t result;
        CHECK(veolib_queue_peek(&ctx, id, &result) == VEO_COMMAND_OK && result == 7 * id);
    }
    return unused;
}

static void reserve_a_page(void)
{
    struct draft draft;
    CHECK(veolib_queue_begin(&ctx, &draft));
    CHECK(draft.id == RESULT_PAGE);
    veolib_queue_abandon(&ctx);
}

static void test_results_are_reserved_with_the_lock(void)
{
    queue_make();
    for (uint64_t id = 0; id < RESULT_PAGE; id++)
        CHECK(veolib_queue_done(&ctx, VEO_COMMAND_OK, 7 * id) == id);
    beside(fetch_results, reserve_a_page);
    queue_end();
}

/* --- requests over several chunks, executed and harvested while others are submitted --- */

enum { REQUESTS = 3 * WIRE_CHUNK_SLOTS + 1 };

/* As the worker does, from slot to slot and from chunk to chunk. */
static void *work(void *unused)
{
    pthread_barrier_wait(&start);
    struct wire_chunk *chunk = ctx.wire->first;
    for (uint64_t id = 0; id < REQUESTS; id++) {
        struct wire_slot *slot = &chunk->slots[id % WIRE_CHUNK_SLOTS];
        while (atomic_load_explicit(&slot->state, memory_order_acquire) !=
               WIRE_STATE(id, WIRE_READY))
            sched_yield();
        if (id % WIRE_CHUNK_SLOTS == WIRE_CHUNK_SLOTS - 1)
            chunk = chunk->next;
        slot->outcome = VEO_COMMAND_OK;
        slot->result = slot->target + 1;
        atomic_store_explicit(&slot->state, WIRE_STATE(id, WIRE_DONE), memory_order_release);
    }
    return unused;
}

static void *harvest_all(void *unused)
{
    pthread_barrier_wait(&start);
    while (atomic_load_explicit(&ctx.harvested, memory_order_relaxed) < REQUESTS / 2)
        veolib_queue_harvest(&ctx);
    for (uint64_t id = 0; id < REQUESTS; id++) {
        uint64_t result;
        int state;
        while (atomic_load_explicit(&ctx.next_id, memory_order_relaxed) <= id)
            sched_yield();
        while ((state = veolib_queue_peek(&ctx, id, &result)) == VEO_COMMAND_UNFINISHED)
            sched_yield();
        CHECK(state == VEO_COMMAND_OK && result == id + 1);
    }
    return unused;
}

static void submit_all(void)
{
    for (uint64_t id = 0; id < REQUESTS; id++)
        CHECK(veolib_queue_simple(&ctx, WIRE_NOP, id, NULL) == id);
}

static void submit_beside_the_worker(void)
{
    pthread_t worker;
    CHECK(pthread_create(&worker, NULL, work, NULL) == 0);
    pthread_barrier_wait(&start);
    submit_all();
    CHECK(pthread_join(worker, NULL) == 0);
}

static void test_chunks_follow_each_other(void)
{
    pthread_t harvester;
    queue_make();
    pthread_barrier_destroy(&start);
    CHECK(pthread_barrier_init(&start, NULL, 3) == 0);
    CHECK(pthread_create(&harvester, NULL, harvest_all, NULL) == 0);
    submit_beside_the_worker();
    CHECK(pthread_join(harvester, NULL) == 0);
    CHECK(veolib_queue_is_empty(&ctx));
    pthread_barrier_destroy(&start);
    CHECK(pthread_barrier_init(&start, NULL, 2) == 0);
    queue_end();
}

/* --- a chunk whose last request the host executes: the worker reads the slot after its end --- */

static bool job_cancel(struct veo_thr_ctxt *context, struct host_job *job)
{
    (void)context;
    (void)job;
    return false;
}

static void job_free(struct host_job *job)
{
    (void)job;
}

static const struct host_job_ops job_ops = {.cancel = job_cancel, .free = job_free};
static struct host_job jobs[WIRE_CHUNK_SLOTS];

static void *look_at_slots(void *unused)
{
    pthread_barrier_wait(&start);
    struct wire_chunk *chunk = ctx.wire->first;
    for (uint64_t id = 0; id < WIRE_CHUNK_SLOTS; id++) {
        struct wire_slot *slot = &chunk->slots[id];
        while (atomic_load_explicit(&slot->state, memory_order_acquire) !=
               WIRE_STATE(id, WIRE_DONE))
            sched_yield();
        CHECK(slot->op == WIRE_HOST);
    }
    CHECK(chunk->next != NULL);
    atomic_store_explicit(&ctx.wire->left, WIRE_CHUNK_SLOTS, memory_order_release);
    return unused;
}

static void use_a_chunk_again(void)
{
    struct draft draft;
    struct wire_slot *first = ctx.wire->first->slots;
    for (uint64_t id = 0; id < WIRE_CHUNK_SLOTS; id++) {
        CHECK(veolib_queue_begin(&ctx, &draft));
        draft.slot->op = WIRE_HOST;
        draft.job = &jobs[id];
        jobs[id] = (struct host_job){.ops = &job_ops, .slot = draft.slot, .id = id};
        CHECK(veolib_queue_publish(&ctx, &draft, NULL) == id);
        veolib_queue_host_done(&ctx, &jobs[id], VEO_COMMAND_OK, id);
    }

    /* Relaxed: what orders the worker and this thread is what the queue does. */
    while (atomic_load_explicit(&ctx.wire->left, memory_order_relaxed) == 0)
        sched_yield();
    CHECK(veolib_queue_is_idle(&ctx));

    /* The chunk after the next is the first one again. */
    for (uint64_t id = WIRE_CHUNK_SLOTS; id < 2 * WIRE_CHUNK_SLOTS; id++)
        CHECK(veolib_queue_simple(&ctx, WIRE_NOP, 0, NULL) == id);
    CHECK(veolib_queue_begin(&ctx, &draft));
    CHECK(draft.slot == first);
    draft.slot->op = WIRE_NOP;
    veolib_queue_abandon(&ctx);
}

static void test_chunks_are_used_again_when_the_worker_has_left_them(void)
{
    queue_make();
    beside(look_at_slots, use_a_chunk_again);
    queue_end();
}

/* --- symbols --- */

static void *look_symbols_up(void *unused)
{
    pthread_barrier_wait(&start);
    for (int i = 0; i < 10; i++) {
        uint64_t address = veolib_symbol_known(&proc, 1, "name");
        CHECK(address == 0 || address == 4096);
    }
    return unused;
}

static void remember_a_symbol(void)
{
    veolib_symbol_remember(&proc, 1, "name", 4096, "");
}

static void test_symbols_are_added_with_the_lock(void)
{
    beside(look_symbols_up, remember_a_symbol);
    CHECK(veolib_symbol_known(&proc, 1, "name") == 4096);
    CHECK(veolib_symbol_known(&proc, 2, "name") == 0);
    veolib_symbols_forget(&proc, true, 0);
    CHECK(veolib_symbol_known(&proc, 1, "name") == 0);
}

int main(void)
{
    CHECK(pthread_barrier_init(&start, NULL, 2) == 0);
    CHECK(pthread_mutex_init(&proc.symbols_lock, NULL) == 0);
    veolib_memory_init(&proc.memory);
    veolib_worker_init(&proc.worker);
    CHECK(veolib_memory_map(&proc.memory));
    proc.worker.header = proc.memory.header;

    test_results_are_reserved_with_the_lock();
    test_chunks_follow_each_other();
    test_chunks_are_used_again_when_the_worker_has_left_them();
    test_symbols_are_added_with_the_lock();

    veolib_memory_unmap(&proc.memory);
    return 0;
}
