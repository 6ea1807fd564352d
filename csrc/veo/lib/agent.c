/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/agent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/spin.h"
#include "veo/lib/error.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue_wait.h"

struct agent {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct list jobs; /* of struct agent_job, oldest first */
    bool stop;
    _Atomic uint32_t orders; /* jobs ever queued, read without the lock */
    struct spin_backoff backoff;
};

static struct agent_job *job_at(struct list_node *node)
{
    return node != NULL ? LIST_ENTRY(node, struct agent_job, node) : NULL;
}

/* --- the agent's thread --- */

/* Spins for another job, as one often follows the other. Releases the lock meanwhile. */
static void spin_for_job(struct agent *agent)
{
    uint32_t orders = atomic_load(&agent->orders);
    struct spin_wait wait = {0};
    pthread_mutex_unlock(&agent->lock);
    while (atomic_load_explicit(&agent->orders, memory_order_acquire) == orders &&
           spin_again(&wait, &veolib_spin_side, &agent->backoff))
        ;
    spin_end(&wait, &veolib_spin_side);
    pthread_mutex_lock(&agent->lock);
}

/* With the lock: removes the oldest job from the list if it is still request ID. */
static struct agent_job *claim(struct agent *agent, uint64_t id)
{
    struct agent_job *job = job_at(agent->jobs.first);
    if (job == NULL || job->base.id != id)
        return NULL;
    list_remove(&agent->jobs, &job->node);
    job->running = true;
    return job;
}

static void run_job(struct veo_thr_ctxt *ctx, struct agent_job *job)
{
    uint64_t result = 0;
    int outcome = job->run(ctx, job, &result);
    veolib_queue_host_done(ctx, &job->base, outcome, result);
}

static bool has_nothing_to_do(const struct agent *agent)
{
    return list_is_empty(&agent->jobs) && !agent->stop;
}

/* With the lock: waits for a job. NULL when the agent is to stop. */
static const struct agent_job *next_job(struct veo_thr_ctxt *ctx, struct agent *agent)
{
    if (has_nothing_to_do(agent))
        spin_for_job(agent);
    if (has_nothing_to_do(agent)) {
        int64_t start = clock_now();
        while (has_nothing_to_do(agent))
            pthread_cond_wait(&agent->work, &agent->lock);
        spin_learn(&agent->backoff, &veolib_spin_side, clock_now() - start);
    }

    /* The jobs of a dead process are cancelled by the threads that wait for them. */
    while (!agent->stop && veolib_worker_is_dead(&ctx->proc->worker))
        pthread_cond_wait(&agent->work, &agent->lock);
    return agent->stop ? NULL : job_at(agent->jobs.first);
}

static void *agent_main(void *argument)
{
    struct veo_thr_ctxt *ctx = argument;
    struct agent *agent = ctx->agent;
    const struct agent_job *next;
    pthread_mutex_lock(&agent->lock);
    while ((next = next_job(ctx, agent)) != NULL) {
        const struct wire_slot *slot = next->base.slot;
        uint64_t id = next->base.id;
        pthread_mutex_unlock(&agent->lock);

        bool mine = veolib_queue_wait_turn(ctx, slot, id);

        pthread_mutex_lock(&agent->lock);
        struct agent_job *job = mine ? claim(agent, id) : NULL;
        if (job != NULL) {
            pthread_mutex_unlock(&agent->lock);
            run_job(ctx, job);
            pthread_mutex_lock(&agent->lock);
        }
    }
    pthread_mutex_unlock(&agent->lock);
    return NULL;
}

static void destroy(struct veo_thr_ctxt *ctx)
{
    pthread_mutex_destroy(&ctx->agent->lock);
    pthread_cond_destroy(&ctx->agent->work);
    free(ctx->agent);
    ctx->agent = NULL;
}

/* With the submit lock. False without memory or threads. */
static bool start(struct veo_thr_ctxt *ctx)
{
    struct agent *agent = calloc(1, sizeof *agent);
    if (agent == NULL)
        return false;
    pthread_mutex_init(&agent->lock, NULL);
    pthread_cond_init(&agent->work, NULL);
    ctx->agent = agent;

    /* Signals are for the program's own threads. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&agent->thread, NULL, agent_main, ctx);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        destroy(ctx);
    return rc == 0;
}

void veolib_agent_stop(struct veo_thr_ctxt *ctx)
{
    struct agent *agent = ctx->agent;
    if (agent == NULL)
        return;

    pthread_mutex_lock(&agent->lock);
    agent->stop = true;
    atomic_fetch_add(&agent->orders, 1);
    pthread_cond_signal(&agent->work);
    pthread_mutex_unlock(&agent->lock);

    pthread_join(agent->thread, NULL);
    destroy(ctx);
}

/* --- jobs, as the queue sees them --- */

static bool cancel_job(struct veo_thr_ctxt *ctx, struct host_job *base)
{
    struct agent *agent = ctx->agent;
    struct agent_job *job = (struct agent_job *)base;
    if (agent == NULL)
        return true;

    pthread_mutex_lock(&agent->lock);
    bool cancelled = !job->running;
    if (cancelled)
        list_remove(&agent->jobs, &job->node);
    pthread_mutex_unlock(&agent->lock);
    return cancelled;
}

static void free_job(struct host_job *base)
{
    struct agent_job *job = (struct agent_job *)base;
    free(job->owned);
    free(job);
}

static const struct host_job_ops job_ops = {.cancel = cancel_job, .free = free_job};

/* --- submission --- */

static void enqueue(struct agent *agent, struct agent_job *job)
{
    pthread_mutex_lock(&agent->lock);
    list_append(&agent->jobs, &job->node);
    atomic_fetch_add(&agent->orders, 1);
    pthread_cond_signal(&agent->work);
    pthread_mutex_unlock(&agent->lock);
}

uint64_t veolib_agent_submit(struct veo_thr_ctxt *ctx, const struct agent_job *order)
{
    struct draft draft;
    struct agent_job *job = malloc(sizeof *job);
    if (job == NULL) {
        veolib_fail(ENOMEM, "out of memory (request)");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_queue_begin(ctx, &draft)) {
        free(job);
        return VEO_REQUEST_ID_INVALID;
    }
    if (ctx->agent == NULL && !start(ctx)) {
        veolib_queue_abandon(ctx);
        free(job);
        veolib_fail(EAGAIN, "cannot start the host thread that executes this request");
        return VEO_REQUEST_ID_INVALID;
    }

    *job = *order;
    job->base = (struct host_job){.ops = &job_ops, .slot = draft.slot, .id = draft.id};
    job->running = false;
    draft.job = &job->base;
    draft.slot->op = WIRE_HOST;

    /* With the submit lock, so that jobs are in the order of ids; and before it is published, as
     * from then on it may be executed and freed. */
    enqueue(ctx->agent, job);
    return veolib_queue_publish(ctx, &draft, NULL);
}

static int run_function(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result)
{
    (void)ctx;
    *result = job->function(job->argument);
    return VEO_COMMAND_OK;
}

uint64_t veolib_agent_submit_function(struct veo_thr_ctxt *ctx, uint64_t (*function)(void *),
                                      void *argument, void *owned)
{
    struct agent_job job = {
        .run = run_function, .function = function, .argument = argument, .owned = owned};
    return veolib_agent_submit(ctx, &job);
}
