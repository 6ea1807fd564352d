/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the state of a device. */
#include "accl/engine/communicator.h"
#include "accl/engine/exchange.h"
#include "accl/transport/executor.h"
#include "accl/transport/transport.h"
#include "common/text.h"

/* DUMP writes with the executor's rights. */
static int dump(accl_device *device, char *text, size_t space, size_t *needed,
                int (*write)(accl_device *, struct text *, uint32_t), uint32_t argument)
{
    if (needed != NULL)
        *needed = 0;
    if (text == NULL && space)
        return acclib_is_null("accl_dump", "text");
    if (space)
        text[0] = 0;
    int status = acclib_device_enter(device);
    if (status != ACCL_OK)
        return status;

    struct text out = {.at = text, .size = space};
    acclib_exchange_refresh(device);
    status = write(device, &out, argument);
    acclib_executor_leave(device);
    if (needed != NULL)
        *needed = out.length;

    return status;
}

static int write_rx(accl_device *device, struct text *out, uint32_t unused)
{
    (void)unused;
    static const char *const states[] = {"NOT USED", "ENQUEUED", "RESERVED", "?", "ERROR"};
    text_add(out, "rx buffers: %u of %llu bytes\n", device->rx_count,
             (unsigned long long)device->rx_bytes);
    for (uint32_t i = 0; i < device->rx_count; i++) {
        const uint32_t *r = &device->exchange[1 + i * 8];
        text_add(out, "rx buffer %u: address 0x%llx status %s", i,
                 (unsigned long long)r[2] << 32 | r[1], states[r[0] <= 4 ? r[0] : 3]);
        if (r[0] == ACCL_RX_RESERVED)
            text_add(out, " tag %u length %u source %u sequence %u", r[4], r[5], r[6], r[7]);
        text_add(out, "\n");
    }

    return ACCL_OK;
}

static int write_communicator(accl_device *device, struct text *out, uint32_t id)
{
    const struct communicator *c = acclib_communicator_find(device, id);
    if (c == NULL)
        return acclib_communicator_missing(device, id);

    text_add(out, "Communicator %u at address %u, rank %u of %u:\n", c->id, c->exchange_address,
             c->me, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t ip = c->ranks[i].ip;
        text_add(out,
                 "Rank %u -> IP: %u.%u.%u.%u, Port: %u, Session: %u, SegSize: %u, ISeq: %u, "
                 "OSeq: %u%s\n",
                 i, ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, c->ranks[i].port,
                 c->ranks[i].session, c->ranks[i].max_segment_size, c->members[i].inbound,
                 c->members[i].outbound, i == c->me ? " (this rank)" : "");
    }

    return ACCL_OK;
}

static int write_exchange(accl_device *device, struct text *out, uint32_t unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ACCL_EXCHANGE_SIZE / 4; i += 4) {
        const uint32_t *x = &device->exchange[i];
        if (x[0] | x[1] | x[2] | x[3])
            text_add(out, "%04x: %08x %08x %08x %08x\n", i * 4, x[0], x[1], x[2], x[3]);
    }

    return ACCL_OK;
}

ACCL_EXPORT int accl_dump_rx_buffers(accl_device *device, char *text, size_t space, size_t *needed)
{
    return dump(device, text, space, needed, write_rx, 0);
}

ACCL_EXPORT int accl_dump_communicator(accl_device *device, uint32_t comm, char *text, size_t space,
                                       size_t *needed)
{
    return dump(device, text, space, needed, write_communicator, comm);
}

ACCL_EXPORT int accl_dump_exchange_memory(accl_device *device, char *text, size_t space,
                                          size_t *needed)
{
    return dump(device, text, space, needed, write_exchange, 0);
}

/* Not as the executor, which may be the one that waits. */
ACCL_EXPORT int accl_dump_waits(accl_device *device, char *text, size_t space, size_t *needed)
{
    if (text == NULL && space)
        return acclib_is_null("accl_dump_waits", "text");
    if (needed != NULL)
        *needed = 0;
    if (space)
        text[0] = 0;
    int status = acclib_device_check(device);
    if (status != ACCL_OK)
        return status;

    struct text out = {.at = text, .size = space};
    for (uint32_t i = 0; i < device->ranks; i++)
        device->world[i].transport->describe(device, i, &out);
    if (needed != NULL)
        *needed = out.length;

    return ACCL_OK;
}
