/* SPDX-License-Identifier: BSD-3-Clause */
/* From a call's description to the operation (types, addresses, streams), and to its function. */
#include "accl/engine/execute.h"

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/arithmetic/reduce.h"
#include "accl/base/operation.h"
#include "accl/engine/communicator.h"
#include "accl/engine/configure.h"
#include "accl/engine/host_pages.h"
#include "accl/engine/stream.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait_note.h"
#include "common/copy.h"

static bool needs_no_rank(uint32_t operation)
{
    uint8_t kind = operation_facts(operation)->kind;
    return kind == ACCL_KIND_CONTROL || kind == ACCL_KIND_LOCAL;
}

int acclib_call_check(accl_device *device, const struct accl_call *call)
{
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;
    if (call == NULL)
        return acclib_fail(ACCL_INVALID, "the call must not be NULL");
    if (call->size < sizeof *call)
        return acclib_fail(ACCL_INVALID, "struct accl_call has %u bytes, not %zu", call->size,
                           sizeof *call);
    if (!device->ranks && !needs_no_rank(call->operation))
        return acclib_fail(ACCL_NOT_READY, "the device has no communicator yet");

    return ACCL_OK;
}

static uint32_t set_types(accl_device *device, struct operation *op)
{
    const struct accl_call *c = op->call;
    uint32_t type = c->dtype;
    uint32_t small = c->compressed_dtype == ACCL_NONE ? type : c->compressed_dtype;

    if (!acclib_dtype_bytes(type) ||
        (small != type && !(type == ACCL_FLOAT32 && small == ACCL_FLOAT16)))
        return acclib_call_fail(device, ACCL_ERROR(COMPRESSION_ERROR),
                                "no conversion between the element types %u and %u (%s and %s)",
                                type, small, acclib_dtype_name(type), acclib_dtype_name(small));
    uint32_t flags = c->compression_flags;
    op->type = type;
    op->wire = flags & ACCL_ETH_COMPRESSED ? small : type;

    /* The original's arithmetic for a pair of types is the smaller one's. */
    op->arithmetic = small;
    op->source_type = flags & ACCL_OP0_COMPRESSED ? small : type;
    op->source2_type = flags & ACCL_OP1_COMPRESSED ? small : type;
    op->result_type = flags & ACCL_RES_COMPRESSED ? small : type;
    op->via16 = op->wire == ACCL_FLOAT16 && type == ACCL_FLOAT32;
    bool computes = op->facts->work == ACCL_WORK_COMPUTES;
    if (computes && c->function > ACCL_PROD)
        return acclib_call_fail(device, ACCL_ERROR(ARITH_ERROR),
                                "unknown function %u: SUM, MAX, MIN and PROD are supported",
                                c->function);
    enum accl_arithmetic arithmetic = acclib_dtype_arithmetic(type);
    if (computes && arithmetic == ACCL_ARITHMETIC_NONE)
        return acclib_call_fail(device, ACCL_ERROR(ARITH_ERROR),
                                "no arithmetic for elements of %s: give the type of the numbers",
                                acclib_dtype_name(type));
    if (computes && arithmetic == ACCL_ARITHMETIC_COMPLEX && c->function != ACCL_SUM &&
        c->function != ACCL_PROD)
        return acclib_call_fail(device, ACCL_ERROR(ARITH_ERROR),
                                "no %s of %s, whose numbers have no order: supported are SUM and "
                                "PROD",
                                c->function == ACCL_MAX ? "MAX" : "MIN", acclib_dtype_name(type));

    return 0;
}

/* Memory of a device address, or with IS_ARRAY of the caller. */
static uint32_t find_memory(accl_device *device, uint64_t address, uint64_t count, uint32_t type,
                            bool is_array, const char *what, uint8_t **memory)
{
    size_t size = acclib_dtype_bytes(type);
    *memory = NULL;
    if (count == 0 && address == ACCL_NO_ADDRESS)
        return 0;
    if (is_array && (address == 0 || count > (SIZE_MAX - address) / size))
        return acclib_call_fail(device, ACCL_ERROR(DMA_DECODE_ERROR),
                                "%s: there is no array of %llu elements of %zu bytes at address "
                                "0x%llx",
                                what, (unsigned long long)count, size, (unsigned long long)address);
    if (!is_array &&
        (count > UINT64_MAX / size || !acclib_heap_valid(device->heap, address, count * size)))
        return acclib_call_fail(
            device, ACCL_ERROR(DMA_DECODE_ERROR),
            "%s: %llu elements of %zu bytes at device address 0x%llx are not inside "
            "one buffer",
            what, (unsigned long long)count, size, (unsigned long long)address);

    size_t alignment = acclib_dtype_alignment(type);
    if (address % alignment)
        return acclib_call_fail(
            device, ACCL_ERROR(DMA_DECODE_ERROR), "%s: %s address 0x%llx is not a multiple of %zu",
            what, is_array ? "the" : "device", (unsigned long long)address, alignment);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): it is what the caller gave */
    *memory = is_array ? (uint8_t *)address : device->heap->base + (address - ADDRESS_BASE);

    return 0;
}

static uint32_t copy(accl_device *device, const struct operation *op)
{
    (void)device;
    acclib_convert(op->result, op->result_type, op->source, op->source_type, op->count, false);
    return 0;
}

static uint32_t combine(accl_device *device, const struct operation *op)
{
    (void)device;
    const uint8_t *operands[] = {op->source, op->source2};
    const uint8_t types[] = {(uint8_t)op->source_type, (uint8_t)op->source2_type};
    uint8_t *result = op->result;
    uint8_t result_type = (uint8_t)op->result_type;
    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = 2,
                          .operands = operands,
                          .operand_types = types,
                          .n_results = 1,
                          .results = &result,
                          .result_types = &result_type};

    acclib_reduce(&r, 0, op->count);
    return 0;
}

static uint32_t send_message(accl_device *device, const struct operation *op)
{
    const struct accl_call *c = op->call;
    bool put = (c->stream_flags & ACCL_RES_STREAM) != 0;
    if (put && c->tag > ACCL_STREAM_ID_MAX)
        return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                "stream numbers are 0 to %d, not %u", ACCL_STREAM_ID_MAX, c->tag);

    uint32_t to = op->comm->members[c->root_src_dst].rank;
    return device->world[to].transport->send(device, op->comm, c->root_src_dst,
                                             &(struct outgoing){.data = op->source,
                                                                .is_array = op->source_is_array,
                                                                .count = op->count,
                                                                .source_type = op->source_type,
                                                                .wire_type = op->wire,
                                                                .tag = c->tag,
                                                                .stream = put ? c->tag + 1 : 0,
                                                                .copies = op->copies});
}

static uint32_t receive_message(accl_device *device, const struct operation *op)
{
    const struct accl_call *c = op->call;
    uint32_t from = op->comm->members[c->root_src_dst].rank;

    return device->world[from].transport->receive(device, op->comm, c->root_src_dst,
                                                  &(struct wanted){.data = op->result,
                                                                   .count = op->count,
                                                                   .type = op->result_type,
                                                                   .wire_type = op->wire,
                                                                   .tag = c->tag,
                                                                   .copies = op->copies});
}

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

/* Collective, whatever the transport. After a failure the communicator is broken: its ranks are no
 * longer in step. */
static uint32_t run_collective(accl_device *device, const struct operation *op)
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

/* Holds the buffers of a call that gave up: a late rank may still write there. */
static void hold_memory(accl_device *device, const struct operation *op)
{
    if (op->source != NULL && !op->source_is_array)
        acclib_heap_hold(device->heap, heap_offset(device->heap, op->source));
    if (op->result != NULL && !op->result_is_array)
        acclib_heap_hold(device->heap, heap_offset(device->heap, op->result));
}

static uint32_t dispatch(accl_device *device, struct operation *op)
{
    static uint32_t (*const runs[OPERATION_KINDS])(accl_device *, const struct operation *) = {
        [ACCL_COPY] = copy,
        [ACCL_COMBINE] = combine,
        [ACCL_SEND] = send_message,
        [ACCL_RECV] = receive_message,
    };
    uint32_t kind = op->call->operation;
    uint32_t bits;
    if (operation_is_collective(op->facts))
        bits = run_collective(device, op);
    else
        bits = runs[kind] != NULL ? runs[kind](device, op)
                                  : acclib_operation_refuse(device, kind, "by this engine");
    if (device->lingers)
        hold_memory(device, op);

    return bits;
}

/* True if what the transport of OP touches may be outside of the memory file. */
static bool takes_arrays(const accl_device *device, const struct operation *op)
{
    const struct transport *transport = op->comm->transport;
    if (op->facts->kind == ACCL_KIND_MESSAGE)
        transport = device->world[op->comm->members[op->call->root_src_dst].rank].transport;
    else if (op->comm->n == 1)
        return true;

    return transport->takes_arrays != NULL && transport->takes_arrays(device, op);
}

/* Memory of the file in place of an array of the caller, of BYTES; the copy of it if it is read. */
static uint32_t replace_array(accl_device *device, uint8_t **memory, uint64_t bytes, bool read,
                              uint64_t *scratch)
{
    *scratch = acclib_heap_get(device->heap, bytes);
    if (!*scratch)
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes for an array without device memory)",
                                (unsigned long long)bytes);
    uint8_t *array = *memory;
    *memory = device->heap->base + *scratch;
    if (read)
        copy_memory(*memory, array, bytes);

    return 0;
}

/* A call, some of whose operands may be arrays of the caller. */
static uint32_t run_arrays(accl_device *device, struct operation *op, uint64_t source_bytes,
                           uint64_t result_bytes)
{
    if ((!op->source_is_array && !op->result_is_array) || takes_arrays(device, op))
        return dispatch(device, op);

    uint64_t scratch[2] = {0};
    uint8_t *result = op->result;
    uint32_t bits = 0;
    if (op->source_is_array && op->source != NULL)
        bits = replace_array(device, &op->source, source_bytes, true, &scratch[0]);
    if (!bits && op->result_is_array && result != NULL)
        bits = replace_array(device, &op->result, result_bytes, false, &scratch[1]);
    op->source_is_array = op->result_is_array = false;
    if (!bits)
        bits = dispatch(device, op);
    if (!bits && scratch[1])
        copy_memory(result, op->result, result_bytes);
    for (int i = 0; i < 2; i++)
        if (scratch[i])
            acclib_heap_put(device->heap, scratch[i]);

    return bits;
}

/* Copies an operand whose elements the result would overwrite before they are read. */
static uint32_t keep_operand(accl_device *device, const struct operation *op, uint8_t **operand,
                             uint32_t type, uint64_t *scratch)
{
    uint64_t bytes = op->count * acclib_dtype_bytes(type);
    uint64_t result_bytes = op->count * acclib_dtype_bytes(op->result_type);
    const uint8_t *result = op->result;
    bool in_place = *operand == result && type == op->result_type;

    if (*operand == NULL || result == NULL || in_place || *operand >= result + result_bytes ||
        result >= *operand + bytes)
        return 0;

    *scratch = acclib_heap_get(device->heap, bytes);
    if (!*scratch)
        return acclib_call_fail(
            device, ACCL_ERROR(DMA_INTERNAL_ERROR),
            "out of memory (%llu bytes for an operand that overlaps the result)",
            (unsigned long long)bytes);
    copy_memory(device->heap->base + *scratch, *operand, bytes);
    *operand = device->heap->base + *scratch;

    return 0;
}

static uint32_t with_memory(accl_device *device, struct operation *op)
{
    const struct accl_call *c = op->call;
    uint64_t source, result, scratch[4] = {0};
    acclib_operation_extents(op, &source, &result);
    bool put = c->operation == ACCL_SEND;
    bool from_stream = (c->stream_flags & ACCL_OP0_STREAM) && source;
    bool to_stream = (c->stream_flags & ACCL_RES_STREAM) && !put && result;
    uint64_t source_bytes = source * acclib_dtype_bytes(op->source_type);
    uint64_t result_bytes = result * acclib_dtype_bytes(op->result_type);
    uint32_t bits = 0;
    if ((from_stream && source > UINT64_MAX / 16) || (to_stream && result > UINT64_MAX / 16))
        return acclib_call_fail(device, ACCL_ERROR(DMA_DECODE_ERROR), "the count is too large");
    if (from_stream && !(scratch[0] = acclib_heap_get(device->heap, source_bytes)))
        bits =
            acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (stream data)");
    if (!bits && to_stream && !(scratch[1] = acclib_heap_get(device->heap, result_bytes)))
        bits =
            acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (stream data)");
    uint32_t result_address = c->operation == ACCL_BCAST ? 0 : 2;
    if (operation_is_collective(op->facts) || op->facts->kind == ACCL_KIND_MESSAGE) {
        op->source_is_array = (c->host_flags & ACCL_OP0_ARRAY) && !from_stream;
        /* A broadcast has one operand. */
        uint32_t result_flag = c->operation == ACCL_BCAST ? ACCL_OP0_ARRAY : ACCL_RES_ARRAY;
        op->result_is_array = (c->host_flags & result_flag) && !to_stream;
    }
    if (scratch[0])
        op->source = device->heap->base + scratch[0];
    else if (!bits && source)
        bits = find_memory(device, c->address[0], source, op->source_type, op->source_is_array,
                           "source", &op->source);
    if (!bits && c->operation == ACCL_COMBINE && source)
        bits = find_memory(device, c->address[1], source, op->source2_type, false, "second operand",
                           &op->source2);
    if (scratch[1])
        op->result = device->heap->base + scratch[1];
    else if (!bits && result)
        bits = find_memory(device, c->address[result_address], result,
                           c->operation == ACCL_BCAST ? op->source_type : op->result_type,
                           op->result_is_array, "result", &op->result);
    if (c->operation == ACCL_BCAST)
        op->result_type = op->source_type;
    if (!bits && from_stream)
        bits = acclib_stream_read(device, op->source, source_bytes);
    bool local = op->facts->kind == ACCL_KIND_LOCAL;
    if (!bits && local)
        bits = keep_operand(device, op, &op->source, op->source_type, &scratch[2]);
    if (!bits && local)
        bits = keep_operand(device, op, &op->source2, op->source2_type, &scratch[3]);
    if (!bits && !c->host_flags)
        bits = dispatch(device, op);
    else if (!bits && !local && c->host_flags & (ACCL_OP0_SYNC | ACCL_RES_SYNC))
        bits = acclib_host_pages_run(device, op, source_bytes, result_bytes, run_arrays);
    else if (!bits)
        bits = run_arrays(device, op, source_bytes, result_bytes);
    if (!bits && to_stream &&
        !acclib_stream_deliver(&device->streams, c->tag, op->result, result_bytes))
        bits =
            acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "out of memory (stream data)");
    for (int i = 0; i < 4; i++)
        if (scratch[i])
            acclib_heap_put(device->heap, scratch[i]);

    return bits;
}

static uint32_t run(accl_device *device, const struct accl_call *call)
{
    uint32_t kind = call->operation;
    if (kind == ACCL_NOP)
        return 0;
    if (kind == ACCL_CONFIG)
        return acclib_configure(device, call);
    const struct accl_operation_facts *facts = operation_facts(kind);
    if (facts->kind == ACCL_KIND_UNKNOWN)
        return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                "unknown operation %u", kind);
    struct operation op = {.call = call, .facts = facts, .count = call->count};
    if (facts->kind != ACCL_KIND_LOCAL &&
        (op.comm = acclib_communicator_find(device, call->comm)) == NULL)
        return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                call->comm < device->communicator_count
                                    ? "communicator %u was freed"
                                    : "no communicator %u",
                                call->comm);
    if (operation_has_rank(facts) && call->root_src_dst >= op.comm->n)
        return acclib_call_fail(device, ACCL_ERROR(COLLECTIVE_NOT_IMPLEMENTED),
                                "communicator %u has %u ranks and no rank %u", call->comm,
                                op.comm->n, call->root_src_dst);
    if (kind == ACCL_BARRIER) {
        op.count = 0;
        op.type = op.wire = op.source_type = op.result_type = ACCL_INT8;
        return run_collective(device, &op);
    }

    uint32_t bits = set_types(device, &op);
    return bits ? bits : with_memory(device, &op);
}

uint32_t acclib_call_execute(accl_device *device, const struct accl_call *call, bool checks)
{
    device->text[0] = 0;
    device->call = call;
    device->checks = checks;
    device->deadline = 0;
    device->lingers = false;
    uint64_t began = ticks_now(&device->ticks);
    uint32_t bits = run(device, call);
    acclib_transport_flush(device);
    acclib_note_no_wait(device);
    device->last_ticks = ticks_now(&device->ticks) - began;
    device->last_retcode = bits;

    return bits;
}
