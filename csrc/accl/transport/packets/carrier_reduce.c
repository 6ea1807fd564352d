/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/packets/carrier_reduce.h"

#include <sched.h>
#include <stdlib.h>

#include "accl/arithmetic/convert.h"
#include "accl/arithmetic/dtype.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/packets/carried_reduction.h"
#include "accl/transport/packets/inspect.h"
#include "accl/transport/transport.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"

/* Looks in vain before this thread lets others run, and checks what ends a wait. */
#define TURNS 8
/* From that time on it naps between looks, so that MPI does not take a core for long. */
#define NAP_AFTER_NS (5 * CLOCK_MILLISECOND)
#define NAP_NS INT64_C(20000)
#define ALIGNMENT 64

static struct mpi_reduction describe(const struct operation *op)
{
    const struct accl_call *call = op->call;
    return (struct mpi_reduction){.operation = call->operation,
                                  .function = call->function,
                                  .type = op->arithmetic,
                                  .root = call->operation == ACCL_REDUCE ? call->root_src_dst : 0,
                                  .count = op->count};
}

bool acclib_carrier_reduces(const accl_device *device, const struct operation *op)
{
    const struct carrier *c = carrier_of(device);
    if (c == NULL || !c->mpi.reductions || op->facts->work != ACCL_WORK_COMPUTES)
        return false;

    struct mpi_reduction reduction = describe(op);
    bool is_first = op->comm->id == 0 && op->comm->outer == NULL;
    return is_first && op->count > 0 && op->wire == op->arithmetic &&
           acclib_mpi_reduces(&c->mpi, &reduction, op->comm->n);
}

/* --- memory --- */

static struct carried_reduction *make_room(struct carrier *c, uint64_t bytes)
{
    struct carried_reduction *r = c->room;
    c->room = NULL;
    if (r == NULL || r->capacity < bytes) {
        free(r);
        r = malloc(sizeof *r + bytes);
        if (r != NULL)
            r->capacity = bytes;
    }
    return r;
}

/* --- waiting --- */

/* Looks up to TURNS times whether it has ended, and once for packets. */
static bool look(accl_device *device, struct carrier *c, const struct carried_reduction *r)
{
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < TURNS && !r->ended && !c->stopped; i++)
        acclib_carried_reductions_test(c);
    if (!r->ended && !c->stopped)
        acclib_carrier_move(device, c, NO_RANK);
    bool ended = r->ended;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

static uint32_t pause_between(struct waiter *waiter)
{
    int64_t now = clock_now();
    if (!waiter->began)
        waiter->began = now;
    if (now - waiter->began >= NAP_AFTER_NS)
        return acclib_wait_pause_briefly(waiter, NAP_NS);
    sched_yield();
    return acclib_wait_pause_briefly(waiter, 0);
}

static uint32_t await(accl_device *device, const struct operation *op, struct carrier *c,
                      struct carried_reduction *r)
{
    struct waiter waiter;
    acclib_wait_begin(&waiter, device, op->comm, NO_RANK, true, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    waiter.transport = acclib_transport_reducer(device, op); /* others may have another one */
    acclib_note_wait(device, op->call->operation, NO_RANK, 0, (uint32_t)op->comm->current,
                     op->comm->key);
    acclib_wake_flush(device);
    acclib_carrier_take_over(device);

    uint32_t bits = 0;
    while (!look(device, c, r) && !bits)
        bits = pause_between(&waiter);

    acclib_carrier_hand_back(device);
    acclib_wait_end(&waiter);

    pthread_mutex_lock(&c->lock);
    bool ended = r->ended;
    r->awaited = ended;
    pthread_mutex_unlock(&c->lock);
    if (ended)
        device->text[0] = 0;
    return ended ? 0 : bits;
}

/* --- errors --- */

static uint32_t fails(accl_device *device, const struct carrier *c, const struct operation *op,
                      int error)
{
    char text[128];
    acclib_mpi_describe(&c->mpi, error, text, sizeof text);
    return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR), "MPI's own %s: %s",
                            acclib_call_name(op->comm, op->call), text);
}

static uint32_t times_out(accl_device *device, const struct operation *op)
{
    return acclib_call_fail(device, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
                            "MPI's own %s of communicator %u did not end within %u ms",
                            acclib_call_name(op->comm, op->call), op->comm->id, device->timeout_ms);
}

/* --- a reduction --- */

static uint32_t begin(accl_device *device, const struct operation *op, struct carrier *c,
                      struct carried_reduction *r, uint8_t *result)
{
    struct mpi_reduction reduction = describe(op);
    pthread_mutex_lock(&c->lock);
    if (c->stopped || !acclib_carrier_is_mine(device)) {
        pthread_mutex_unlock(&c->lock);
        free(r);
        return acclib_call_fail(device, ACCL_ERROR(PEER_LOST_ERROR),
                                "MPI no longer carries packets: it was stopped here");
    }

    r->awaited = true;
    r->ended = false;
    r->error = c->mpi.calls->reduce(&c->mpi, &reduction, r->memory, result, &r->request);
    c->reduction_failed |= r->error != 0;
    int error = r->error;
    list_append(error ? &c->failed : &c->reducing, &r->in_list);
    pthread_mutex_unlock(&c->lock);

    return error ? fails(device, c, op, error) : 0;
}

static uint32_t run(accl_device *device, const struct operation *op)
{
    struct carrier *c = carrier_of(device);
    uint64_t elements = op->count * operation_parts_read(op->facts, op->comm->n);
    uint64_t size = acclib_dtype_bytes(op->arithmetic);
    uint64_t operands = (elements * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t bytes = operands + (op->result != NULL ? op->count * size : 0);
    struct carried_reduction *r = make_room(c, bytes);
    if (r == NULL)
        return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes of a reduction)",
                                (unsigned long long)bytes);

    uint8_t *result = op->result != NULL ? r->memory + operands : NULL;
    acclib_convert(r->memory, op->arithmetic, op->source, op->source_type, elements, false);
    uint32_t bits = begin(device, op, c, r, result);
    if (bits)
        return bits;

    bits = await(device, op, c, r);
    if (bits)
        return bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0] ? times_out(device, op)
                                                                             : bits;
    if (r->error)
        return fails(device, c, op, r->error);

    if (result != NULL)
        acclib_convert(op->result, op->result_type, result, op->arithmetic, op->count, false);
    c->room = r;
    return 0;
}

uint32_t acclib_carrier_reduce(accl_device *device, const struct operation *op)
{
    uint32_t bits = run(device, op);

    /* A communicator with hosts gives up its inner ones only, so this one is given up here. */
    if (bits && op->comm->hosts != NULL)
        acclib_packets_give_up(device, op->comm);
    return bits;
}
