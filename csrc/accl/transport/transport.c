/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/transport.h"

#include "accl/arithmetic/dtype.h"

void acclib_transport_progress(accl_device *device)
{
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        device->transports[i]->progress(device);
}

bool acclib_transport_carry(accl_device *device)
{
    bool moved = false;
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        if (device->transports[i]->carry != NULL)
            moved |= device->transports[i]->carry(device);
    return moved;
}

void acclib_transport_flush(accl_device *device)
{
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        if (device->transports[i]->flush != NULL)
            device->transports[i]->flush(device);
}

void acclib_transport_reset(accl_device *device)
{
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        device->transports[i]->reset(device);
}

const struct transport *acclib_transport_reducer(const accl_device *device,
                                                 const struct operation *op)
{
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        if (device->transports[i]->reduces != NULL && device->transports[i]->reduces(device, op))
            return device->transports[i];
    return NULL;
}

void acclib_transport_visit(accl_device *device, pending_visit visit, void *argument)
{
    for (uint32_t i = 0; i < TRANSPORTS_MAX && device->transports[i] != NULL; i++)
        device->transports[i]->visit(device, visit, argument);
}

uint32_t acclib_transport_mismatch(accl_device *device, const struct message_shape *message,
                                   uint32_t wanted_type, uint64_t wanted_count)
{
    size_t size = acclib_dtype_bytes(message->type);
    uint64_t wanted_bytes = wanted_count * acclib_dtype_bytes(wanted_type);

    return acclib_call_fail(
        device, ACCL_ERROR(DMA_SIZE_ERROR),
        "the message has %llu elements of %s (%llu bytes, tag %u, sequence %u), the "
        "receive call wants %llu of %s (%llu bytes)",
        (unsigned long long)(size ? message->bytes / size : 0), acclib_dtype_name(message->type),
        (unsigned long long)message->bytes, message->tag, message->sequence,
        (unsigned long long)wanted_count, acclib_dtype_name(wanted_type),
        (unsigned long long)wanted_bytes);
}

uint32_t acclib_transport_put_lost(accl_device *device, const struct communicator *comm,
                                   uint32_t to, uint32_t stream, uint64_t bytes)
{
    return acclib_call_fail(
        device, ACCL_ERROR(DMA_INTERNAL_ERROR),
        "a stream put of %llu bytes to stream %u of rank %u of communicator %u is "
        "lost: that rank is out of memory",
        (unsigned long long)bytes, stream, to, comm->id);
}
