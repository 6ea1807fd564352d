/* SPDX-License-Identifier: BSD-3-Clause */
/* execute_alu.c: any arithmetic or logic instruction, whatever its operands and condition. */
#include "execute.h"

#include "execute_alu.h"
#include "raise.h"

/* Stack-checked add and sub: a register holds {limit, address}, and the low half must not leave
 * its 16 bits. */
bool dpu_checked_faults(const struct dpu_thread *t, const struct dpu_operation *op)
{
    uint32_t b = op->source == DPU_SOURCE_IMM ? op->imm : t->r[op->b];
    int64_t low = t->r[op->a] & 0xFFFF, step = (int32_t)b;
    low += op->kind == DPU_OP_ADD ? step : -step;
    return low < 0 || low > 0xFFFF;
}

/* Results of a faulting instruction are those of the vendor's simulator. */
static const struct dpu_operation *execute_checked(struct dpu_machine *m, struct dpu_thread *t,
                                                   const struct dpu_operation *op)
{
    uint32_t a = t->r[op->a];
    uint32_t b = op->source == DPU_SOURCE_IMM ? op->imm : t->r[op->b];
    struct dpu_alu alu = dpu_alu((enum dpu_operation_kind)op->kind, a, b, 0, 0);
    bool outside = dpu_checked_faults(t, op);
    uint32_t x = alu.x;
    if (outside) {
        x = (2 * t->id) << 24 | (x & 0xFFFFFF);
        alu.carry = 1;
    }

    t->r[op->c] = x;
    t->zero = x;
    t->carry = alu.carry;
    return outside ? dpu_raise(m, t, op, DPU_FAULT_MEMORY) : op + 1;
}

const struct dpu_operation *dpu_execute_alu(struct dpu_machine *m, struct dpu_thread *t,
                                            const struct dpu_operation *op)
{
    if (op->checked)
        return execute_checked(m, t, op);

    enum dpu_operation_kind kind = (enum dpu_operation_kind)op->kind;
    uint32_t a = t->r[op->a];
    uint32_t b = op->source == DPU_SOURCE_IMM ? op->imm : t->r[op->b];
    struct dpu_alu alu = dpu_alu(kind, a, b, op->shift, t->carry);
    bool holds =
        dpu_holds((enum dpu_condition)op->condition, &alu, a, b, t->zero == 0, m->options.switches);
    uint32_t x = op->tail == DPU_TAIL_SET ? (uint32_t)holds : alu.x;
    if (op->destination == DPU_DEST_D64S || op->destination == DPU_DEST_D64U) {
        bool extend = op->destination == DPU_DEST_D64S && x >> 31 != 0;
        t->r[op->c] = extend ? UINT32_MAX : 0;
        t->r[op->c + 1] = x;
    } else {
        t->r[op->c] = x;
    }

    t->zero = alu.zero;
    if (dpu_alu_writes_carry(kind))
        t->carry = alu.carry;
    return op->tail == DPU_TAIL_JUMP && holds ? &m->operations[op->target] : op + 1;
}
