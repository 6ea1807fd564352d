/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: the threads that work on DPUs, no more of them than cores. */
#include "dpu/lib/core/core.h"
#include "common/cores.h"

#include <signal.h>

#define STACK_SIZE ((size_t)512 * 1024)

static struct {
    struct dpulib_item *first, *last;
    pthread_cond_t work;
    uint32_t threads, idle, active, limit;
} pool;

void dpulib_pool_reset(void)
{
    pool.first = pool.last = NULL;
    pool.threads = pool.idle = pool.active = 0;
    pthread_cond_init(&pool.work, NULL);
}

void dpulib_pool_set_limit(uint32_t threads)
{
    pool.limit = threads;
}

static uint32_t limit(void)
{
    if (pool.limit == 0)
        pool.limit = usable_cores();
    return pool.limit;
}

static void append(struct dpulib_item *item)
{
    item->next = NULL;
    if (pool.last == NULL)
        pool.first = item;
    else
        pool.last->next = item;
    pool.last = item;
}

static void take_out(struct dpulib_item *item)
{
    struct dpulib_item *before = NULL, *at = pool.first;
    while (at != item) {
        before = at;
        at = at->next;
    }
    if (before == NULL)
        pool.first = item->next;
    else
        before->next = item->next;
    if (pool.last == item)
        pool.last = before;
}

static void item_done(struct dpulib_item *item, dpu_error_t error)
{
    struct dpulib_job *job = item->job;
    struct dpu_t *dpu = item->dpu;
    if (dpu != NULL)
        dpulib_note_error(job, dpulib_dpu_index(dpu), error);
    if (dpu != NULL && job->operation->launch) {
        dpu->in_fault = dpu->status == DPUSOFT_FAULT;
        if (--dpu->launches == 0)
            dpu->interrupted = false;
    }
    if (--job->items_left == 0)
        dpulib_job_done(job);
}

/* Without the lock. Launches are of one DPU, as they may return DPULIB_AGAIN. */
static dpu_error_t run_item(const struct dpulib_item *item)
{
    struct dpulib_job *job = item->job;
    const struct dpulib_work *work = &job->operation->work;
    if (item->dpu == NULL) {
        dpulib_call(job);
        return DPU_OK;
    }
    if (item->span == 1)
        return work->run(item->dpu, work->argument);
    for (uint32_t i = 0; i < item->span; i++) {
        struct dpu_t *dpu = &item->dpu[i];
        dpu_error_t error = dpu->enabled ? work->run(dpu, work->argument) : DPU_OK;
        if (error == DPU_OK)
            continue;
        dpulib_lock();
        dpulib_note_error(job, dpulib_dpu_index(dpu), error);
        dpulib_unlock();
    }
    return DPU_OK;
}

/* Gives up the lock while it works. The item is not in the line. */
static void do_item(struct dpulib_item *item)
{
    dpu_error_t error;
    pool.active++;
    do {
        dpulib_unlock_and_release();
        error = run_item(item);
        dpulib_lock();
        /* A long launch goes on if nobody else needs the core. */
    } while (error == DPULIB_AGAIN && pool.first == NULL);
    pool.active--;
    if (error == DPULIB_AGAIN)
        append(item);
    else
        item_done(item, error);
    if (pool.first != NULL && pool.idle != 0)
        pthread_cond_signal(&pool.work);
    dpulib_changed();
}

static void *run(void *unused)
{
    (void)unused;
    dpulib_lock();
    for (;;) {
        if (pool.first != NULL && pool.active < limit()) {
            struct dpulib_item *item = pool.first;
            take_out(item);
            do_item(item);
            dpulib_unlock_and_release();
            dpulib_lock();
            continue;
        }
        /* Where there are no ranks, no threads are needed. */
        if (dpulib_ranks == NULL && pool.first == NULL)
            break;
        pool.idle++;
        dpulib_wait_on(&pool.work, NULL);
        pool.idle--;
    }
    pool.threads--;
    dpulib_unlock();
    return NULL;
}

void dpulib_pool_wake(void)
{
    pthread_cond_broadcast(&pool.work);
}

/* With all signals blocked: they are for the program's own threads. */
bool dpulib_make_thread(void *(*function)(void *))
{
    sigset_t all, old;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, function, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0;
}

static bool add_thread(void)
{
    if (pool.threads >= limit() || !dpulib_make_thread(run))
        return false;
    pool.threads++;
    return true;
}

bool dpulib_pool_is_ready(void)
{
    return pool.threads != 0 || add_thread();
}

void dpulib_pool_push(struct dpulib_item *item)
{
    append(item);
    if (pool.idle != 0)
        pthread_cond_signal(&pool.work);
    else
        add_thread();
    dpulib_changed();
}

bool dpulib_pool_help(const struct dpulib_operation *operation)
{
    if (pool.active >= limit())
        return false;
    struct dpulib_item *item = pool.first;
    while (item != NULL && item->job->operation != operation)
        item = item->next;
    if (item == NULL)
        return false;
    take_out(item);
    do_item(item);
    return true;
}
