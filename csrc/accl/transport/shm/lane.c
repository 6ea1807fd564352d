/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/lane.h"

#include "accl/arithmetic/dtype.h"
#include "accl/transport/call_notes.h"
#include "accl/transport/shm/lane_meet.h"
#include "accl/transport/wait.h"
#include "accl/transport/wait_note.h"
#include "accl/transport/wake.h"
#include "common/clock.h"
#include "common/copy.h"
#include "common/spin.h"

/* Several times what a round takes. */
#define ROUND_NS INT64_C(50000)
#define SPINS_PER_LOOK 32

_Static_assert(LANE_NOTES == CALL_NOTES, "a lane has all notes of its communicator");
_Static_assert(LANE_MEMBERS == RANKS_MAX, "a lane has a bit for each member");

/* --- notes of calls --- */

/* The note that LANE has of call NUMBER, if it is of that call. */
static uint16_t note_of(const struct lane *lane, uint64_t number)
{
    return atomic_load_explicit(&lane->notes[number % LANE_NOTES], memory_order_relaxed);
}

/* A call_note_source. */
static uint16_t note_of_member(const struct communicator *comm, uint32_t index, uint64_t number)
{
    const struct lane *lane = comm->lanes->of[index];
    return lane != NULL ? note_of(lane, number) : 0;
}

void acclib_lane_show_call(const struct communicator *comm)
{
    uint64_t place = comm->current % LANE_NOTES;
    if (comm->current)
        atomic_store_explicit(&comm->lanes->own->notes[place], comm->notes[place],
                              memory_order_relaxed);
}

uint32_t acclib_lane_compare_calls(accl_device *device, const struct communicator *comm)
{
    uint64_t last = comm->current;
    acclib_lane_look(device, comm);
    for (uint64_t number = last < LANE_NOTES ? 1 : last - LANE_NOTES + 1; number <= last; number++)
        for (uint32_t i = 0; i < comm->n; i++) {
            uint16_t own = call_note(comm, number);
            if (i == comm->me || comm->lanes->of[i] == NULL || !call_note_is_of(own, number))
                continue;

            uint16_t note = note_of_member(comm, i, number);
            if (note != own && call_note_is_of(note, number))
                return acclib_call_tell(device, comm, number, i, note, note_of_member);
        }
    return 0;
}

/* CALL_MISMATCH_ERROR: member INDEX made another call, by its NOTE or by its signature. */
static uint32_t tell_difference(accl_device *device, const struct communicator *comm,
                                uint32_t index, uint64_t number, uint16_t note)
{
    acclib_lane_show_call(comm);
    uint32_t bits = acclib_lane_compare_calls(device, comm);
    if (bits)
        return bits;

    if (call_note_is_of(note, number) && note != call_note(comm, number))
        return acclib_call_tell(device, comm, number, index, note, note_of_member);
    return acclib_call_differs(device, comm, number, index);
}

/* --- waiting for the others --- */

/* Notes that member INDEX did not come to call NUMBER before the deadline. Error bits. */
static uint32_t tell_timeout(accl_device *device, const struct operation *op, uint64_t number,
                             uint32_t index)
{
    return acclib_call_fail(device, ACCL_ERROR(RECEIVE_TIMEOUT_ERROR),
                            "%s on communicator %u (collective call %llu): rank %u did not come "
                            "within the timeout of %u ms",
                            acclib_call_name(op->comm, op->call), op->comm->id,
                            (unsigned long long)communicator_shown_call(op->comm, number),
                            communicator_shown(op->comm, index), device->timeout_ms);
}

/* The call that a member shows, and how many rounds of it, if that matters; or another word for
 * just that call. */
struct shown {
    const _Atomic uint64_t *call, *made;
    uint64_t number, rounds;
};

/* A member sets its rounds to 0 or 1 before it shows a later call: so they are at least those of
 * the call that was read before them, or that one is over. */
static inline bool has_come(const struct shown *shown)
{
    uint64_t call = atomic_load_explicit(shown->call, memory_order_acquire);
    if (call != shown->number || shown->made == NULL)
        return call >= shown->number;
    return atomic_load_explicit(shown->made, memory_order_acquire) >= shown->rounds;
}

/* True if SHOWN comes while the member copies, as it does for a round. A yield may give the core
 * away for much longer than all rounds take. */
static bool comes_soon(const accl_device *device, const struct shown *shown)
{
    if (shown->made == NULL || !acclib_wait_has_room(device))
        return false;

    int64_t end = clock_now() + ROUND_NS;
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (has_come(shown))
                return true;
            spin_relax();
        }
    } while (clock_now() < end);

    return false;
}

/* Posts a copy of the own array, if others were to read that where it is in this call. */
static uint32_t post_copy(accl_device *device, const struct operation *op)
{
    struct communicator *comm = op->comm;
    struct lanes *lanes = comm->lanes;
    struct lane_post *post = lane_post_of(lanes->own, comm->calls);
    if (atomic_load(&post->number) != comm->calls ||
        atomic_load(&lanes->own->copied) == comm->calls)
        return 0;

    uint64_t posted = READ_ONCE(post->source);
    if (op->source_is_array && (posted & ARENA_AT) && posted != LANE_ARRAY && !lanes->scratch) {
        uint64_t source, result;
        acclib_operation_extents(op, &source, &result);
        uint64_t bytes = source * acclib_dtype_bytes(op->source_type);
        lanes->scratch = acclib_heap_get(device->heap, bytes);
        if (!lanes->scratch)
            return acclib_call_fail(device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                    "out of memory (%llu bytes for an array without device memory)",
                                    (unsigned long long)bytes);
        copy_memory(device->heap->base + lanes->scratch, op->source, bytes);
        __atomic_store_n(&post->source, lanes->scratch, __ATOMIC_RELEASE);
    }

    acclib_lane_show_copy(device, comm, comm->calls);
    return 0;
}

/* The same if a member asks for it. */
static uint32_t post_wanted_copy(accl_device *device, const struct operation *op)
{
    const struct communicator *comm = op->comm;
    for (uint32_t i = 0; op->source_is_array && i < comm->n; i++) {
        const struct lane *lane = comm->lanes->of[i];
        if (i != comm->me && lane != NULL &&
            atomic_load_explicit(&lane->unread, memory_order_acquire) == comm->calls)
            return post_copy(device, op);
    }

    return 0;
}

/* Sleeps until member INDEX shows that. */
static uint32_t lane_sleep(accl_device *device, const struct operation *op, uint32_t index,
                           const struct shown *shown)
{
    struct communicator *comm = op->comm;
    uint64_t number = shown->number;
    struct waiter w;
    uint32_t bits = 0;
    bool noted = false;
    acclib_wait_begin(&w, device, comm, comm->members[index].rank, true,
                      ACCL_ERROR(RECEIVE_TIMEOUT_ERROR));
    while (!has_come(shown)) {
        if (w.armed && !noted) {
            noted = true;
            acclib_note_wait(device, op->call->operation, comm->members[index].rank, 0,
                             (uint32_t)number, comm->key);
            acclib_lane_show_call(comm);
        }
        if (noted && (bits = acclib_lane_compare_calls(device, comm)))
            break;
        if ((bits = post_wanted_copy(device, op)))
            break;
        if ((bits = acclib_wait_pause(&w))) {
            /* It may have come just before. An interrupt is not lost for that: it was taken. */
            if (bits != ACCL_ERROR(INTERRUPTED_ERROR) && has_come(shown))
                bits = 0;
            break;
        }
    }
    acclib_wait_end(&w);
    if (bits == ACCL_ERROR(RECEIVE_TIMEOUT_ERROR) && !device->text[0])
        tell_timeout(device, op, number, index);

    return bits;
}

/* Until member INDEX shows that. */
static inline uint32_t lane_wait(accl_device *device, const struct operation *op, uint32_t index,
                                 const struct shown *shown)
{
    if (has_come(shown) || comes_soon(device, shown))
        return 0;
    return lane_sleep(device, op, index, shown);
}

/* Until WORD, of member INDEX, is at least NUMBER. */
static uint32_t lane_wait_word(accl_device *device, const struct operation *op, uint32_t index,
                               uint64_t number, const _Atomic uint64_t *word)
{
    return lane_wait(device, op, index, &(struct shown){.call = word, .number = number});
}

uint32_t acclib_lane_wait_rounds(accl_device *device, const struct operation *op, uint32_t index,
                                 uint64_t number, const struct lane_rounds *words, uint64_t rounds)
{
    return lane_wait(
        device, op, index,
        &(struct shown){
            .call = &words->call, .made = &words->made, .number = number, .rounds = rounds});
}

/* True if the others may use elements of TYPE in OP. */
static bool type_fits(const struct operation *op, uint32_t type)
{
    bool fits = type == op->type || (op->type == ACCL_FLOAT32 && type == ACCL_FLOAT16);
    if (op->facts->work == ACCL_WORK_COMPUTES && op->arithmetic != ACCL_FLOAT16)
        fits = type == op->arithmetic;
    return fits;
}

uint32_t acclib_lane_wait_post(accl_device *device, const struct operation *op, uint32_t index,
                               uint64_t number, uint32_t signature, struct lane_seen *seen)
{
    uint32_t bits = 0;
    if (op->comm->lanes->of[index] == NULL && (bits = acclib_lane_find(device, op, index)))
        return bits;

    /* It is used again only when this rank is done with it. */
    const struct lane_post *post = lane_post_of(op->comm->lanes->of[index], number);
    bits = lane_wait_word(device, op, index, number, &post->number);
    if (bits)
        return bits;

    seen->source_type = READ_ONCE(post->source_type);
    seen->result_type = READ_ONCE(post->result_type);
    seen->source = READ_ONCE(post->source);
    seen->result = READ_ONCE(post->result);
    seen->data = post->data;
    if (READ_ONCE(post->signature) != signature || !type_fits(op, seen->source_type))
        return tell_difference(device, op->comm, index, number, READ_ONCE(post->note));

    return 0;
}

uint32_t acclib_lane_ask_copy(accl_device *device, const struct operation *op, uint32_t index,
                              uint64_t number)
{
    uint32_t bits = post_copy(device, op);
    if (bits)
        return bits;

    atomic_store_explicit(&op->comm->lanes->own->unread, number, memory_order_release);
    acclib_lane_wake_members(device, op->comm);
    acclib_wake_flush(device);
    return lane_wait_word(device, op, index, number, &op->comm->lanes->of[index]->copied);
}

uint32_t acclib_lane_wait_done_by(accl_device *device, const struct operation *op, uint32_t index,
                                  uint64_t number)
{
    uint32_t bits = 0;
    if (op->comm->lanes->of[index] == NULL && (bits = acclib_lane_find(device, op, index)))
        return bits;

    return lane_wait_word(device, op, index, number, &op->comm->lanes->of[index]->done);
}

uint32_t acclib_lane_check_note(accl_device *device, const struct operation *op, uint32_t index,
                                uint64_t number)
{
    uint16_t note = note_of(op->comm->lanes->of[index], number);
    if (note == call_note(op->comm, number))
        return 0;
    return tell_difference(device, op->comm, index, number, note);
}

/* Until every member is done with call NUMBER. */
uint32_t acclib_lane_wait_done(accl_device *device, const struct operation *op, uint64_t number)
{
    struct communicator *comm = op->comm;
    for (uint32_t i = 0; i < comm->n; i++) {
        if (i == comm->me)
            continue;
        uint32_t bits = acclib_lane_wait_done_by(device, op, i, number);
        bits = bits ? bits : acclib_lane_check_note(device, op, i, number);
        if (bits)
            return bits;
    }

    if (comm->lanes->all_done < number)
        comm->lanes->all_done = number;

    return 0;
}

/* --- showing --- */

void acclib_lane_wake_members(accl_device *device, const struct communicator *comm)
{
    for (uint32_t i = 0; i < comm->n; i++)
        if (i != comm->me)
            wake_later(device, comm->members[i].rank);
}

void acclib_lane_publish(accl_device *device, const struct operation *op, struct lane_post *post,
                         uint64_t number)
{
    acclib_lane_wake_members(device, op->comm);
    post->note = call_note(op->comm, number);
    atomic_store_explicit(&post->number, number, memory_order_release);
}

void acclib_lane_show_copy(accl_device *device, const struct communicator *comm, uint64_t number)
{
    acclib_lane_wake_members(device, comm);
    atomic_store_explicit(&comm->lanes->own->copied, number, memory_order_release);
}

void acclib_lane_finish(accl_device *device, const struct operation *op, uint64_t number)
{
    acclib_lane_wake_members(device, op->comm);
    acclib_lane_show_call(op->comm);
    atomic_store_explicit(&op->comm->lanes->own->done, number, memory_order_release);
}
