/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: one host thread a context, started when first needed, for what has to run in the
 * host when its turn in the queue comes: VH functions, large transfers, and allocations that
 * found no room when they were submitted.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "common/futex.h"
#include "veo/lib/host.h"

struct agent {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct agent_job *first;
    struct agent_job **last;
    bool stop;
    _Atomic uint32_t orders; /* jobs ever queued, to be looked at without the lock */
    struct spin_patience patience;
};

/* The outcome of a transfer to or from a bad address is that of a kernel that touches it. */
static int execute(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result)
{
    int error;
    *result = 0;
    switch (job->kind) {
    case AGENT_FUNCTION: *result = job->function(job->argument); return VEO_COMMAND_OK;
    case AGENT_ALLOC:
        /* What was freed before is free once its request is harvested. */
        veolib_queue_harvest(ctx);
        *result = veolib_heap_get(ctx->proc, job->size);
        return VEO_COMMAND_OK;
    case AGENT_READ:
    case AGENT_WRITE:
        error = veolib_transfer_now(ctx->proc, job->argument, job->address, job->size,
                                    job->kind == AGENT_WRITE);
        if (!error)
            return VEO_COMMAND_OK;
        *result = error == EFAULT ? SIGSEGV : 0;
        return error == EFAULT ? VEO_COMMAND_EXCEPTION : VEO_COMMAND_ERROR;
    }
    return VEO_COMMAND_ERROR;
}

/* Looks for another job for a while, as one often follows the other. With the lock. */
static void look_out(struct agent *agent)
{
    uint32_t orders = atomic_load(&agent->orders);
    struct spin_turn turn = {0};
    pthread_mutex_unlock(&agent->lock);
    while (atomic_load_explicit(&agent->orders, memory_order_acquire) == orders &&
           spin_again(&turn, &veolib_root.side, &agent->patience))
        ;
    spin_end(&turn, &veolib_root.side);
    pthread_mutex_lock(&agent->lock);
}

/* With the lock: takes JOB out of the list. */
static void unlink_job(struct agent *agent, const struct agent_job *job)
{
    struct agent_job **at = &agent->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (!*at)
        agent->last = at;
}

/* With the lock: takes the oldest job out of the list if it is still request ID. */
static struct agent_job *claim(struct agent *agent, uint64_t id)
{
    struct agent_job *job = agent->first;
    if (!job || job->id != id)
        return NULL;
    unlink_job(agent, job);
    job->running = true;
    return job;
}

static void run_job(struct veo_thr_ctxt *ctx, struct agent_job *job)
{
    uint64_t result;
    int outcome = execute(ctx, job, &result);
    veolib_queue_host_done(ctx, job, outcome, result);
}

/* With the lock: waits for a job. NULL at the end. */
static const struct agent_job *next_job(struct veo_thr_ctxt *ctx, struct agent *agent)
{
    if (!agent->first && !agent->stop)
        look_out(agent);
    if (!agent->first && !agent->stop) {
        int64_t start = clock_now();
        while (!agent->first && !agent->stop)
            pthread_cond_wait(&agent->work, &agent->lock);
        spin_learn(&agent->patience, &veolib_root.side, clock_now() - start);
    }
    /* The jobs of a dead process are taken back by whoever waits for them. */
    while (!agent->stop && veolib_proc_is_dead(ctx->proc))
        pthread_cond_wait(&agent->work, &agent->lock);
    return agent->stop ? NULL : agent->first;
}

static void *agent_main(void *argument)
{
    struct veo_thr_ctxt *ctx = argument;
    struct agent *agent = ctx->agent;
    const struct agent_job *next;
    pthread_mutex_lock(&agent->lock);
    while ((next = next_job(ctx, agent))) {
        const struct wire_slot *slot = next->slot;
        uint64_t id = next->id;
        pthread_mutex_unlock(&agent->lock);

        bool mine = veolib_queue_wait_turn(ctx, slot, id);
        pthread_mutex_lock(&agent->lock);
        struct agent_job *job = mine ? claim(agent, id) : NULL;
        if (job) {
            pthread_mutex_unlock(&agent->lock);
            run_job(ctx, job);
            pthread_mutex_lock(&agent->lock);
        }
    }
    pthread_mutex_unlock(&agent->lock);
    return NULL;
}

static bool agent_start(struct veo_thr_ctxt *ctx)
{
    struct agent *agent = calloc(1, sizeof *agent);
    if (!agent)
        return false;
    pthread_mutex_init(&agent->lock, NULL);
    pthread_cond_init(&agent->work, NULL);
    agent->last = &agent->first;
    ctx->agent = agent;
    /* Signals are the business of the program's own threads. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&agent->thread, NULL, agent_main, ctx);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0) {
        pthread_mutex_destroy(&agent->lock);
        pthread_cond_destroy(&agent->work);
        free(agent);
        ctx->agent = NULL;
        return false;
    }
    return true;
}

uint64_t veolib_agent_submit(struct veo_thr_ctxt *ctx, const struct agent_job *order)
{
    struct draft draft;
    struct agent_job *job = malloc(sizeof *job);
    if (!job) {
        veolib_fail(ENOMEM, "no memory for the request");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_queue_begin(ctx, &draft)) {
        free(job);
        return VEO_REQUEST_ID_INVALID;
    }
    if (!ctx->agent && !agent_start(ctx)) {
        veolib_queue_abandon(ctx);
        free(job);
        veolib_fail(EAGAIN, "no thread for work in the host could be started");
        return VEO_REQUEST_ID_INVALID;
    }
    struct agent *agent = ctx->agent;
    *job = *order;
    job->next = NULL;
    job->id = draft.id;
    job->slot = draft.slot;
    draft.job = job;
    draft.slot->op = WIRE_HOST;

    /* With the submit lock, so that its jobs are in the order of ids; and before it is published,
     * as from then on it may be executed and freed. */
    pthread_mutex_lock(&agent->lock);
    *agent->last = job;
    agent->last = &job->next;
    atomic_fetch_add(&agent->orders, 1);
    pthread_cond_signal(&agent->work);
    pthread_mutex_unlock(&agent->lock);
    return veolib_queue_publish(ctx, &draft, NULL);
}

bool veolib_agent_cancel(struct veo_thr_ctxt *ctx, struct agent_job *job)
{
    struct agent *agent = ctx->agent;
    if (!agent)
        return true;
    pthread_mutex_lock(&agent->lock);
    bool cancelled = !job->running;
    if (cancelled)
        unlink_job(agent, job);
    pthread_mutex_unlock(&agent->lock);
    return cancelled;
}

void veolib_agent_job_free(struct agent_job *job)
{
    if (job)
        free(job->owned);
    free(job);
}

void veolib_agent_stop(struct veo_thr_ctxt *ctx)
{
    struct agent *agent = ctx->agent;
    if (!agent)
        return;
    pthread_mutex_lock(&agent->lock);
    agent->stop = true;
    atomic_fetch_add(&agent->orders, 1);
    pthread_cond_signal(&agent->work);
    pthread_mutex_unlock(&agent->lock);
    pthread_join(agent->thread, NULL);
    pthread_mutex_destroy(&agent->lock);
    pthread_cond_destroy(&agent->work);
    free(agent);
    ctx->agent = NULL;
}
