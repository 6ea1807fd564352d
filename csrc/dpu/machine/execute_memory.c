/* SPDX-License-Identifier: BSD-3-Clause */
/* execute_memory.c: loads and stores of every form, and what happens when one faults. */
#include "access.h"
#include "cache.h"
#include "execute.h"
#include "lane.h"
#include "raise.h"

#include <string.h>

static uint64_t load(const uint8_t *from, uint32_t size, bool big)
{
    uint64_t value = 0;
    memcpy(&value, from, size); /* both are little-endian */
    return big ? __builtin_bswap64(value) >> (64 - 8 * size) : value;
}

static void store(uint8_t *to, uint64_t value, uint32_t size, bool big)
{
    if (big)
        value = __builtin_bswap64(value) >> (64 - 8 * size);
    memcpy(to, &value, size);
}

static uint64_t extend(enum dpu_operation_kind kind, uint64_t value)
{
    if (kind == DPU_OP_LBS)
        return (uint64_t)(int64_t)(int8_t)(uint8_t)value;
    if (kind == DPU_OP_LHS)
        return (uint64_t)(int64_t)(int16_t)(uint16_t)value;
    return value;
}

static void put_result(struct dpu_thread *t, const struct dpu_operation *op, uint64_t value)
{
    switch ((enum dpu_destination)op->destination) {
    case DPU_DEST_NONE:
    case DPU_DEST_DISCARD: break;
    case DPU_DEST_R32: t->r[op->c] = (uint32_t)value; break;
    case DPU_DEST_D64S:
        value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
        /* fallthrough */
    case DPU_DEST_D64U:
    case DPU_DEST_D64: t->r[op->c] = (uint32_t)(value >> 32); t->r[op->c + 1] = (uint32_t)value;
    }
}

static uint64_t value_to_store(const struct dpu_thread *t, const struct dpu_operation *op)
{
    if (op->source == DPU_SOURCE_IMM) {
        uint64_t value = (uint64_t)(int64_t)(int16_t)op->target;
        bool with_id = op->kind == DPU_OP_SB_ID || op->kind == DPU_OP_SH_ID ||
                       op->kind == DPU_OP_SW_ID || op->kind == DPU_OP_SD_ID;
        return with_id ? value | t->id : value;
    }

    if (op->kind == DPU_OP_SD)
        return (uint64_t)t->r[op->b] << 32 | t->r[op->b + 1];
    return t->r[op->b];
}

/* An address of MRAM. What faults is not done. */
static const struct dpu_operation *execute_cached(struct dpu_machine *m, struct dpu_thread *t,
                                                  const struct dpu_operation *op, uint32_t address)
{
    enum dpu_operation_kind kind = (enum dpu_operation_kind)op->kind;
    uint32_t size = dpu_access_size(kind), far = address - DPU_MRAM_WINDOW;
    bool writes = op->destination == DPU_DEST_NONE;
    if (far >= m->mram_size || far % size != 0) {
        m->fault.address = address;
        return dpu_raise(m, t, op, DPU_FAULT_MEMORY);
    }

    t->op = op;
    dpu_cache_access(m, t, op, far, writes);
    if (writes)
        store(m->mram + far, value_to_store(t, op), size, op->big);
    else
        put_result(t, op, extend(kind, load(m->mram + far, size, op->big)));
    return op + 1;
}

const struct dpu_operation *dpu_execute_memory(struct dpu_machine *m, struct dpu_thread *t,
                                               const struct dpu_operation *op)
{
    enum dpu_operation_kind kind = (enum dpu_operation_kind)op->kind;
    uint32_t size = dpu_access_size(kind), address = t->r[op->a] + op->imm;
    if (m->options.cache_kib != 0 && !op->checked && address >= DPU_MRAM_WINDOW)
        return execute_cached(m, t, op, address);

    bool faults = dpu_access_faults(m, t->r[op->a], op, size, &address);
    if (faults)
        m->fault.address = address;
    if (faults && (m->options.switches & DPU_SWITCH_FAULT_STOPS_ACCESS) != 0)
        return dpu_raise(m, t, op, DPU_FAULT_MEMORY);

    /* A faulting access is done at an address that exists. */
    uint32_t room = m->wram_size > DPU_MACHINE_WRAM ? DPU_MACHINE_WRAM_ROOM : DPU_MACHINE_WRAM;
    address &= room - size;
    uint8_t lane[8], *place = m->wram + address;
    if (UNLIKELY(dpu_is_lane(m))) {
        place = lane;
        dpu_lane_read(m, address, lane, size);
    }

    if (op->destination == DPU_DEST_NONE)
        store(place, value_to_store(t, op), size, op->big);
    else
        put_result(t, op, extend(kind, load(place, size, op->big)));
    if (UNLIKELY(dpu_is_lane(m)))
        dpu_lane_write(m, address, lane, size);
    return faults ? dpu_raise(m, t, op, DPU_FAULT_MEMORY) : op + 1;
}
