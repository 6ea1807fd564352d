/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/base/operation.h"

#include "accl/base/device.h"
#include "accl/base/text.h"

uint32_t acclib_operation_refuse(accl_device *device, const struct operation *op, const char *where)
{
    return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                            "%s is not implemented %s", acclib_operation_name(op->call->operation),
                            where);
}

void acclib_operation_extents(const struct operation *op, uint64_t *source, uint64_t *result)
{
    const struct accl_call *c = op->call;
    uint64_t n = op->comm != NULL ? op->comm->n : 1;
    bool root = op->comm != NULL && op->comm->me == c->root_src_dst;
    uint64_t all = c->count > UINT64_MAX / n ? UINT64_MAX : c->count * n;

    *source = *result = c->count;

    switch (c->operation) {
    case ACCL_SEND: *result = 0; break;
    case ACCL_RECV: *source = 0; break;
    case ACCL_BCAST:
        *source = root ? c->count : 0;
        *result = root ? 0 : c->count;
        break;
    case ACCL_SCATTER: *source = root ? all : 0; break;
    case ACCL_GATHER: *result = root ? all : 0; break;
    case ACCL_REDUCE: *result = root ? c->count : 0; break;
    case ACCL_ALLGATHER: *result = all; break;
    case ACCL_REDUCE_SCATTER: *source = all; break;
    case ACCL_ALLTOALL: *source = *result = all; break;
    case ACCL_BARRIER: *source = *result = 0; break;
    default: break;
    }
}
