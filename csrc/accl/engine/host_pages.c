/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/host_pages.h"

#include "accl/transport/transport.h"
#include "common/copy.h"

/* True if the host's pages may be used. */
static bool may_use(const accl_device *device, const struct operation *op)
{
    const struct transport *transport = op->comm->transport;
    if (op->facts->kind == ACCL_KIND_MESSAGE)
        transport = device->world[op->comm->members[op->call->root_src_dst].rank].transport;

    return transport->takes_host_pages && !op->source_is_array && !op->result_is_array;
}

/* Chooses what has to be copied. False if parts of one operand would be copied to parts of another
 * that are still read. */
static bool choose(struct operand_copies *copies, const struct operation *op, uint64_t source_bytes,
                   uint64_t result_bytes)
{
    bool apart = op->source == NULL || op->result == NULL ||
                 op->source >= op->result + result_bytes || op->result >= op->source + source_bytes;
    if (apart)
        return true;

    /* In place, the result overwrites the whole source. */
    bool both = copies->source != NULL && copies->result != NULL;
    if (!both || op->source != op->result || source_bytes != result_bytes)
        return false;
    copies->source = NULL;
    return true;
}

static uint32_t run_with_copies(accl_device *device, struct operation *op, uint64_t source_bytes,
                                uint64_t result_bytes, run_operands *run)
{
    uint8_t *source = op->source, *result = op->result;
    uint32_t bits = run(device, op, source_bytes, result_bytes);
    acclib_operand_copy_source(op->copies, source, source_bytes);
    if (!bits && op->copies->result != NULL)
        copy_piece(op->copies->result, result, result_bytes, op->copies->bytes);
    return bits;
}

uint32_t acclib_host_pages_run(accl_device *device, struct operation *op, uint64_t source_bytes,
                               uint64_t result_bytes, run_operands *run)
{
    uint32_t flags = op->call->host_flags;
    uint32_t result_flag = op->call->operation == ACCL_BCAST ? ACCL_OP0_SYNC : ACCL_RES_SYNC;
    uint8_t *source = op->source, *result = op->result;
    uint8_t *source_host = NULL, *result_host = NULL;
    if (flags & ACCL_OP0_SYNC && !op->source_is_array)
        source_host = acclib_heap_host(device->heap, source);
    if (flags & result_flag && !op->result_is_array)
        result_host = acclib_heap_host(device->heap, result);

    struct operand_copies copies = {.source = source_host != NULL ? source : NULL,
                                    .result = result_host != NULL ? result : NULL};
    if (may_use(device, op) && choose(&copies, op, source_bytes, result_bytes)) {
        op->copies = &copies;
        copies.bytes =
            (copies.source != NULL ? source_bytes : 0) + (copies.result != NULL ? result_bytes : 0);
        op->source = source_host != NULL ? source_host : source;
        op->result = result_host != NULL ? result_host : result;
        uint32_t bits = run_with_copies(device, op, source_bytes, result_bytes, run);
        if (device->lingers && source_host != NULL)
            acclib_heap_hold(device->heap, heap_offset(device->heap, source));
        if (device->lingers && result_host != NULL)
            acclib_heap_hold(device->heap, heap_offset(device->heap, result));
        return bits;
    }

    if (source_host != NULL)
        copy_memory(source, source_host, source_bytes);
    uint32_t bits = run(device, op, source_bytes, result_bytes);
    if (!bits && result_host != NULL)
        copy_memory(result_host, result, result_bytes);
    return bits;
}
