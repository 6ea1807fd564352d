/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/ticket.h"

#include "accl/arithmetic/dtype.h"
#include "accl/base/operation.h"

static enum ticket_kind kind_of(const struct accl_call *call)
{
    const struct accl_operation_facts *facts = operation_facts(call->operation);
    switch ((enum accl_operation_kind)facts->kind) {
    case ACCL_KIND_CONTROL:
        return call->operation == ACCL_CONFIG && call->function == ACCL_CFG_TIMEOUT ? TICKET_SETTING
                                                                                    : TICKET_FENCE;
    case ACCL_KIND_LOCAL: return TICKET_LOCAL;
    case ACCL_KIND_MESSAGE: return facts->reads ? TICKET_SEND : TICKET_RECEIVE;
    case ACCL_KIND_ROOTED:
    case ACCL_KIND_SYMMETRIC:
        return call->operation == ACCL_BARRIER ? TICKET_BARRIER : TICKET_COLLECTIVE;
    case ACCL_KIND_UNKNOWN: break;
    }
    return TICKET_COLLECTIVE; /* fails when it is executed */
}

static void add_range(struct ticket *ticket, uint64_t address, uint64_t count, uint32_t type,
                      bool written)
{
    uint64_t bytes = acclib_dtype_bytes(type);

    /* A range that is not inside memory fails when the call is executed. */
    if (address == ACCL_NO_ADDRESS || !count || !bytes || count > (UINT64_MAX - address) / bytes)
        return;
    ticket->memory[ticket->ranges++] =
        (struct memory_range){.from = address, .to = address + count * bytes, .written = written};
}

/* The memory that CALL reads and writes. */
static void add_ranges(struct ticket *ticket, struct communicator *comm,
                       const struct accl_call *call)
{
    struct operation op = {.call = call, .facts = operation_facts(call->operation), .comm = comm};
    uint64_t source, result;
    acclib_operation_extents(&op, &source, &result);

    uint32_t flags = call->compression_flags;
    uint32_t small = call->compressed_dtype == ACCL_NONE ? call->dtype : call->compressed_dtype;
    uint32_t source_type = flags & ACCL_OP0_COMPRESSED ? small : call->dtype;
    uint32_t source2_type = flags & ACCL_OP1_COMPRESSED ? small : call->dtype;
    uint32_t result_type = flags & ACCL_RES_COMPRESSED ? small : call->dtype;
    bool bcast = call->operation == ACCL_BCAST;
    if (bcast)
        result_type = source_type;

    if (!(call->stream_flags & ACCL_OP0_STREAM))
        add_range(ticket, call->address[0], source, source_type, false);
    if (call->operation == ACCL_COMBINE)
        add_range(ticket, call->address[1], source, source2_type, false);
    if (!(call->stream_flags & ACCL_RES_STREAM))
        add_range(ticket, call->address[bcast ? 0 : 2], result, result_type, true);
}

static void make(accl_device *device, struct ticket *ticket, const struct accl_call *call)
{
    *ticket = (struct ticket){.call = call, .kind = kind_of(call)};
    if (ticket->kind == TICKET_FENCE || ticket->kind == TICKET_SETTING)
        return;

    ticket->takes_stream = (call->stream_flags & ACCL_OP0_STREAM) != 0;
    ticket->puts_stream = (call->stream_flags & ACCL_RES_STREAM) && ticket->kind != TICKET_SEND;

    bool local = ticket->kind == TICKET_LOCAL;
    struct communicator *comm = local ? NULL : acclib_communicator_find(device, call->comm);
    if (local || comm != NULL)
        add_ranges(ticket, comm, call);
}

static bool memory_conflicts(const struct ticket *a, const struct ticket *b)
{
    for (uint32_t i = 0; i < a->ranges; i++)
        for (uint32_t k = 0; k < b->ranges; k++) {
            const struct memory_range *x = &a->memory[i], *y = &b->memory[k];
            if ((x->written || y->written) && x->from < y->to && y->from < x->to)
                return true;
        }
    return false;
}

static bool tags_meet(uint32_t a, uint32_t b)
{
    return a == b || a == ACCL_TAG_ANY || b == ACCL_TAG_ANY;
}

/* True if LATER has to wait until EARLIER is finished. */
static bool conflicts(const struct ticket *earlier, const struct ticket *later)
{
    if (earlier->kind == TICKET_FENCE || later->kind == TICKET_FENCE ||
        earlier->kind == TICKET_SETTING)
        return true;
    if (later->kind == TICKET_SETTING)
        return false;

    if ((earlier->takes_stream && later->takes_stream) ||
        (earlier->puts_stream && later->puts_stream) || memory_conflicts(earlier, later))
        return true;

    const struct accl_call *a = earlier->call, *b = later->call;
    if (earlier->kind == TICKET_LOCAL || later->kind == TICKET_LOCAL || a->comm != b->comm)
        return false;
    if (earlier->kind == TICKET_BARRIER || later->kind == TICKET_BARRIER)
        return true;
    if (earlier->kind != later->kind)
        return false;

    switch (earlier->kind) {
    case TICKET_SEND: return a->root_src_dst == b->root_src_dst;
    case TICKET_RECEIVE: return a->root_src_dst == b->root_src_dst && tags_meet(a->tag, b->tag);
    default: return true;
    }
}

void acclib_ticket_add(accl_device *device, struct ticket *ticket, const struct accl_call *call)
{
    make(device, ticket, call);
    list_append(&device->tickets, &ticket->in_device);
    atomic_fetch_add(&device->unfinished, 1);
}

bool acclib_ticket_may_start(const accl_device *device, const struct ticket *ticket)
{
    struct list_node *at = device->tickets.first;
    while (at != &ticket->in_device && !conflicts(ticket_of(at), ticket))
        at = at->next;
    return at == &ticket->in_device;
}

bool acclib_ticket_uses(const struct ticket *ticket, uint32_t comm)
{
    bool has_none = ticket->kind == TICKET_LOCAL || ticket->kind == TICKET_FENCE ||
                    ticket->kind == TICKET_SETTING;
    return !has_none && ticket->call->comm == comm;
}

void acclib_ticket_remove(accl_device *device, struct ticket *ticket)
{
    list_remove(&device->tickets, &ticket->in_device);
    atomic_fetch_sub(&device->unfinished, 1);
    pthread_cond_broadcast(&device->changed);
}

void acclib_ticket_show_waiting(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (device->ticket == NULL) {
        /* It began when there was no other: it is the first. */
        struct ticket *own = &device->own_ticket;
        make(device, own, device->call);
        own->started = true;
        list_prepend(&device->tickets, &own->in_device);
        atomic_fetch_add(&device->unfinished, 1);
        device->ticket = own;
    }

    device->ticket->waits = true;
    if (device->call_waits != NULL)
        device->call_waits(device, device->ticket);
    pthread_mutex_unlock(&device->lock);
}

void acclib_ticket_show_going(accl_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->ticket->waits = false;
    if (device->call_waits != NULL)
        device->call_waits(device, device->ticket);
    pthread_mutex_unlock(&device->lock);
}

bool acclib_ticket_is_first_receive(accl_device *device)
{
    const struct ticket *own = device->ticket;
    if (own == NULL)
        return true;

    pthread_mutex_lock(&device->lock);
    struct list_node *at = device->tickets.first;
    for (; at != &own->in_device; at = at->next) {
        const struct ticket *t = ticket_of(at);
        if (t->kind == TICKET_RECEIVE && t->call->comm == own->call->comm &&
            t->call->root_src_dst == own->call->root_src_dst)
            break;
    }
    pthread_mutex_unlock(&device->lock);

    return at == &own->in_device;
}
