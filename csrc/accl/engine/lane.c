/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: what the members of a communicator show to each other of their collective calls.
 *
 * A post has a signature of its call and of all calls before it, so whoever waits for a post finds
 * out whether the ranks agree. Who waits for nobody, as the root of a small broadcast, does not: so
 * each rank also writes down its last calls beside the number that it is done with, where the
 * others come by anyway. From these notes it is said which rank called what.
 */
#include "accl/engine/lane.h"

#include <string.h>

struct lane_post *lane_post_of(struct lane *lane, uint64_t number)
{
    return &lane->posts[number % LANE_POSTS];
}

static bool has_root(uint32_t operation)
{
    return operation == ACCL_BCAST || operation == ACCL_SCATTER || operation == ACCL_GATHER ||
           operation == ACCL_REDUCE;
}

static bool has_function(uint32_t operation)
{
    return operation == ACCL_REDUCE || operation == ACCL_ALLREDUCE ||
           operation == ACCL_REDUCE_SCATTER;
}

uint32_t lane_signature(const struct operation *op)
{
    const struct accl_call *c = op->call;
    uint64_t words[] = {op->comm->signature,
                        c->operation,
                        c->count,
                        has_root(c->operation) ? c->root_src_dst : 0,
                        has_function(c->operation) ? c->function : 0,
                        op->type,
                        op->wire};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(hash >> 32);
}

/* ------------------------------------------------------------------ notes of calls */

/* Operation, root, and two bits that tell a note from the one that was at its place before. */
static uint16_t make_note(uint32_t operation, uint32_t root, uint64_t number)
{
    return (uint16_t)(operation << 12 | root << 2 | (number / LANE_NOTES & 3));
}

static bool is_of(uint16_t note, uint64_t number)
{
    return note >> 12 && (note & 3) == (number / LANE_NOTES & 3);
}

static uint16_t note_of(const struct lane *lane, uint64_t number)
{
    return atomic_load_explicit(&lane->notes[number % LANE_NOTES], memory_order_relaxed);
}

void lane_begin_call(struct communicator *comm, const struct accl_call *call, uint64_t number)
{
    uint32_t root = has_root(call->operation) ? call->root_src_dst : 0;
    comm->notes[number % LANE_NOTES] = make_note(call->operation, root, number);
    comm->current = number;
}

void lane_show_call(const struct communicator *comm)
{
    uint64_t place = comm->current % LANE_NOTES;
    if (comm->current)
        atomic_store_explicit(&comm->lane->notes[place], comm->notes[place], memory_order_relaxed);
}

static void describe(struct text_out *out, uint32_t index, uint16_t note)
{
    uint32_t operation = note >> 12;
    text_add(out, "%srank %u %s", out->length ? ", " : "", index, operation_name(operation));
    if (has_root(operation))
        text_add(out, " with root %u", note >> 2 & 1023);
}

/* Says what the members call as number NUMBER; of member INDEX it is known to be POSTED. */
static uint32_t tell_calls(accl_device *device, const struct communicator *comm, uint64_t number,
                           uint32_t index, uint16_t posted)
{
    char text[TEXT_BYTES / 2];
    struct text_out out = {.text = text, .space = sizeof text};
    text[0] = 0;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint16_t note = comm->notes[number % LANE_NOTES];
        if (i == index)
            note = posted;
        else if (i != comm->me)
            note = comm->members[i].lane ? note_of(comm->members[i].lane, number) : 0;
        if (is_of(note, number))
            describe(&out, i, note);
    }
    return call_fail(device, ACCL_ERROR(CALL_MISMATCH_ERROR),
                     "the ranks made different calls as collective call %llu on communicator %u: "
                     "%s%s",
                     (unsigned long long)number, comm->id, text,
                     out.length >= out.space ? " ..." : "");
}

uint32_t lane_call(const struct communicator *comm)
{
    return comm->notes[comm->current % LANE_NOTES];
}

static uint32_t tell_difference(accl_device *device, const struct communicator *comm,
                                uint64_t number, uint32_t index)
{
    uint32_t operation = comm->notes[number % LANE_NOTES] >> 12;
    return call_fail(device, ACCL_ERROR(CALL_MISMATCH_ERROR),
                     "%s on communicator %u (collective call %llu): rank %u has another count, "
                     "element type or function there, or made a call before that differs",
                     operation_name(operation), comm->id, (unsigned long long)number, index);
}

uint32_t lane_compare_call(accl_device *device, const struct communicator *comm, uint32_t index,
                           const struct call_told *told)
{
    uint64_t number = told->number;
    bool known = number && number <= comm->current && number + LANE_NOTES > comm->current &&
                 index < comm->n && index != comm->me;
    uint16_t own = comm->notes[number % LANE_NOTES], note = (uint16_t)told->note;
    if (!known || !is_of(own, number) || !is_of(note, number))
        return 0;
    if (own != note)
        return tell_calls(device, comm, number, index, note);
    if (number == comm->current && told->signature != comm->signature)
        return tell_difference(device, comm, number, index);
    return 0;
}

uint32_t lane_compare_calls(accl_device *device, const struct communicator *comm)
{
    uint64_t last = comm->current;
    for (uint64_t number = last < LANE_NOTES ? 1 : last - LANE_NOTES + 1; number <= last; number++)
        for (uint32_t i = 0; i < comm->n; i++) {
            const struct lane *lane = comm->members[i].lane;
            uint16_t own = comm->notes[number % LANE_NOTES];
            if (i == comm->me || !lane || !is_of(own, number))
                continue;
            uint16_t note = note_of(lane, number);
            if (note != own && is_of(note, number))
                return tell_calls(device, comm, number, i, note);
        }
    return 0;
}

/* ------------------------------------------------------------------ waiting */

static uint32_t timed_out(accl_device *device, const struct operation *op, uint64_t number,
                          uint32_t index)
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
        uint64_t offset = READ_ONCE(arena->lanes[i].offset);
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
            lane_show_call(comm);
        }
        if (noted && (bits = lane_compare_calls(device, comm)))
            break;
        if ((bits = wait_pause(&w))) {
            if (atomic_load_explicit(word, memory_order_acquire) >= number)
                bits = 0;
            break;
        }
    }
    wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        timed_out(device, op, number, index);
    return bits;
}

/* Whether the others may use elements of TYPE in OP. */
static bool type_fits(const struct operation *op, uint32_t type)
{
    bool fits = type == op->type || (op->type == ACCL_FLOAT32 && type == ACCL_FLOAT16);
    if (has_function(op->call->operation) && op->arithmetic != ACCL_FLOAT16)
        fits = type == op->arithmetic;
    return fits;
}

/* Member INDEX made another call, by its NOTE or by its signature. */
static uint32_t differs(accl_device *device, const struct operation *op, uint32_t index,
                        uint64_t number, uint16_t note)
{
    const struct communicator *comm = op->comm;
    lane_show_call(comm);
    uint32_t bits = lane_compare_calls(device, comm);
    if (bits)
        return bits;
    if (is_of(note, number) && note != comm->notes[number % LANE_NOTES])
        return tell_calls(device, comm, number, index, note);
    return tell_difference(device, comm, number, index);
}

uint32_t lane_wait_post(accl_device *device, const struct operation *op, uint32_t index,
                        uint64_t number, uint32_t signature, struct lane_seen *seen)
{
    const struct lane_post *post = lane_post_of(op->comm->members[index].lane, number);
    /* It is used again only when this rank is done with it. */
    uint32_t bits = lane_wait_word(device, op, index, number, &post->number);
    if (bits)
        return bits;

    seen->source_type = READ_ONCE(post->source_type);
    seen->result_type = READ_ONCE(post->result_type);
    seen->source = READ_ONCE(post->source);
    seen->result = READ_ONCE(post->result);
    seen->data = post->data;
    if (READ_ONCE(post->signature) != signature || !type_fits(op, seen->source_type))
        return differs(device, op, index, number, READ_ONCE(post->note));
    return 0;
}

/* Until member INDEX is done with call NUMBER. */
uint32_t lane_wait_done_by(accl_device *device, const struct operation *op, uint32_t index,
                           uint64_t number)
{
    return lane_wait_word(device, op, index, number, &op->comm->members[index].lane->done);
}

/* Until every member is done with call NUMBER. */
uint32_t lane_wait_done(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    for (uint32_t i = 0; i < comm->n; i++) {
        if (i == comm->me)
            continue;
        uint32_t bits = lane_wait_done_by(device, op, i, number);
        if (bits)
            return bits;
        uint16_t note = note_of(comm->members[i].lane, number);
        if (note != comm->notes[number % LANE_NOTES])
            return differs(device, op, i, number, note);
    }
    if (comm->all_done < number)
        comm->all_done = number;
    return 0;
}

void lane_wake_members(accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++)
        if (i != comm->me)
            wake_later(device, &device->peers[comm->members[i].rank]);
}

void lane_publish(accl_device *device, const struct operation *op, struct lane_post *post,
                  uint64_t number)
{
    lane_wake_members(device, op->comm);
    post->note = op->comm->notes[number % LANE_NOTES];
    atomic_store_explicit(&post->number, number, memory_order_release);
}

void lane_finish(accl_device *device, const struct operation *op, uint64_t number)
{
    lane_wake_members(device, op->comm);
    lane_show_call(op->comm);
    atomic_store_explicit(&op->comm->lane->done, number, memory_order_release);
}

/* ------------------------------------------------------------------ meeting */

static bool all_have_met(const struct communicator *comm)
{
    uint32_t i = 0;
    while (i < comm->n && atomic_load(&comm->members[i].lane->met))
        i++;
    return i == comm->n;
}

/* Until member INDEX has found everybody's lane. */
static uint32_t wait_until_met(accl_device *device, const struct operation *op, uint32_t index)
{
    struct communicator *comm = op->comm;
    const _Atomic uint32_t *met = &comm->members[index].lane->met;
    struct waiter w;
    uint32_t bits = 0;
    wait_begin(&w, device, comm, comm->members[index].rank, true,
               ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!atomic_load(met) && !(bits = wait_pause(&w)))
        ;
    wait_end(&w);
    /* Who has met all may have gone on, and left. */
    if (bits && all_have_met(comm))
        bits = 0;
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        timed_out(device, op, 1, index);
    return bits;
}

uint32_t lanes_meet(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    uint32_t bits = 0;
    /* Those that are here first: they know who has died. */
    for (uint32_t i = 0; i < comm->n; i++) {
        struct member *member = &comm->members[i];
        struct peer *peer = &device->peers[member->rank];
        if (!member->lane && !peer->arena)
            attach_try(device, peer);
        if (!member->lane)
            look_for_lane(comm, member, peer);
    }
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        if (!comm->members[i].lane)
            bits = find_lane(device, op, i);
    if (bits)
        return bits;

    lane_wake_members(device, comm);
    atomic_store(&comm->lane->met, 1);
    for (uint32_t i = 0; !bits && i < comm->n; i++)
        bits = wait_until_met(device, op, i);
    comm->met = !bits;
    return bits;
}
