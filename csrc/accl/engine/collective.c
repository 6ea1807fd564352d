/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/collective.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/transport.h"

static uint32_t run_alone(const struct operation *op)
{
    if (op->result != NULL)
        acclib_convert(op->result, op->result_type, op->source, op->source_type, op->count, false);
    return 0;
}

/* A hash of what must be the same on all ranks, in this call and in those before. */
static uint32_t sign(const struct operation *op)
{
    const struct accl_call *c = op->call;
    uint64_t words[] = {op->comm->signature,
                        c->operation,
                        c->count,
                        op->facts->kind == ACCL_KIND_ROOTED ? c->root_src_dst : 0,
                        op->facts->work == ACCL_WORK_COMPUTES ? c->function : 0,
                        op->type,
                        op->wire | (uint64_t)c->meaning << 32};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);

    return (uint32_t)(hash >> 32);
}

uint32_t acclib_collective_run(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    if (!(comm->makes >> op->call->operation & 1))
        return acclib_operation_refuse(device, op->call->operation, comm->transport->where);
    if (comm->n == 1)
        return run_alone(op);
    if (comm->broken)
        return acclib_call_fail(
            device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
            "an earlier collective on communicator %u failed here (code 0x%x), so its "
            "ranks are no longer in step: make a new communicator",
            comm->id, comm->broken);

    uint64_t number = ++comm->calls;
    comm->signature = sign(op);
    uint32_t bits = comm->transport->collective(device, op, number);
    if (bits) {
        comm->broken = bits;
        comm->transport->give_up(device, comm);
    }

    return bits;
}
