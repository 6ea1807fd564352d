/* SPDX-License-Identifier: BSD-3-Clause */
/* execute_memory.c: loads and stores of every form, and what happens when one faults. */
#include "execute.h"
#include "raise.h"

#include <string.h>

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

/*
 * True if an access faults. *address is where it goes even so: a safe access keeps 16 bits of the
 * base, whose other half is the limit; the others ignore the topmost byte of the address.
 */
static bool access_faults(const struct dpu_machine *m, uint32_t base,
                          const struct dpu_operation *op, uint32_t size, uint32_t *address)
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

const struct dpu_operation *dpu_execute_memory(struct dpu_machine *m, struct dpu_thread *t,
                                               const struct dpu_operation *op)
{
    enum dpu_operation_kind kind = (enum dpu_operation_kind)op->kind;
    uint32_t size = dpu_access_size(kind), address;
    bool faults = access_faults(m, t->r[op->a], op, size, &address);
    if (faults)
        m->fault.address = address;
    if (faults && (m->options.switches & DPU_SWITCH_FAULT_STOPS_ACCESS) != 0)
        return dpu_raise(m, t, op, DPU_FAULT_MEMORY);

    /* A faulting access is done at an address that exists. */
    uint32_t room = m->wram_size > DPU_MACHINE_WRAM ? DPU_MACHINE_WRAM_ROOM : DPU_MACHINE_WRAM;
    uint8_t *place = m->wram + (address & (room - size));
    if (op->destination == DPU_DEST_NONE)
        store(place, value_to_store(t, op), size, op->big);
    else
        put_result(t, op, extend(kind, load(place, size, op->big)));
    return faults ? dpu_raise(m, t, op, DPU_FAULT_MEMORY) : op + 1;
}

bool dpu_memory_faults(const struct dpu_machine *m, const struct dpu_thread *t,
                       const struct dpu_operation *op)
{
    uint32_t address;
    return access_faults(m, t->r[op->a], op, dpu_access_size((enum dpu_operation_kind)op->kind),
                         &address);
}

uint32_t dpu_access_address(const struct dpu_machine *m, const struct dpu_thread *t,
                            const struct dpu_operation *op)
{
    uint32_t address;
    access_faults(m, t->r[op->a], op, 1, &address);
    return address;
}
