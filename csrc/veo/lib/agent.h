/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.h: jobs that the host executes when their turn in a context's queue comes.
 *
 * VH functions, large transfers, and allocations that found no room when they were submitted. Each
 * context has one host thread for them, the agent, which starts with the first job. It blocks all
 * signals.
 */
#ifndef VEOLIB_AGENT_H
#define VEOLIB_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/list.h"
#include "veo/lib/queue.h"

struct agent_job {
    struct host_job base;
    struct list_node node; /* in the agent's list; under its lock */
    bool running;          /* taken out of the list; under its lock */
    /* Executes the job, on the agent's thread without locks. Returns the outcome (enum
     * veo_command_state); *RESULT is 0 before. */
    int (*run)(struct veo_thr_ctxt *ctx, const struct agent_job *job, uint64_t *result);
    uint64_t (*function)(void *); /* these are for run() */
    void *argument;
    uint64_t address;
    size_t size;
    void *owned; /* freed with the job, executed or not */
};

/* Submits a copy of ORDER, of which run() and what it needs are set. The request's id, or
 * VEO_REQUEST_ID_INVALID (error set); then the caller still has what the job owns. */
uint64_t veolib_agent_submit(struct veo_thr_ctxt *ctx, const struct agent_job *order);

/* Same, for a call of FUNCTION(ARGUMENT), whose value is the result. */
uint64_t veolib_agent_submit_function(struct veo_thr_ctxt *ctx, uint64_t (*function)(void *),
                                      void *argument, void *owned);

/* Ends the agent's thread, after the job that it is executing. */
void veolib_agent_stop(struct veo_thr_ctxt *ctx);

#endif
