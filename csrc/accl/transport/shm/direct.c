/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/shm/direct.h"

#include "accl/arithmetic/convert.h"
#include "accl/transport/shm/hello.h"
#include "accl/transport/shm/lane_use.h"
#include "accl/transport/shm/peer_memory.h"
#include "common/clock.h"
#include "common/copy.h"

uint8_t *acclib_direct_memory(const struct direct *d, uint32_t index, uint64_t offset,
                              uint64_t count, uint32_t type)
{
    const struct peer *peer = peer_of(d->device, d->op->comm->members[index].rank);
    size_t size = acclib_dtype_bytes(type);
    if (!size || offset % acclib_dtype_alignment(type) || offset > peer->arena_bytes ||
        count > (peer->arena_bytes - offset) / size) {
        acclib_call_fail(d->device, 0, "rank %u posted an address outside its memory", index);
        return NULL;
    }

    return (uint8_t *)peer->arena + offset;
}

static uint64_t offset_of(const struct direct *d, const uint8_t *memory)
{
    return memory != NULL ? heap_offset(d->device->heap, memory) : 0;
}

static uint64_t place_of_source(const struct direct *d)
{
    if (direct_has_array(d))
        return LANE_ARRAY;
    bool is_array = d->op->source_is_array && d->source == d->op->source;
    return is_array ? ARENA_AT | (uintptr_t)d->source : offset_of(d, d->source);
}

uint32_t acclib_direct_protect(struct direct *d, uint64_t own_offset)
{
    const struct operation *op = d->op;
    uint64_t sources = op->count * operation_parts_read(op->facts, op->comm->n);
    uint64_t results = op->count * operation_parts_written(op->facts, op->comm->n);
    uint64_t source_bytes = sources * acclib_dtype_bytes(op->source_type);
    uint64_t result_bytes = results * acclib_dtype_bytes(op->result_type);
    if (!direct_overlaps(op->source, source_bytes, op->result, result_bytes) ||
        (own_offset != DIRECT_NOWHERE &&
         (uintptr_t)op->result == (uintptr_t)op->source + (uintptr_t)own_offset))
        return 0;

    uint64_t scratch = acclib_heap_get(d->device->heap, source_bytes);
    if (!scratch)
        return acclib_call_fail(d->device, ACCL_ERROR(DMA_INTERNAL_ERROR),
                                "out of memory (%llu bytes for an operation in place)",
                                (unsigned long long)source_bytes);
    uint8_t *copy = d->device->heap->base + scratch;
    copy_memory(copy, op->source, source_bytes);
    op->comm->lanes->scratch = scratch;
    d->source = copy;

    return 0;
}

void acclib_direct_publish(struct direct *d)
{
    struct lane_post *post = d->post;
    const struct operation *op = d->op;
    const struct operand_copies *copies = op->copies;

    post->signature = d->signature;
    post->source_type = (uint8_t)op->source_type;
    post->result_type = (uint8_t)op->result_type;
    post->source = place_of_source(d);
    post->result = op->result_is_array ? LANE_ARRAY : offset_of(d, op->result);
    post->source_copy = d->others_copy && copies != NULL ? offset_of(d, copies->source) : 0;
    post->result_copy = copies != NULL ? offset_of(d, copies->result) : 0;
    post->timed = d->timed;

    if (op->result_is_array)
        d->began = clock_now();
    if (d->timed) {
        struct array_ways *ways = &op->comm->lanes->ways;
        ways->own_ns = (uint64_t)(clock_now() - ways->began);
    }

    acclib_lane_publish(d->device, op, post, d->number);
}

uint32_t acclib_direct_wait(const struct direct *d, uint32_t index, struct lane_seen *seen)
{
    const struct operation *op = d->op;
    struct lanes *lanes = op->comm->lanes;
    uint32_t bits = acclib_lane_wait_post(d->device, op, index, d->number, d->signature, seen);
    if (bits)
        return bits;

    const struct lane_post *post = lane_post_of(lanes->of[index], d->number);
    seen->source_copy = READ_ONCE(post->source_copy);
    seen->result_copy = READ_ONCE(post->result_copy);
    seen->timed = READ_ONCE(post->timed) != 0;
    if (seen->timed && index != op->comm->me && !lanes->read_began)
        lanes->read_began = d->began ? d->began : clock_now();
    return 0;
}

/* --- how arrays are read --- */

/* Calls after which the other way is tried again, and those at first, which take turns. */
#define TRIED_AGAIN 64
#define TRIED_FIRST 4

/* A time of the last call that had a choice: until this rank had posted, and the longest of the
 * members that know theirs. What is known goes up slowly, as a member may have waited for something
 * else. */
static void learn(const struct communicator *comm)
{
    struct array_ways *ways = &comm->lanes->ways;
    uint64_t longest = 0;
    for (uint32_t i = 0; ways->call && i < comm->n; i++) {
        const struct lane *lane = comm->lanes->of[i];
        if (i == comm->me || lane == NULL ||
            atomic_load_explicit(&lane->read_call, memory_order_acquire) != ways->call)
            continue;
        uint64_t ns = atomic_load_explicit(&lane->read_ns, memory_order_relaxed);
        longest = ns > longest ? ns : longest;
    }
    if (!longest)
        return;

    uint64_t *known = &ways->ns[ways->size][ways->read], now = longest + ways->own_ns;
    if (!*known || now < *known)
        *known = now;
    else
        *known += (now - *known < *known ? now - *known : *known) / 8;
}

bool acclib_direct_choose_read(struct direct *d)
{
    const struct operation *op = d->op;
    struct array_ways *ways = &op->comm->lanes->ways;
    learn(op->comm);

    uint64_t bytes = op->count * acclib_dtype_bytes(op->source_type);
    ways->size = (uint8_t)(63 - __builtin_clzll(bytes | 1));
    ways->call = d->number;
    ways->began = clock_now();
    d->timed = true;

    uint32_t made = ways->made[ways->size]++;
    const uint64_t *ns = ways->ns[ways->size];
    ways->read = made < TRIED_FIRST ? made % 2 == 0 : ns[1] && (!ns[0] || ns[1] < ns[0]);
    if (made % TRIED_AGAIN == TRIED_AGAIN - 1)
        ways->read = !ways->read;
    return ways->read;
}

void acclib_direct_finish(const struct direct *d)
{
    struct lanes *lanes = d->op->comm->lanes;
    if (lanes->read_began) {
        atomic_store_explicit(&lanes->own->read_ns, (uint64_t)(clock_now() - lanes->read_began),
                              memory_order_relaxed);
        atomic_store_explicit(&lanes->own->read_call, d->number, memory_order_release);
        lanes->read_began = 0;
    }

    acclib_lane_finish(d->device, d->op, d->number);
}

/* Elements at TO, which is in the result, and in the result's copy. */
static struct converted made_at(const struct direct *d, uint8_t *to)
{
    const struct operation *op = d->op;
    struct converted made = {.to = to, .type = op->result_type, .n = op->count};
    if (op->copies != NULL && op->copies->result != NULL)
        made.copy = op->copies->result + (to - op->result);
    made.copied = op->copies != NULL ? op->copies->bytes : 0;
    return made;
}

void acclib_direct_put_own(const struct direct *d, uint64_t part, uint8_t *to)
{
    const struct operation *op = d->op;
    uint64_t skip = part * op->count * acclib_dtype_bytes(op->source_type);
    struct converted made = made_at(d, to);
    if (op->copies != NULL && op->copies->source != NULL)
        made.source_copy = op->copies->source + skip;
    acclib_convert_copies(&made, d->source + skip, op->source_type, false);
}

/* Copies elements from the process of member INDEX; *UNREAD if the system forbids it. An owner that
 * no longer waits has given up: the array may have changed. */
static uint32_t read_array(const struct direct *d, uint32_t index, const struct peer_elements *from,
                           const struct converted *made, bool *unread)
{
    uint32_t rank = d->op->comm->members[index].rank;
    if (acclib_peer_memory_read(d->device, rank, from, made->to)) {
        if (made->copy != NULL)
            copy_piece(made->copy, made->to, made->n * acclib_dtype_bytes(made->type),
                       made->copied);
        return acclib_lane_may_use(d->device, d->op->comm, index, d->number);
    }

    *unread = true;
    if (acclib_peer_is_dead(peer_of(d->device, rank)))
        return acclib_call_fail(d->device, ACCL_ERROR(PEER_LOST_ERROR),
                                "rank %u (of communicator 0) died during the call", rank);
    return 0;
}

/* Copies part PART of what member INDEX posted as SEEN to TO; *UNREAD as above. */
static uint32_t read_source(const struct direct *d, uint32_t index, const struct lane_seen *seen,
                            uint64_t part, uint8_t *to, bool *unread)
{
    const struct operation *op = d->op;
    uint32_t type = seen->source_type;
    uint64_t skip = part * op->count * acclib_dtype_bytes(type);
    if (index == op->comm->me) {
        acclib_direct_put_own(d, part, to);
        return 0;
    }

    struct converted made = made_at(d, to);
    if (seen->source & ARENA_AT)
        return read_array(d, index,
                          &(struct peer_elements){.at = (seen->source & ~ARENA_AT) + skip,
                                                  .count = op->count,
                                                  .type = type,
                                                  .to_type = op->result_type,
                                                  .via16 = op->via16},
                          &made, unread);

    const uint8_t *from = acclib_direct_memory(d, index, seen->source + skip, op->count, type);
    if (seen->source_copy)
        made.source_copy =
            acclib_direct_memory(d, index, seen->source_copy + skip, op->count, type);
    if (from == NULL || (seen->source_copy && made.source_copy == NULL))
        return ACCL_ERROR(DMA_DECODE_ERROR);

    acclib_convert_copies(&made, from, type, op->via16);
    return 0;
}

uint32_t acclib_direct_fetch(const struct direct *d, uint32_t index, uint64_t part, uint8_t *to,
                             bool may_move)
{
    const struct operation *op = d->op;
    struct lane_seen seen;
    uint32_t bits = acclib_direct_wait(d, index, &seen);
    if (bits)
        return bits;

    for (bool unread = false, again = false;; again = true) {
        acclib_lane_use(op->comm, d->number);
        if ((bits = acclib_lane_may_use(d->device, op->comm, index, d->number)))
            return bits;
        if (may_move || again)
            seen.source = acclib_lane_source(op->comm, index, d->number);
        unread = false;
        bits = read_source(d, index, &seen, part, to, &unread);
        if (!bits && unread && again)
            bits = acclib_call_fail(d->device, ACCL_ERROR(DMA_DECODE_ERROR),
                                    "rank %u posted an address that cannot be read", index);
        if (bits)
            return bits;
        if (!unread)
            break;

        acclib_lane_used(op->comm);
        if ((bits = acclib_lane_ask_copy(d->device, op, index, d->number)))
            return bits;
    }

    /* A root that moves the source waits for the end of the call. */
    if (!may_move)
        acclib_lane_used(op->comm);

    return 0;
}
