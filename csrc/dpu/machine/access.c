/* SPDX-License-Identifier: BSD-3-Clause */
#include "access.h"

uint32_t dpu_access_size(enum dpu_operation_kind kind)
{
    switch (kind) {
    case DPU_OP_LBS:
    case DPU_OP_LBU:
    case DPU_OP_SB:
    case DPU_OP_SB_ID: return 1;
    case DPU_OP_LHS:
    case DPU_OP_LHU:
    case DPU_OP_SH:
    case DPU_OP_SH_ID: return 2;
    case DPU_OP_LW:
    case DPU_OP_SW:
    case DPU_OP_SW_ID: return 4;
    default: return 8;
    }
}

bool dpu_access_faults(const struct dpu_machine *m, uint32_t base, const struct dpu_operation *op,
                       uint32_t size, uint32_t *address)
{
    bool outside;
    if (op->checked) {
        int64_t wanted = (int64_t)(base & 0xFFFF) + (int32_t)op->imm;
        uint32_t past = size == 1 ? 0 : size;
        outside = wanted < 0 || wanted >= m->wram_size || wanted + past >= base >> 16;
        *address = (uint32_t)wanted;
    } else {
        *address = base + op->imm;
        uint32_t kept =
            (m->options.switches & DPU_SWITCH_WRAM_32_BITS) != 0 ? *address : *address & 0xFFFFFF;
        outside = kept >= m->wram_size;
    }

    return outside || *address % size != 0;
}

bool dpu_memory_faults(const struct dpu_machine *m, const struct dpu_thread *t,
                       const struct dpu_operation *op)
{
    uint32_t address;
    return dpu_access_faults(m, t->r[op->a], op, dpu_access_size((enum dpu_operation_kind)op->kind),
                             &address);
}

uint32_t dpu_access_address(const struct dpu_machine *m, const struct dpu_thread *t,
                            const struct dpu_operation *op)
{
    uint32_t address;
    dpu_access_faults(m, t->r[op->a], op, 1, &address);
    return address;
}
