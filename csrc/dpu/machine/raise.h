/* SPDX-License-Identifier: BSD-3-Clause */
/* raise.h: the fault of an instruction. */
#ifndef OFFCHIP_DPU_RAISE_H
#define OFFCHIP_DPU_RAISE_H

#include "machine_state.h"

/* Notes a fault of tasklet T at OP, which ends the run. Always NULL, for dpu_execute_*() to
 * return. */
const struct dpu_operation *dpu_raise(struct dpu_machine *machine, struct dpu_thread *t,
                                      const struct dpu_operation *op, enum dpu_fault_kind kind);

#endif
