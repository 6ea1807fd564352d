/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the state of a device. */
#include <stdio.h>
#include <string.h>

#include "accl/engine/engine.h"

void text_add(struct text_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool room = out->length < out->space;
    int n = vsnprintf(room ? out->text + out->length : NULL, room ? out->space - out->length : 0,
                      format, args);
    va_end(args);
    if (n > 0)
        out->length += (size_t)n;
}

const char *operation_name(uint32_t operation)
{
    switch (operation) {
#define OPERATION_CASE(name, value) \
    case value: return #name;
        ACCL_OPERATION_LIST(OPERATION_CASE)
    default: return "?";
    }
}

/* DUMP writes with the executor's rights. */
static int dump(accl_device *device, char *text, size_t space, size_t *needed,
                int (*write)(accl_device *, struct text_out *, uint32_t), uint32_t argument)
{
    if (needed)
        *needed = 0;
    if (!text && space)
        return accl_is_null("accl_dump", "text");
    if (space)
        text[0] = 0;
    int status = device_check(device);
    if (status == ACCL_OK)
        status = executor_enter(device);
    if (status != ACCL_OK)
        return status;
    struct text_out out = {.text = text, .space = space};
    exchange_refresh(device);
    status = write(device, &out, argument);
    executor_leave(device);
    if (needed)
        *needed = out.length;
    return status;
}

static int write_rx(accl_device *device, struct text_out *out, uint32_t unused)
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

static int write_communicator(accl_device *device, struct text_out *out, uint32_t id)
{
    const struct communicator *c = communicator_find(device, id);
    if (!c)
        return accl_fail(ACCL_NOT_FOUND, "no communicator %u", id);
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

static int write_exchange(accl_device *device, struct text_out *out, uint32_t unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ACCL_EXCHANGE_SIZE / 4; i += 4) {
        const uint32_t *x = &device->exchange[i];
        if (x[0] | x[1] | x[2] | x[3])
            text_add(out, "%04x: %08x %08x %08x %08x\n", i * 4, x[0], x[1], x[2], x[3]);
    }
    return ACCL_OK;
}

static void write_wait(struct text_out *out, uint32_t rank, const struct arena_header *arena)
{
    const struct wait_note *note = &arena->waits;
    uint32_t version = atomic_load(&note->version);
    uint32_t operation = READ_ONCE(note->operation), peer = READ_ONCE(note->peer);
    uint32_t tag = READ_ONCE(note->tag), sequence = READ_ONCE(note->sequence);
    uint64_t key = READ_ONCE(note->key);
    uint64_t waited = (uint64_t)clock_now() - (uint64_t)READ_ONCE(note->since);
    if (atomic_load(&arena->closed)) {
        text_add(out, "rank %u has closed its device\n", rank);
        return;
    }
    if (operation == NO_RANK || version % 2 || version != atomic_load(&note->version)) {
        text_add(out, "rank %u waits for nobody\n", rank);
        return;
    }
    text_add(out, "rank %u waits in %s for rank %u, communicator key %016llx, ", rank,
             operation_name(operation), peer, (unsigned long long)key);
    if (operation == ACCL_SEND || operation == ACCL_RECV)
        text_add(out, "tag %u, sequence %u", tag, sequence);
    else
        text_add(out, "collective call %u", sequence);
    text_add(out, ", for %llu ms\n", (unsigned long long)(waited / CLOCK_MILLISECOND));
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

/* Not as the executor, who may be the one that waits. */
ACCL_EXPORT int accl_dump_waits(accl_device *device, char *text, size_t space, size_t *needed)
{
    if (!text && space)
        return accl_is_null("accl_dump_waits", "text");
    if (needed)
        *needed = 0;
    if (space)
        text[0] = 0;
    int status = device_check(device);
    if (status != ACCL_OK)
        return status;
    struct text_out out = {.text = text, .space = space};
    for (uint32_t i = 0; i < device->ranks; i++) {
        const struct arena_header *arena = device->peers[i].arena;
        if (arena)
            write_wait(&out, i, arena);
        else if (device->peers[i].address.reach == ACCL_REACH_PACKETS)
            text_add(&out, "rank %u is reached by packets\n", i);
        else
            text_add(&out, "rank %u was not met yet\n", i);
    }
    if (needed)
        *needed = out.length;
    return ACCL_OK;
}
