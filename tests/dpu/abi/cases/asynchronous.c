/* SPDX-License-Identifier: BSD-3-Clause */
/* Queued work: launches, callbacks, waiting, making an end. */
#include "cases.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLISECOND INT64_C(1000000)

CASE(launches_queue_up)
{
    struct dpu_set_t set = allocate(66, NULL), dpu;
    bool done, fault;
    load_loop(set, 100);
    for (int i = 0; i < 5; i++)
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(done && !fault);
    DPU_FOREACH(set, dpu)
    {
        CHECK_EQUAL(read_counter(dpu), 5);
    }
    /* A synchronous call waits for what is queued. */
    for (int i = 0; i < 3; i++)
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_launch(first_dpu(set), DPU_SYNCHRONOUS));
    CHECK_EQUAL(read_counter(first_dpu(set)), 9);
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_free(set));
}

CASE(sync_reports_a_fault_once)
{
    struct dpu_set_t set = allocate(66, NULL);
    bool done, fault;
    load_command(set, COUNT);
    load_command(first_dpu(set), ASSERT);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_DPU_FAULT);
    CHECK_DETAIL("assert failed");
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(done && fault);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_OK(dpu_free(set));
}

CASE(a_kernel_that_does_not_end_can_be_stopped)
{
    struct dpu_set_t set = allocate(3, NULL), dpu = first_dpu(set);
    bool done = true, fault;
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpusoft_wait(set, 20 * MILLISECOND, &done));
    CHECK_TRUE(!done);
    CHECK_OK(dpu_status(set, &done, &fault));
    CHECK_TRUE(!done && !fault);
    CHECK_OK(dpusoft_interrupt(set));
    CHECK_OK(dpusoft_wait(set, 10000 * MILLISECOND, &done));
    CHECK_TRUE(done);
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_DETAIL("interrupted");
    CHECK_EQUAL(read_report(dpu).status, DPUSOFT_INTERRUPTED);
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_TIMEOUT);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    /* Nothing runs: nothing happens, now or later. */
    CHECK_OK(dpusoft_interrupt(set));
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_OK(dpusoft_wait(set, -1, &done));
    CHECK_TRUE(done);
    CHECK_OK(dpusoft_wait(set, 0, NULL));
    CHECK_OK(dpu_free(set));
}

CASE(what_a_set_waits_for_is_said)
{
    struct dpu_set_t set = allocate(3, NULL), dpu = first_dpu(set);
    char text[256] = "something";
    bool done;
    CHECK_OK(dpusoft_waits_for(set, text, sizeof text));
    CHECK_TRUE(*text == 0);
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_launch(dpu, DPU_ASYNCHRONOUS));
    CHECK_OK(dpusoft_waits_for(dpu, text, sizeof text));
    CHECK_TRUE(strstr(text, "has a launch of 3 DPUs, submitted 0.") != NULL);
    CHECK_TRUE(strstr(text, "; 1 more behind it") != NULL);
    CHECK_OK(dpusoft_waits_for(set, text, 8));
    CHECK_EQUAL(strlen(text), 7);
    CHECK_EQUAL(dpusoft_waits_for(set, NULL, 8), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_EQUAL(dpusoft_waits_for(set, text, 0), DPU_ERR_INVALID_BUFFER_SIZE);
    CHECK_OK(dpusoft_interrupt(set));
    CHECK_OK(dpusoft_wait(set, 10000 * MILLISECOND, &done));
    CHECK_OK(dpusoft_waits_for(set, text, sizeof text));
    CHECK_TRUE(*text == 0);
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_free(set));
}

CASE(one_of_many_can_be_stopped)
{
    struct dpu_set_t set = allocate(3, NULL), dpu = first_dpu(set);
    load_command(set, COUNT);
    load_command(dpu, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpusoft_interrupt(dpu));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    struct dpu_set_t other = dpu_set_from_dpu(dpu_get(set.list.ranks[0], 1, 0));
    CHECK_EQUAL(read_counter(other), 1);
    CHECK_OK(dpu_free(set));
}

/* --- callbacks --- */

struct seen {
    pthread_mutex_t lock;
    int calls, with_index[3], whole;
    uint32_t counter;
    dpu_error_t answer;
    struct dpu_set_t of;
};

static dpu_error_t note(struct dpu_set_t set, uint32_t index, void *argument)
{
    struct seen *seen = argument;
    uint32_t counter = read_counter(first_dpu(set));
    pthread_mutex_lock(&seen->lock);
    seen->calls++;
    if (index == UINT32_MAX)
        seen->whole++;
    else
        seen->with_index[index]++;
    seen->counter = counter;
    seen->of = set;
    pthread_mutex_unlock(&seen->lock);
    return seen->answer;
}

CASE(callbacks_are_called_for_each_rank)
{
    static const unsigned flags[] = {
        DPU_CALLBACK_DEFAULT,
        DPU_CALLBACK_ASYNC,
        DPU_CALLBACK_ASYNC | DPU_CALLBACK_NONBLOCKING,
        DPU_CALLBACK_ASYNC | DPU_CALLBACK_PARALLEL,
        DPU_CALLBACK_PARALLEL,
    };
    struct dpu_set_t set = allocate(130, NULL);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
        CHECK_OK(dpu_callback(set, note, &seen, (dpu_callback_flags_t)flags[i]));
        if ((flags[i] & DPU_CALLBACK_ASYNC) != 0)
            CHECK_OK(dpu_sync(set));
        CHECK_EQUAL(seen.calls, 3);
        for (int k = 0; k < 3; k++)
            CHECK_EQUAL(seen.with_index[k], 1);

        seen = (struct seen){.lock = PTHREAD_MUTEX_INITIALIZER};
        CHECK_OK(dpu_callback(set, note, &seen,
                              (dpu_callback_flags_t)(flags[i] | DPU_CALLBACK_SINGLE_CALL)));
        CHECK_OK(dpu_sync(set));
        CHECK_TRUE(seen.calls == 1 && seen.whole == 1);
        CHECK_TRUE(seen.of.list.ranks == set.list.ranks && seen.of.list.nr_ranks == 3);

        seen = (struct seen){.lock = PTHREAD_MUTEX_INITIALIZER};
        struct dpu_set_t dpu = first_dpu(set);
        CHECK_OK(dpu_callback(dpu, note, &seen, (dpu_callback_flags_t)flags[i]));
        CHECK_OK(dpu_sync(dpu));
        CHECK_TRUE(seen.calls == 1 && seen.whole == 1 && seen.of.dpu == dpu.dpu);
    }
    CHECK_EQUAL(dpu_callback(set, note, NULL, DPU_CALLBACK_NONBLOCKING),
                DPU_ERR_NONBLOCKING_SYNC_CALLBACK);
    CHECK_TRUE(dpu_callback(set, NULL, NULL, DPU_CALLBACK_DEFAULT) != DPU_OK);
    CHECK_OK(dpu_free(set));
}

CASE(callbacks_have_their_place_in_the_queue)
{
    struct dpu_set_t set = allocate(2, NULL);
    struct seen seen[3];
    load_loop(set, 200000);
    for (int i = 0; i < 3; i++) {
        seen[i] = (struct seen){.lock = PTHREAD_MUTEX_INITIALIZER};
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_callback(set, note, &seen[i], DPU_CALLBACK_ASYNC));
    }
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_sync(set));
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQUAL(seen[i].counter, i + 1);
    CHECK_EQUAL(read_counter(first_dpu(set)), 4);
    CHECK_OK(dpu_free(set));
}

CASE(an_error_of_a_callback_is_told_by_sync)
{
    struct dpu_set_t set = allocate(66, NULL);
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .answer = DPU_ERR_TIMEOUT};
    load_command(set, COUNT);
    CHECK_EQUAL(dpu_callback(set, note, &seen, DPU_CALLBACK_DEFAULT), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_callback(set, note, &seen, DPU_CALLBACK_ASYNC));
    CHECK_EQUAL((uint32_t)dpu_sync(set), 0x80000000U | 18 << 16 | DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_sync(set));
    CHECK_OK(dpu_free(set));
}

struct at_work {
    struct dpu_set_t set;
    dpu_error_t launch, freed, sync;
    uint32_t counter;
};

static dpu_error_t use_set(struct dpu_set_t set, uint32_t index, void *argument)
{
    struct at_work *work = argument;
    (void)index;
    work->launch = dpu_launch(set, DPU_SYNCHRONOUS);
    work->counter = read_counter(first_dpu(set));
    work->freed = dpu_free(work->set);
    work->sync = dpu_sync(set);
    return dpu_launch(set, DPU_ASYNCHRONOUS);
}

CASE(callbacks_may_use_their_set)
{
    struct dpu_set_t set = allocate(2, NULL);
    load_command(set, COUNT);
    const unsigned flags[] = {0, DPU_CALLBACK_ASYNC, DPU_CALLBACK_ASYNC | DPU_CALLBACK_NONBLOCKING,
                              DPU_CALLBACK_SINGLE_CALL};
    for (uint32_t i = 0; i < 4; i++) {
        struct at_work work = {.set = set};
        /* A nonblocking one holds nothing; the set could be freed under it. */
        if ((flags[i] & DPU_CALLBACK_NONBLOCKING) != 0)
            work.set = first_dpu(set);
        CHECK_OK(dpu_callback(set, use_set, &work, (dpu_callback_flags_t)flags[i]));
        CHECK_OK(dpu_sync(set));
        CHECK_EQUAL(work.launch, DPU_OK);
        CHECK_EQUAL(work.sync, DPU_OK);
        CHECK_EQUAL(work.freed, DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(work.counter, 2 * i + 1);
        CHECK_EQUAL(read_counter(first_dpu(set)), 2 * i + 2);
    }
    CHECK_OK(dpu_free(set));
}

static dpu_error_t stop_it(struct dpu_set_t set, uint32_t index, void *argument)
{
    (void)index, (void)argument;
    return dpusoft_interrupt(set);
}

CASE(a_parallel_callback_runs_beside_a_launch)
{
    struct dpu_set_t set = allocate(2, NULL);
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_callback(set, stop_it, NULL, DPU_CALLBACK_PARALLEL));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_callback(set, stop_it, NULL,
                          (dpu_callback_flags_t)(DPU_CALLBACK_PARALLEL | DPU_CALLBACK_ASYNC)));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_free(set));
}

/* --- limits --- */

CASE(a_rank_without_threads_is_synchronous)
{
    struct dpu_set_t set = allocate(1, "nrThreadsPerRank=0");
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_EQUAL(dpu_launch(set, DPU_ASYNCHRONOUS), DPU_ERR_NO_THREAD_PER_RANK);
    CHECK_EQUAL(dpu_callback(set, note, NULL, DPU_CALLBACK_ASYNC), DPU_ERR_NO_THREAD_PER_RANK);
    CHECK_EQUAL(read_counter(first_dpu(set)), 1);
    CHECK_OK(dpu_free(set));
}

CASE(a_full_queue_makes_its_user_wait)
{
    struct dpu_set_t set = allocate(66, "nrJobsPerRank=1");
    load_loop(set, 1000);
    for (int i = 0; i < 50; i++)
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_sync(set));
    CHECK_EQUAL(read_counter(first_dpu(set)), 50);
    CHECK_OK(dpu_free(set));
}

CASE(room_in_a_queue_is_waited_for_up_to_a_limit)
{
    struct dpu_set_t set = allocate(66, "nrJobsPerRank=1");
    struct dpu_set_t last = dpu_set_from_dpu(dpu_get(set.list.ranks[1], 0, 0));
    bool room = false;
    load_command(set, SPIN);
    CHECK_OK(dpusoft_wait_for_room(set, 0, &room));
    CHECK_TRUE(room);
    CHECK_OK(dpu_launch(last, DPU_ASYNCHRONOUS));
    CHECK_OK(dpusoft_wait_for_room(set, 20 * MILLISECOND, &room));
    CHECK_TRUE(!room);
    CHECK_OK(dpusoft_wait_for_room(dpu_set_from_rank(&set.list.ranks[0]), 0, &room));
    CHECK_TRUE(room);
    CHECK_OK(dpusoft_interrupt(last));
    CHECK_OK(dpusoft_wait_for_room(set, -1, NULL));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_free(set));
    CHECK_EQUAL(dpusoft_wait_for_room(set, 0, &room), DPU_ERR_INVALID_DPU_SET);
}

CASE(dpus_take_turns)
{
    /* More endless programs than threads, and one that ends. */
    struct dpu_set_t set = allocate(64, "softThreads=1");
    struct dpu_set_t last = dpu_set_from_dpu(dpu_get(set.list.ranks[0], 7, 7));
    load_command(set, SPIN);
    load_command(last, COUNT);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    double start = seconds_now();
    bool done = false;
    while (!done) {
        CHECK_OK(dpu_status(last, &done, NULL));
        CHECK_TRUE(seconds_now() - start < 30);
        usleep(1000);
    }
    CHECK_OK(dpusoft_interrupt(set));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_TIMEOUT);
    CHECK_OK(dpu_free(set));
}

CASE(freeing_waits_for_what_is_queued)
{
    struct dpu_set_t set = allocate(66, NULL);
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    load_loop(set, 100000);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_OK(dpu_callback(set, note, &seen, DPU_CALLBACK_ASYNC));
    CHECK_OK(dpu_free(set));
    CHECK_EQUAL(seen.calls, 2);
}

/* --- processes --- */

CASE(the_program_may_end_while_dpus_run)
{
    struct dpu_set_t set = allocate(66, NULL);
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
}

CASE(the_program_can_be_killed_while_dpus_run)
{
    struct dpu_set_t set = allocate(66, NULL);
    load_command(set, SPIN);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    puts("running");
    fflush(stdout);
    CHECK_OK(dpu_sync(set));
}

CASE(a_forked_child_has_its_own_ranks_only)
{
    struct dpu_set_t set = allocate(66, NULL), dpu = first_dpu(set);
    load_loop(set, 3000000);
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    pid_t child = fork();
    CHECK_TRUE(child >= 0);
    if (child == 0) {
        CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_INVALID_DPU_SET);
        CHECK_DETAIL("forked");
        CHECK_EQUAL(dpu_sync(dpu), DPU_ERR_INVALID_DPU_SET);
        CHECK_EQUAL(dpu_free(set), DPU_ERR_INVALID_DPU_SET);
        struct dpu_set_t own = allocate(66, NULL);
        CHECK_EQUAL(dpu_get_rank_id(own.list.ranks[0]), 0);
        load_command(own, COUNT);
        CHECK_OK(dpu_launch(own, DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_sync(own));
        CHECK_EQUAL(read_counter(first_dpu(own)), 1);
        CHECK_OK(dpu_free(own));
        _exit(0);
    }
    int status;
    CHECK_TRUE(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    CHECK_OK(dpu_sync(set));
    CHECK_EQUAL(read_counter(dpu), 1);
    CHECK_OK(dpu_free(set));
}

static int count_threads(void)
{
    char line[256];
    int count = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK_TRUE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %d", &count) == 1)
            break;
    fclose(file);
    return count;
}

static void *tell_thread(void *context)
{
    *(pid_t *)context = gettid();
    return NULL;
}

/* A sanitizer has a thread of its own from the first one on that the program makes. */
static void make_a_thread_and_wait_for_its_end(void)
{
    pthread_t thread;
    pid_t id = 0;
    char path[64];
    CHECK_TRUE(pthread_create(&thread, NULL, tell_thread, &id) == 0);
    CHECK_TRUE(pthread_join(thread, NULL) == 0);

    /* It can be joined before the system has forgotten it. */
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)id);
    double start = seconds_now();
    while (access(path, F_OK) == 0) {
        CHECK_TRUE(seconds_now() - start < 3);
        usleep(1000);
    }
}

CASE(no_thread_outlives_the_last_set)
{
    make_a_thread_and_wait_for_its_end();
    int before = count_threads();
    for (int i = 0; i < 3; i++) {
        struct dpu_set_t set = allocate(66, NULL);
        struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
        load_command(set, COUNT);
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_callback(set, note, &seen, DPU_CALLBACK_ASYNC));
        CHECK_OK(dpu_free(set));
        double start = seconds_now();
        while (count_threads() > before) {
            CHECK_TRUE(seconds_now() - start < 3);
            usleep(1000);
        }
    }
}

/* --- for tests that look at the program from outside --- */

CASE(writes_its_programs)
{
    write_program("count.dpu", COUNT);
    write_program("assert.dpu", ASSERT);
}

/* So many DPUs that not all are shown. */
CASE(shows_many_faults)
{
    struct dpu_set_t set = allocate(70, NULL);
    CHECK_OK(dpu_load(set, "assert.dpu", NULL));
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_DETAIL("DPU 0.0.0 (id 0x0): tasklet 0 at ");
    CHECK_DETAIL("; 69 more DPUs failed as well");
    CHECK_OK(dpu_load(set, "count.dpu", NULL));
    CHECK_OK(dpu_load(first_dpu(set), "assert.dpu", NULL));
    CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK_EQUAL(dpu_sync(set), DPU_ERR_DPU_FAULT);
    CHECK_TRUE(strstr(dpusoft_last_error_detail(), "more DPU") == NULL);
    CHECK_OK(dpu_free(set));
}

CASE(shows_a_fault)
{
    struct dpu_set_t set = allocate(2, NULL);
    CHECK_OK(dpu_load(set, "count.dpu", NULL));
    CHECK_OK(dpu_load(first_dpu(set), "assert.dpu", NULL));
    CHECK_EQUAL(dpu_launch(set, DPU_SYNCHRONOUS), DPU_ERR_DPU_FAULT);
    CHECK_EQUAL(dpu_alloc(0, "someKey=5", &set), DPU_ERR_ALLOCATION);
}
