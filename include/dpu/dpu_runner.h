/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_runner.h: booting and polling, below dpu_launch().
 *
 * What is booted here runs as a job in the rank's queue: the functions that boot return at once.
 */
#ifndef DPU_RUNNER_H
#define DPU_RUNNER_H

#include <pthread.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a tasklet run, from pc 0 or where it stopped (SHOULD_RESUME). The DPU must not run. */
dpu_error_t dpu_launch_thread_on_rank(struct dpu_rank_t *rank, dpu_thread_t thread,
                                      bool should_resume);
dpu_error_t dpu_launch_thread_on_dpu(struct dpu_t *dpu, dpu_thread_t thread, bool should_resume);

/* Launches, as dpu_launch() does asynchronously. */
dpu_error_t dpu_boot_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_boot_dpu(struct dpu_t *dpu);

/* As dpu_status(). */
dpu_error_t dpu_status_rank(struct dpu_rank_t *rank, bool *done, bool *fault);
dpu_error_t dpu_status_dpu(struct dpu_t *dpu, bool *done, bool *fault);

typedef struct _dpu_run_context_t {
    dpu_bitfield_t dpu_running[DPU_MAX_NR_CIS];
    dpu_bitfield_t dpu_in_fault[DPU_MAX_NR_CIS];
    dpu_error_t poll_status;
    uint8_t nb_dpu_running;
} *dpu_run_context_t;

/* Brings the rank's context up to date; dpu_get_run_context() returns it. */
dpu_error_t dpu_poll_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_poll_dpu(struct dpu_t *dpu, bool *dpu_is_running, bool *dpu_is_in_fault);
dpu_run_context_t dpu_get_run_context(struct dpu_rank_t *rank);

#ifdef __cplusplus
}
#endif

#endif
