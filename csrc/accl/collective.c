/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over lanes.
 *
 * Every member of a communicator has a lane in its memory file: a few posts, used in turn, and the
 * number of the last call that it is done with. A member publishes what it contributes under the
 * call's number; the others look for it there. Little data is in the post itself, so nobody has to
 * wait for the readers; for more, see collective_direct.c.
 */
#include <string.h>

#include "accl_transport/packets.h"

struct lane_post *lane_post_of(struct lane *lane, uint64_t number)
{
    return &lane->posts[number % LANE_POSTS];
}

/* Of what must be the same on all ranks. */
uint32_t collective_signature(const struct operation *op)
{
    const struct accl_call *c = op->call;
    uint64_t words[] = {c->operation, c->count, c->root_src_dst, c->function, op->type, op->wire};
    bool rooted = c->operation == ACCL_BCAST || c->operation == ACCL_SCATTER ||
                  c->operation == ACCL_GATHER || c->operation == ACCL_REDUCE;
    bool reduces = c->operation == ACCL_REDUCE || c->operation == ACCL_ALLREDUCE ||
                   c->operation == ACCL_REDUCE_SCATTER;
    if (!rooted)
        words[2] = 0;
    if (!reduces)
        words[3] = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(hash >> 32);
}

static uint32_t collective_timed_out(accl_device *device, const struct operation *op,
                                     uint64_t number, uint32_t index)
{
    return call_fail(device, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
                     "%s on communicator %u (collective call %llu): rank %u did not come in %u ms",
                     operation_name(op->call->operation), op->comm->id, (unsigned long long)number,
                     index, device->timeout_ms);
}

static bool look_for_lane(const struct communicator *comm, struct member *member,
                          const struct peer *peer)
{
    struct arena_header *arena = peer->arena;
    for (uint32_t i = 0; arena && i < ARENA_LANES; i++) {
        if (atomic_load_explicit(&arena->lanes[i].key, memory_order_acquire) != comm->key)
            continue;
        uint64_t offset = arena->lanes[i].offset;
        if (offset % ARENA_LINE == 0 && offset <= peer->arena_bytes &&
            sizeof(struct lane) <= peer->arena_bytes - offset)
            member->lane = (struct lane *)(void *)((uint8_t *)arena + offset);
        break;
    }
    return member->lane != NULL;
}

/* The lane of member INDEX, found by the communicator's key when first needed. */
static uint32_t find_lane(accl_device *device, const struct operation *op, uint32_t index)
{
    struct communicator *comm = op->comm;
    struct member *member = &comm->members[index];
    struct peer *peer = &device->peers[member->rank];
    struct waiter w;
    uint32_t bits = 0;
    int64_t tried = 0, pause = ATTACH_FIRST_NS;
    bool noted = false;
    wait_begin(&w, device, comm, member->rank, true, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!bits && !look_for_lane(comm, member, peer)) {
        if (!peer->arena && clock_now() - tried > pause) {
            tried = clock_now();
            pause = pause < ATTACH_LAST_NS ? 2 * pause : pause;
            bits = attach_try(device, peer);
            continue;
        }
        if (w.armed && !noted) {
            noted = true;
            note_wait(device, op->call->operation, member->rank, 0, (uint32_t)comm->calls,
                      comm->key);
        }
        bits = peer->arena ? wait_pause(&w) : wait_pause_briefly(&w, pause);
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        call_fail(device, bits, "%s: rank %u did not %s communicator %u (key %016llx) in %u ms",
                  operation_name(op->call->operation), index,
                  peer->arena ? "make" : "come up to take part in", comm->id,
                  (unsigned long long)comm->key, device->timeout_ms);
    return bits;
}

/* Until WORD, of member INDEX, is at least NUMBER. */
static uint32_t lane_wait_word(accl_device *device, const struct operation *op, uint32_t index,
                               uint64_t number, const _Atomic uint64_t *word)
{
    struct communicator *comm = op->comm;
    if (atomic_load_explicit(word, memory_order_acquire) >= number)
        return 0;
    struct waiter w;
    uint32_t bits = 0;
    bool noted = false;
    wait_begin(&w, device, comm, comm->members[index].rank, true,
               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (atomic_load_explicit(word, memory_order_acquire) < number) {
        if (w.armed && !noted) {
            noted = true;
            note_wait(device, op->call->operation, comm->members[index].rank, 0, (uint32_t)number,
                      comm->key);
        }
        if ((bits = wait_pause(&w))) {
            if (atomic_load_explicit(word, memory_order_acquire) >= number)
                bits = 0;
            break;
        }
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        collective_timed_out(device, op, number, index);
    return bits;
}

uint32_t lane_wait_post(accl_device *device, const struct operation *op, uint32_t index,
                        uint64_t number, uint32_t signature, struct lane_post **found)
{
    struct communicator *comm = op->comm;
    struct lane_post *post = lane_post_of(comm->members[index].lane, number);
    *found = post;
    /* It is used again only when this rank is done with it. */
    uint32_t bits = lane_wait_word(device, op, index, number, &post->number);
    if (bits)
        return bits;
    if (post->signature != signature)
        return call_fail(device, ACCL_ERROR(CALL_MISMATCH_ERROR),
                         "%s on communicator %u (collective call %llu): rank %u makes another call "
                         "there, or with another count, root, type or function",
                         operation_name(op->call->operation), comm->id, (unsigned long long)number,
                         index);
    return 0;
}

/* Until member INDEX is done with call NUMBER. */
static uint32_t lane_wait_done_by(accl_device *device, const struct operation *op, uint32_t index,
                                  uint64_t number)
{
    return lane_wait_word(device, op, index, number, &op->comm->members[index].lane->done);
}

/* Until every member is done with call NUMBER. */
uint32_t lane_wait_done(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t bits = i == comm->me ? 0 : lane_wait_done_by(device, op, i, number);
        if (bits)
            return bits;
    }
    if (comm->all_done < number)
        comm->all_done = number;
    return 0;
}

static void wake_members(accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++)
        if (i != comm->me)
            wake_later(device, &device->peers[comm->members[i].rank]);
}

void lane_publish(accl_device *device, const struct operation *op, struct lane_post *post,
                  uint64_t number)
{
    wake_members(device, op->comm);
    atomic_store_explicit(&post->number, number, memory_order_release);
}

void lane_finish(accl_device *device, const struct operation *op, uint64_t number)
{
    wake_members(device, op->comm);
    atomic_store_explicit(&op->comm->lane->done, number, memory_order_release);
}

uint32_t allreduce_first(const accl_device *device, const struct operation *op, uint64_t element,
                         uint64_t *run)
{
    uint64_t n = op->comm->n;
    uint64_t segment = device->segment_size / dtype_bytes(op->wire) / n * n;
    if (segment == 0)
        segment = n;
    uint64_t start = element / segment * segment;
    uint64_t length = op->count - start < segment ? op->count - start : segment;
    uint64_t bulk = (length + n - 1) / n;
    uint64_t in_bulk = (element - start) % bulk;
    uint64_t left = start + length - element;
    *run = bulk - in_bulk < left ? bulk - in_bulk : left;
    return (uint32_t)((element - start) / bulk);
}

/* ------------------------------------------------------------------ little data */

struct small {
    accl_device *device;
    const struct operation *op;
    uint64_t number;
    uint32_t signature;
};

static uint32_t small_copy_all(const struct small *s, bool by_destination)
{
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    size_t size = dtype_bytes(op->result_type);
    struct lane_post *post;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t from = (comm->me + i) % comm->n;
        uint32_t bits = lane_wait_post(s->device, op, from, s->number, s->signature, &post);
        if (bits)
            return bits;
        size_t skip = by_destination ? comm->me * op->count * dtype_bytes(post->source_type) : 0;
        convert_copy(op->result + from * op->count * size, op->result_type, post->data + skip,
                     post->source_type, op->count, op->via16 && i > 0);
    }
    return 0;
}

static uint32_t small_reduce(const struct small *s)
{
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    uint32_t kind = op->call->operation;
    const uint8_t *operands[RANKS_MAX];
    uint8_t types[RANKS_MAX];
    for (uint32_t i = 0; i < comm->n; i++) {
        if (i == comm->me && kind == ACCL_REDUCE) {
            operands[i] = op->source;
            types[i] = (uint8_t)op->source_type;
            continue;
        }
        struct lane_post *post;
        uint32_t bits = lane_wait_post(s->device, op, i, s->number, s->signature, &post);
        if (bits)
            return bits;
        size_t skip = kind == ACCL_REDUCE_SCATTER ? comm->me * op->count : 0;
        operands[i] = post->data + skip * dtype_bytes(post->source_type);
        types[i] = post->source_type;
    }
    uint8_t result_type = (uint8_t)op->result_type;
    struct reduction r = {.function = op->call->function,
                          .type = op->arithmetic,
                          .n = comm->n,
                          .operands = operands,
                          .operand_types = types,
                          .first = (comm->me + 1) % comm->n,
                          .n_results = 1,
                          .results = &(uint8_t *){op->result},
                          .result_types = &result_type};
    if (kind != ACCL_ALLREDUCE) {
        reduce_range(&r, 0, op->count);
        return 0;
    }
    uint64_t run;
    for (uint64_t at = 0; at < op->count; at += run) {
        r.first = allreduce_first(s->device, op, at, &run);
        reduce_range(&r, at, run);
    }
    return 0;
}

/* Ranks with a core each look at all others. Ranks that share cores wait until the first is
 * through: it then has the lead, and what it sends next is there when the others come to run. */
static uint32_t small_barrier(const struct small *s)
{
    struct communicator *comm = s->op->comm;
    struct lane_post *post;
    uint32_t bits = 0;
    if (comm->me > 0 && !wait_has_room(s->device)) {
        bits = lane_wait_done_by(s->device, s->op, 0, s->number);
        if (!bits)
            return lane_wait_post(s->device, s->op, 0, s->number, s->signature, &post);
        if (bits != ACCL_ERROR(RECEIVE_TIMEOUT_ERROR))
            return bits;
        bits = 0; /* Who is missing is found below. */
    }
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = lane_wait_post(s->device, s->op, i, s->number, s->signature, &post);
    return bits;
}

static uint32_t small_run(const struct small *s, uint64_t posted)
{
    accl_device *device = s->device;
    const struct operation *op = s->op;
    struct communicator *comm = op->comm;
    uint32_t root = op->call->root_src_dst, kind = op->call->operation;
    bool is_root = comm->me == root;
    bool from_root = kind == ACCL_BCAST || kind == ACCL_SCATTER;
    bool to_root = kind == ACCL_GATHER || kind == ACCL_REDUCE;
    struct lane_post *post = lane_post_of(comm->lane, s->number);
    if (from_root ? is_root : !to_root || !is_root) {
        post->signature = s->signature;
        post->source_type = (uint8_t)op->source_type;
        if (posted)
            memcpy(post->data, op->source, posted * dtype_bytes(op->source_type));
        lane_publish(device, op, post, s->number);
    }
    uint32_t bits = 0;
    switch (kind) {
    case ACCL_BARRIER: bits = small_barrier(s); break;
    case ACCL_BCAST:
    case ACCL_SCATTER: {
        if (!is_root)
            bits = lane_wait_post(device, op, root, s->number, s->signature, &post);
        else if (kind == ACCL_BCAST)
            break;
        size_t skip = kind == ACCL_SCATTER ? comm->me * op->count : 0;
        if (!bits)
            convert_copy(op->result, op->result_type,
                         post->data + skip * dtype_bytes(post->source_type), post->source_type,
                         op->count, op->via16 && !is_root);
        break;
    }
    case ACCL_GATHER: {
        if (!is_root)
            break;
        size_t size = dtype_bytes(op->result_type);
        convert_copy(op->result + root * op->count * size, op->result_type, op->source,
                     op->source_type, op->count, false);
        for (uint32_t i = 1; !bits && i < comm->n; i++) {
            uint32_t from = (root + i) % comm->n;
            bits = lane_wait_post(device, op, from, s->number, s->signature, &post);
            if (!bits)
                convert_copy(op->result + from * op->count * size, op->result_type, post->data,
                             post->source_type, op->count, op->via16);
        }
        break;
    }
    case ACCL_ALLGATHER: bits = small_copy_all(s, false); break;
    case ACCL_ALLTOALL: bits = small_copy_all(s, true); break;
    case ACCL_REDUCE:
        if (is_root)
            bits = small_reduce(s);
        break;
    default: bits = small_reduce(s); break;
    }
    if (!bits)
        lane_finish(device, op, s->number);
    return bits;
}

/* ------------------------------------------------------------------ any */

static uint32_t run_alone(const struct operation *op)
{
    if (op->call->operation != ACCL_BCAST && op->call->operation != ACCL_BARRIER)
        convert_copy(op->result, op->result_type, op->source, op->source_type, op->count, false);
    return 0;
}

static uint32_t not_met_yet(const struct communicator *comm)
{
    uint32_t i = 0;
    while (i < comm->n && atomic_load(&comm->members[i].lane->met))
        i++;
    return i;
}

/* Before the first call of a communicator: nobody leaves before all have found its lane. */
static uint32_t meet(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    uint32_t bits = 0, missing;
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        if (!comm->members[i].lane)
            bits = find_lane(device, op, i);
    if (bits)
        return bits;
    wake_members(device, comm);
    atomic_store(&comm->lane->met, 1);
    while (!bits && (missing = not_met_yet(comm)) < comm->n) {
        struct waiter w;
        wait_begin(&w, device, comm, comm->members[missing].rank, true,
                   ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
        while (!atomic_load(&comm->members[missing].lane->met) && !(bits = wait_pause(&w)))
            ;
        wait_end(&w);
        /* Who has met all may have gone on, and left. */
        if (bits && not_met_yet(comm) == comm->n)
            bits = 0;
        if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
            collective_timed_out(device, op, 1, missing);
    }
    comm->met = !bits;
    return bits;
}

static uint32_t run_together(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    uint32_t bits = comm->met ? 0 : meet(device, op);
    if (!bits && number > LANE_POSTS && comm->all_done < number - LANE_POSTS)
        bits = lane_wait_done(device, op, number - LANE_POSTS);
    if (bits)
        return bits;
    uint32_t kind = op->call->operation;
    bool parts = kind == ACCL_SCATTER || kind == ACCL_REDUCE_SCATTER || kind == ACCL_ALLTOALL;
    uint64_t posted = parts ? op->count * comm->n : op->count;
    if (kind == ACCL_BARRIER)
        posted = 0;
    if (posted * dtype_bytes(op->type) > LANE_INLINE)
        return collective_direct(device, op, lane_post_of(comm->lane, number), number);
    struct small s = {
        .device = device, .op = op, .number = number, .signature = collective_signature(op)};
    return small_run(&s, posted);
}

uint32_t collective_run(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    if (comm->n == 1)
        return run_alone(op);
    if (comm->broken)
        return call_fail(device, ACCL_ERROR(PEER_GAVE_UP_ERROR),
                         "an earlier collective on communicator %u failed here (code 0x%x), so its "
                         "ranks are no longer in step: make a new communicator",
                         comm->id, comm->broken);
    uint64_t number = ++comm->calls;
    uint32_t bits = comm->by_packets ? collective_packets(device, op, number)
                                     : run_together(device, op, number);
    if (bits && comm->by_packets) {
        comm->broken = bits;
        packets_give_up(device, comm);
    } else if (bits) {
        comm->broken = bits;
        atomic_store(&comm->lane->gave_up, 1);
        wake_members(device, comm);
    }
    return bits;
}
