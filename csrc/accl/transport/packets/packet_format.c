/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/packet_format.h"

#include <stdbool.h>

#include "accl.h"
#include "accl/arithmetic/dtype.h"
#include "accl/base/arena.h"

static int payload_allowed(uint8_t kind)
{
    switch (kind) {
#define PAYLOAD_CASE(name, value, payload) \
    case value: return payload;
        PACKET_KINDS(PAYLOAD_CASE)
    default: return -1;
    }
}

const char *acclib_packet_flaw(const struct packet_header *h, uint64_t bytes, uint32_t from)
{
    if (bytes < sizeof *h || bytes > ACCL_PACKET_MAX)
        return "an invalid length";
    if (h->magic != PACKET_MAGIC)
        return "no packet header";
    if (h->version != PACKET_VERSION)
        return "a different version";

    int allowed = payload_allowed(h->kind);
    if (allowed < 0 || h->channel >= CHANNELS)
        return "an unknown kind";
    if (h->from != from)
        return "a different rank as its sender";
    if (h->payload != bytes - sizeof *h || (h->payload && !allowed))
        return "a payload of a different length";
    if (h->kind == PACKET_HELLO)
        return h->segments < 1 || h->segments > ARENA_RX_MAX || h->total < 8 ? "no rx buffers"
                                                                             : NULL;
    bool is_direct = h->kind == PACKET_READY || h->kind == PACKET_DIRECT;
    if (h->total > PACKET_TOTAL_MAX ||
        (!is_direct && (h->offset > h->total || h->payload > h->total - h->offset)))
        return "data outside its message";
    if (is_direct) {
        size_t size = acclib_dtype_bytes(h->wire_type);
        return !size || !h->total || h->total % size ? "no element type" : NULL;
    }
    if (h->kind == PACKET_EAGER || h->kind == PACKET_RTS) {
        size_t size = acclib_dtype_bytes(h->wire_type);
        if (!size || h->total % size || h->segments < 1 || h->offset)
            return "no element type";
        if (h->stream > ACCL_STREAM_ID_MAX + 1 || (h->stream && h->channel != CHANNEL_USER))
            return "an invalid stream number";
    }

    if (h->kind == PACKET_DATA && !h->payload)
        return "no data";

    return NULL;
}
