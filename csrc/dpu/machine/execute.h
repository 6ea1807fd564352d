/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * execute.h: what instructions do, one function per kind of instruction (execute_*.c, dma.c,
 * timing.c), apart from how interpreters dispatch them.
 *
 * Each executes an instruction of its kind for tasklet T. It returns the operation that comes next,
 * or NULL for a fault, which is then noted in the machine.
 */
#ifndef OFFCHIP_DPU_EXECUTE_H
#define OFFCHIP_DPU_EXECUTE_H

#include "machine_state.h"

const struct dpu_operation *dpu_execute_alu(struct dpu_machine *machine, struct dpu_thread *t,
                                            const struct dpu_operation *op);
const struct dpu_operation *dpu_execute_memory(struct dpu_machine *machine, struct dpu_thread *t,
                                               const struct dpu_operation *op);
/* True if it would be a fault of that instruction, which must be one of its kind. */
bool dpu_checked_faults(const struct dpu_thread *t, const struct dpu_operation *op);
const struct dpu_operation *dpu_execute_thread(struct dpu_machine *machine, struct dpu_thread *t,
                                               const struct dpu_operation *op);
const struct dpu_operation *dpu_execute_dma(struct dpu_machine *machine, struct dpu_thread *t,
                                            const struct dpu_operation *op);
/* Operands of a transfer: bytes, and where in MRAM and in the other memory. */
static inline void dpu_dma_operands(const struct dpu_machine *m, const struct dpu_thread *t,
                                    const struct dpu_operation *op, uint32_t *near, uint32_t *far,
                                    uint32_t *bytes)
{
    uint32_t a = t->r[op->a];
    *bytes = 8 * (((op->imm + (a >> 24)) & 0xFF) + 1);
    *near = a & 0xFFFFF8;
    *far = t->r[op->b] & m->far_bits;
}
const struct dpu_operation *dpu_execute_time(struct dpu_machine *machine, struct dpu_thread *t,
                                             const struct dpu_operation *op);

#endif
