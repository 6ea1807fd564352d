/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads at once. Also run under ThreadSanitizer, with fewer rounds. */
#include <pthread.h>

#include "cases.h"

#define THREADS 4

static int rounds(int otherwise)
{
    const char *text = getenv("ROUNDS_PERCENT");
    int n = text ? otherwise * atoi(text) / 100 : otherwise;
    return n ? n : 1;
}

static void run_threads(void *(*function)(void *), void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, function, argument), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

static void *use_own_set(void *unused)
{
    (void)unused;
    for (int i = 0; i < rounds(60); i++) {
        struct dpu_set_t set = allocate(i % 2 == 0 ? 3 : 66, NULL), dpu;
        load_loop(set, 50);
        for (int k = 0; k < 3; k++)
            CHECK_OK(dpu_launch(set, k == 1 ? DPU_SYNCHRONOUS : DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_sync(set));
        DPU_FOREACH(set, dpu)
        {
            CHECK_EQUAL(read_counter(dpu), 3);
        }
        CHECK_OK(dpu_free(set));
    }
    return NULL;
}

CASE(threads_have_sets)
{
    run_threads(use_own_set, NULL);
}

static dpu_error_t count_up(struct dpu_set_t set, uint32_t index, void *argument)
{
    (void)set, (void)index;
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_RELAXED);
    return DPU_OK;
}

struct shared {
    struct dpu_set_t set;
    int calls;
};

static void *use_shared_set(void *argument)
{
    struct shared *shared = argument;
    bool done, fault;
    for (int i = 0; i < rounds(100); i++) {
        CHECK_OK(dpu_launch(shared->set, DPU_ASYNCHRONOUS));
        CHECK_OK(dpu_launch(shared->set, DPU_SYNCHRONOUS));
        CHECK_OK(dpu_callback(shared->set, count_up, &shared->calls, DPU_CALLBACK_ASYNC));
        CHECK_OK(
            dpu_callback(shared->set, count_up, &shared->calls,
                         (dpu_callback_flags_t)(DPU_CALLBACK_ASYNC | DPU_CALLBACK_SINGLE_CALL)));
        CHECK_OK(
            dpu_callback(shared->set, count_up, &shared->calls,
                         (dpu_callback_flags_t)(DPU_CALLBACK_ASYNC | DPU_CALLBACK_NONBLOCKING)));
        CHECK_OK(dpu_callback(shared->set, count_up, &shared->calls, DPU_CALLBACK_DEFAULT));
        CHECK_OK(dpu_status(shared->set, &done, &fault));
        CHECK_TRUE(!fault);
        CHECK_OK(dpu_sync(shared->set));
    }
    return NULL;
}

CASE(threads_share_a_set)
{
    struct shared shared = {.set = allocate(66, NULL)};
    struct dpu_set_t dpu;
    load_loop(shared.set, 20);
    run_threads(use_shared_set, &shared);
    CHECK_OK(dpu_sync(shared.set));
    CHECK_EQUAL(shared.calls, 7 * THREADS * rounds(100));
    DPU_FOREACH(shared.set, dpu)
    {
        CHECK_EQUAL(read_counter(dpu), 2 * THREADS * rounds(100));
    }
    CHECK_OK(dpu_free(shared.set));
}

static void *load_and_launch(void *argument)
{
    const struct dpu_set_t *set = argument;
    for (int i = 0; i < rounds(100); i++) {
        load_command(*set, COUNT);
        CHECK_OK(dpu_launch(*set, DPU_SYNCHRONOUS));
        CHECK_TRUE(dpu_get_program(first_dpu(*set).dpu) != NULL);
    }
    return NULL;
}

CASE(threads_load_one_set)
{
    struct dpu_set_t set = allocate(5, NULL);
    load_command(set, COUNT);
    run_threads(load_and_launch, &set);
    CHECK_OK(dpu_free(set));
}

static void *free_it(void *argument)
{
    const struct dpu_set_t *set = argument;
    dpu_error_t status = dpu_free(*set);
    CHECK_TRUE(status == DPU_OK || status == DPU_ERR_INVALID_DPU_SET);
    return status == DPU_OK ? argument : NULL;
}

CASE(a_set_is_freed_once)
{
    for (int i = 0; i < rounds(100); i++) {
        struct dpu_set_t set = allocate(66, NULL);
        load_loop(set, 1000);
        CHECK_OK(dpu_launch(set, DPU_ASYNCHRONOUS));
        pthread_t threads[THREADS];
        int freed = 0;
        for (int k = 0; k < THREADS; k++)
            CHECK_EQUAL(pthread_create(&threads[k], NULL, free_it, &set), 0);
        for (int k = 0; k < THREADS; k++) {
            void *result;
            CHECK_EQUAL(pthread_join(threads[k], &result), 0);
            freed += result != NULL;
        }
        CHECK_EQUAL(freed, 1);
    }
}

static void *launch_until_freed(void *argument)
{
    const struct dpu_set_t *set = argument;
    for (;;) {
        dpu_error_t status = dpu_launch(*set, DPU_SYNCHRONOUS);
        if (status == DPU_ERR_INVALID_DPU_SET)
            return NULL;
        CHECK_EQUAL(status, DPU_OK);
    }
}

CASE(a_set_is_freed_while_it_is_used)
{
    for (int i = 0; i < rounds(40); i++) {
        struct dpu_set_t set = allocate(3, NULL);
        pthread_t threads[THREADS];
        load_loop(set, 100);
        for (int k = 0; k < THREADS; k++)
            CHECK_EQUAL(pthread_create(&threads[k], NULL, launch_until_freed, &set), 0);
        CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
        CHECK_OK(dpu_free(set));
        for (int k = 0; k < THREADS; k++)
            CHECK_EQUAL(pthread_join(threads[k], NULL), 0);
    }
}

static void *interrupt_it(void *argument)
{
    const struct dpu_set_t *set = argument;
    for (int i = 0; i < rounds(500); i++)
        CHECK_OK(dpusoft_interrupt(*set));
    return NULL;
}

CASE(interruptions_and_launches)
{
    struct dpu_set_t set = allocate(5, NULL);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, interrupt_it, &set), 0);
    for (int i = 0; i < rounds(200); i++) {
        load_loop(set, 1000);
        dpu_error_t status = dpu_launch(set, DPU_SYNCHRONOUS);
        CHECK_TRUE(status == DPU_OK || status == DPU_ERR_TIMEOUT);
    }
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    load_command(set, COUNT);
    CHECK_OK(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK_OK(dpu_free(set));
}
