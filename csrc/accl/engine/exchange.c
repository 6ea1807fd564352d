/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/engine/exchange.h"

#include <string.h>

#include "accl/transport/executor.h"
#include "accl/transport/transport.h"

static uint32_t communicators_begin(const accl_device *device)
{
    return 4 + device->rx_count * EXCHANGE_RECORD_WORDS * 4;
}

static uint32_t bytes_of(const struct communicator *comm)
{
    return (2 + 6 * comm->n) * 4;
}

void acclib_exchange_init(accl_device *device)
{
    uint32_t *x = device->exchange;
    x[0] = device->rx_count;
    device->exchange_end = communicators_begin(device);
    x[ACCL_EXCHANGE_HWID / 4] = device->stack | 0x3Cu; /* DMA, arithmetic, compression, streams */
}

uint32_t acclib_exchange_add_communicator(accl_device *device, const struct communicator *comm)
{
    uint32_t bytes = bytes_of(comm);
    uint32_t at = device->exchange_end;
    if (at < ACCL_EXCHANGE_SIZE && at + bytes > EXCHANGE_REGISTERS)
        at = ACCL_EXCHANGE_SIZE;
    if (at + bytes > EXCHANGE_WORDS * 4)
        return UINT32_MAX; /* no place, and none needed */

    device->exchange_end = at + bytes;
    return at;
}

void acclib_exchange_remove_communicator(accl_device *device, const struct communicator *comm)
{
    if (comm->exchange_address == UINT32_MAX)
        return;

    memset(&device->exchange[comm->exchange_address / 4], 0, bytes_of(comm));

    /* The next one goes behind the last that is left. */
    device->exchange_end = communicators_begin(device);
    for (struct list_node *at = device->communicators.first; at != NULL; at = at->next) {
        const struct communicator *other = communicator_of(at);
        if (other->exchange_address != UINT32_MAX &&
            other->exchange_address + bytes_of(other) > device->exchange_end)
            device->exchange_end = other->exchange_address + bytes_of(other);
    }
}

struct rx_picture {
    accl_device *device;
    uint32_t next;
};

static void show_message(void *argument, const struct pending *pending)
{
    struct rx_picture *picture = argument;
    accl_device *device = picture->device;
    if (picture->next >= device->rx_count || pending->stream)
        return;

    uint64_t left = pending->bytes;
    uint32_t sequence = pending->sequence;
    uint32_t parts = pending->segments ? pending->segments : 1;
    for (uint32_t i = 0; i < parts && picture->next < device->rx_count; i++) {
        uint32_t *record = &device->exchange[1 + picture->next++ * EXCHANGE_RECORD_WORDS];
        uint64_t n = left < device->rx_bytes ? left : device->rx_bytes;
        record[0] = ACCL_RX_RESERVED;
        record[4] = pending->tag;
        record[5] = (uint32_t)n;
        record[6] = pending->source;
        record[7] = sequence++;
        left -= n;
    }
}

void acclib_exchange_refresh(accl_device *device)
{
    uint32_t *x = device->exchange;
    for (uint32_t i = 0; i < device->rx_count; i++) {
        uint32_t *record = &x[1 + i * EXCHANGE_RECORD_WORDS];
        uint64_t address =
            ADDRESS_BASE + heap_offset(device->heap, device->pool.data) + i * device->rx_bytes;
        record[0] = ACCL_RX_ENQUEUED;
        record[1] = (uint32_t)address;
        record[2] = (uint32_t)(address >> 32);
        record[3] = (uint32_t)device->rx_bytes;
        record[4] = record[5] = record[6] = record[7] = 0;
    }

    struct rx_picture picture = {.device = device};
    acclib_transport_visit(device, show_message, &picture);
    for (struct list_node *at = device->communicators.first; at != NULL; at = at->next) {
        const struct communicator *c = communicator_of(at);
        if (c->exchange_address == UINT32_MAX)
            continue;
        uint32_t *w = &x[c->exchange_address / 4];
        *w++ = c->n;
        *w++ = c->me;
        for (uint32_t i = 0; i < c->n; i++) {
            *w++ = c->ranks[i].ip;
            *w++ = c->ranks[i].port;
            *w++ = c->members[i].inbound;
            *w++ = c->members[i].outbound;
            *w++ = c->ranks[i].session;
            *w++ = c->ranks[i].max_segment_size;
        }
    }

    x[ACCL_EXCHANGE_RETCODE / 4] = device->last_retcode;
    x[ACCL_EXCHANGE_PERFCTR / 4] = (uint32_t)(ticks_to_ns(&device->ticks, device->last_ticks) / 4);
    x[ACCL_EXCHANGE_HWID / 4] = device->stack | 0x3Cu;
}

static int check_offset(accl_device *device, uint32_t offset)
{
    int status = acclib_device_check(device);
    if (status == ACCL_OK && (offset % 4 || offset >= ACCL_EXCHANGE_SIZE))
        status = acclib_fail(ACCL_INVALID, "exchange memory has no word at 0x%x", offset);
    return status;
}

ACCL_EXPORT int accl_exchange_read(accl_device *device, uint32_t offset, uint32_t *value)
{
    if (value == NULL)
        return acclib_is_null("accl_exchange_read", "value");

    *value = 0;
    int status = check_offset(device, offset);
    if (status == ACCL_OK)
        status = acclib_executor_enter(device);
    if (status != ACCL_OK)
        return status;
    if (offset != ACCL_EXCHANGE_CFGRDY)
        acclib_exchange_refresh(device);
    *value = device->exchange[offset / 4];
    acclib_executor_leave(device);

    return ACCL_OK;
}

ACCL_EXPORT int accl_exchange_write(accl_device *device, uint32_t offset, uint32_t value)
{
    int status = check_offset(device, offset);
    if (status == ACCL_OK)
        status = acclib_executor_enter(device);
    if (status != ACCL_OK)
        return status;

    device->exchange[offset / 4] = value;
    acclib_executor_leave(device);

    return ACCL_OK;
}
