/* SPDX-License-Identifier: BSD-3-Clause */
#include "raise.h"

const struct dpu_operation *dpu_raise(struct dpu_machine *m, struct dpu_thread *t,
                                      const struct dpu_operation *op, enum dpu_fault_kind kind)
{
    t->op = op;
    m->fault.kind = (uint32_t)kind;
    m->fault.detail = DPU_FAULT_DETAIL_NONE;
    m->fault.thread = t->id;
    return NULL;
}
