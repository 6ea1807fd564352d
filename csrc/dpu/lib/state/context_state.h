/* SPDX-License-Identifier: BSD-3-Clause */
/* context_state.h: between a machine and a dpu_context_t, which may come from anywhere. */
#ifndef OFFCHIP_DPU_CONTEXT_STATE_H
#define OFFCHIP_DPU_CONTEXT_STATE_H

#include "dpu/machine/machine.h"
#include "dpu_error.h"
#include "dpu_types.h"

/* In a context's scheduling: this tasklet does not run. */
#define DPU_NOT_SCHEDULED 0xFF

/* Makes a context with the arrays and sizes for MACHINE; DPU_ERR_SYSTEM without memory. */
dpu_error_t dpulib_context_create_for(struct dpu_context_t *context,
                                      const struct dpu_machine *machine);
/* DPU_OK if a context has the arrays for MACHINE; all below need that. */
dpu_error_t dpulib_context_check(const struct dpu_context_t *context,
                                 const struct dpu_machine *machine);

/* From the machine into the context. */
void dpulib_context_get_pcs(struct dpu_context_t *context, const struct dpu_machine *machine);
void dpulib_context_get_registers(struct dpu_context_t *context, const struct dpu_machine *machine);
/* Gets the tasklets that run, in the order of their ids; the others are DPU_NOT_SCHEDULED. */
void dpulib_context_get_running(struct dpu_context_t *context, const struct dpu_machine *machine);
void dpulib_context_get_fault(struct dpu_context_t *context, const struct dpu_machine *machine);

/* From the context into the machine, in which no tasklet runs afterwards. */
void dpulib_context_set_registers(const struct dpu_context_t *context, struct dpu_machine *machine);
/* DPU_ERR_INVALID_THREAD_ID, and nothing done, for a tasklet that does not exist. */
dpu_error_t dpulib_context_set_fault(const struct dpu_context_t *context,
                                     struct dpu_machine *machine);
/* A bit for each tasklet that the context says is running. */
uint64_t dpulib_context_running(const struct dpu_context_t *context);
/* Lets them go on, by a launch in the rank's queue; the run bits of all but the lowest are set. */
dpu_error_t dpulib_context_go_on(struct dpu_t *dpu, uint64_t running);

#endif
