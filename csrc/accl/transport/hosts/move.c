/* SPDX-License-Identifier: BSD-3-Clause */
#include "accl/transport/hosts/move.h"

#include "accl/arithmetic/dtype.h"
#include "accl/transport/transport.h"
#include "common/copy.h"

/* Data gathered on a host; data that go to other hosts; data that come from them. */
enum { BLOCK_HOST, BLOCK_OUT, BLOCK_IN };

#define NO_MEMORY ACCL_ERROR(DMA_INTERNAL_ERROR)
/* Bytes of a part from which on more messages between hosts take less time than copies by one rank
 * of each. */
#define SPREAD_LEAST (UINT64_C(4) << 10)

static struct hosts *hosts_of(const struct move *m)
{
    return m->op->comm->hosts;
}

static size_t part_bytes(const struct move *m)
{
    return m->count * acclib_dtype_bytes(m->type);
}

/* Block NUMBER with room for PARTS of m->count elements. */
static uint8_t *block_of(const struct move *m, uint32_t number, uint64_t parts)
{
    return acclib_hosts_block(m->device, m->op->comm, number, parts * part_bytes(m));
}

/* --- collectives of inner communicators --- */

struct step {
    uint32_t operation, root;
    uint64_t count;
    uint8_t *source, *result;
};

static uint32_t run(const struct move *m, struct communicator *inner, const struct step *step)
{
    struct accl_call call = *m->op->call;
    call.operation = step->operation;
    call.root_src_dst = step->root;
    call.count = step->count;
    struct operation op = {.call = &call,
                           .facts = operation_facts(step->operation),
                           .comm = inner,
                           .count = step->count,
                           .type = m->type,
                           .wire = m->type,
                           .arithmetic = m->type,
                           .source_type = m->type,
                           .source2_type = m->type,
                           .result_type = m->type,
                           .source = step->source,
                           .result = step->result};

    inner->signature = m->op->comm->signature;
    return inner->transport->collective(m->device, &op, ++inner->calls);
}

/* Among the members of this host. Alone, the result is the source. */
static uint32_t run_local(const struct move *m, uint32_t operation, uint32_t root, uint64_t count,
                          uint8_t *source, uint8_t *result)
{
    const struct hosts *hosts = hosts_of(m);
    if (hosts->local == NULL) {
        if (source != NULL && result != NULL && source != result)
            copy_memory(result, source, count * acclib_dtype_bytes(m->type));
        return 0;
    }

    return run(m, hosts->local, &(struct step){operation, root, count, source, result});
}

/* Among the leaders that include member m->root: whether this rank is one of them, its place on
 * this host, and the root's host. */
struct leading {
    struct communicator *comm; /* NULL: this rank is not a leader */
    uint32_t leader, root;
};

static struct leading lead(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    uint32_t place = hosts->of[m->root].place;
    return (struct leading){.comm = hosts->leaders[place],
                            .leader = hosts_leader(hosts, hosts->me.host, place),
                            .root = hosts->of[m->root].host};
}

/* --- the order of parts --- */

/* Parts are in slots, by host and place; hosts have as many slots as the largest of them. */
static uint64_t slot_of(const struct hosts *hosts, uint32_t member)
{
    return (uint64_t)hosts->of[member].host * hosts->most + hosts->of[member].place;
}

/* Parts in the order of members to slots, or back. */
static void sort_parts(const struct move *m, uint8_t *slots, uint8_t *parts, bool back)
{
    const struct hosts *hosts = hosts_of(m);
    size_t bytes = part_bytes(m);
    for (uint32_t i = 0; i < m->op->comm->n; i++) {
        uint8_t *slot = slots + slot_of(hosts, i) * bytes, *part = parts + i * bytes;
        copy_memory(back ? part : slot, back ? slot : part, bytes);
    }
}

/* --- operations --- */

uint32_t acclib_hosts_barrier(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    uint32_t bits = run_local(m, ACCL_BARRIER, 0, 0, NULL, NULL);
    if (!bits && hosts->leaders[0] != NULL)
        bits = run(m, hosts->leaders[0], &(struct step){.operation = ACCL_BARRIER});
    return bits ? bits : run_local(m, ACCL_BARRIER, 0, 0, NULL, NULL);
}

uint32_t acclib_hosts_bcast(const struct move *m)
{
    struct leading l = lead(m);
    bool root = m->op->comm->me == m->root, leads = l.comm != NULL;
    uint8_t *in = root ? NULL : m->result;
    uint32_t bits = 0;

    if (leads)
        bits = run(m, l.comm, &(struct step){ACCL_BCAST, l.root, m->count, m->source, in});
    if (bits || hosts_of(m)->local == NULL)
        return bits;

    uint8_t *out = root ? m->source : m->result;
    return run_local(m, ACCL_BCAST, l.leader, m->count, leads ? out : NULL, leads ? NULL : in);
}

uint32_t acclib_hosts_scatter(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    struct leading l = lead(m);
    uint8_t *out = NULL, *block = NULL;
    uint32_t bits = 0;

    if (m->op->comm->me == m->root) {
        out = m->source;
        if (!hosts->in_order) {
            out = block_of(m, BLOCK_OUT, (uint64_t)hosts->count * hosts->most);
            if (out == NULL)
                return NO_MEMORY;
            sort_parts(m, out, m->source, false);
        }
    }

    if (l.comm != NULL) {
        if ((block = block_of(m, BLOCK_HOST, hosts->most)) == NULL)
            return NO_MEMORY;
        bits = run(m, l.comm,
                   &(struct step){ACCL_SCATTER, l.root, hosts->most * m->count, out, block});
    }

    return bits ? bits : run_local(m, ACCL_SCATTER, l.leader, m->count, block, m->result);
}

uint32_t acclib_hosts_gather(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    struct leading l = lead(m);
    uint8_t *block = NULL, *in = NULL;
    bool root = m->op->comm->me == m->root;

    if (l.comm != NULL && (block = block_of(m, BLOCK_HOST, hosts->most)) == NULL)
        return NO_MEMORY;
    uint32_t bits = run_local(m, ACCL_GATHER, l.leader, m->count, m->source, block);
    if (bits || l.comm == NULL)
        return bits;

    if (root)
        in = hosts->in_order ? m->result
                             : block_of(m, BLOCK_IN, (uint64_t)hosts->count * hosts->most);
    if (root && in == NULL)
        return NO_MEMORY;
    bits = run(m, l.comm, &(struct step){ACCL_GATHER, l.root, hosts->most * m->count, block, in});
    if (!bits && root && !hosts->in_order)
        sort_parts(m, in, m->result, true);

    return bits;
}

uint32_t acclib_hosts_allgather(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    struct communicator *leaders = hosts->leaders[0];
    uint64_t slots = (uint64_t)hosts->count * hosts->most;
    uint8_t *block = leaders != NULL ? block_of(m, BLOCK_HOST, hosts->most) : NULL;
    uint8_t *in = m->result;
    if (leaders != NULL && !hosts->in_order)
        in = block_of(m, BLOCK_IN, slots);
    if (leaders != NULL && (block == NULL || in == NULL))
        return NO_MEMORY;

    uint32_t bits = run_local(m, ACCL_GATHER, 0, m->count, m->source, block);
    if (!bits && leaders != NULL) {
        bits =
            run(m, leaders, &(struct step){ACCL_ALLGATHER, 0, hosts->most * m->count, block, in});
        if (!bits && in != m->result)
            sort_parts(m, in, m->result, true);
    }
    if (bits || hosts->local == NULL)
        return bits;

    uint64_t all = m->count * m->op->comm->n;
    return leaders != NULL ? run_local(m, ACCL_BCAST, 0, all, m->result, NULL)
                           : run_local(m, ACCL_BCAST, 0, all, NULL, m->result);
}

/* Sorts the parts of this host's members by host; with BACK, those that came by member. */
static void sort_exchange(const struct move *m, uint8_t *slots, uint8_t *rows, bool back)
{
    const struct hosts *hosts = hosts_of(m);
    size_t bytes = part_bytes(m);
    uint64_t n = m->op->comm->n, most = hosts->most;

    for (uint32_t own = 0; own < hosts->size[hosts->me.host]; own++) {
        for (uint32_t i = 0; i < n; i++) {
            /* Slots are by host, place of the sender, and place of the receiver. */
            uint64_t from = back ? hosts->of[i].place : own;
            uint64_t to = back ? own : hosts->of[i].place;
            uint8_t *slot = slots + ((hosts->of[i].host * most + from) * most + to) * bytes;
            uint8_t *part = rows + (own * n + i) * bytes;
            copy_memory(back ? part : slot, back ? slot : part, bytes);
        }
    }
}

/* Large parts: every member is a leader, so that none has to move the parts of others. */
static bool is_spread(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    return hosts->in_order && hosts->local != NULL && part_bytes(m) >= SPREAD_LEAST;
}

/* Each collects what its host has for those of its own place, and exchanges it with them. */
static uint32_t alltoall_spread(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    size_t bytes = hosts->most * part_bytes(m);
    uint8_t *block = block_of(m, BLOCK_OUT, m->op->comm->n);
    uint32_t bits = block == NULL ? NO_MEMORY : 0;

    for (uint32_t host = 0; !bits && host < hosts->count; host++)
        bits = run_local(m, ACCL_ALLTOALL, 0, m->count, m->source + host * bytes,
                         block + host * bytes);
    if (bits)
        return bits;

    struct step step = {ACCL_ALLTOALL, 0, hosts->most * m->count, block, m->result};
    return run(m, hosts->leaders[hosts->me.place], &step);
}

uint32_t acclib_hosts_alltoall(const struct move *m)
{
    if (is_spread(m))
        return alltoall_spread(m);

    const struct hosts *hosts = hosts_of(m);
    struct communicator *leaders = hosts->leaders[0];
    uint64_t n = m->op->comm->n, each = (uint64_t)hosts->most * hosts->most;
    uint8_t *rows = NULL, *out = NULL, *in = NULL;

    if (leaders != NULL) {
        rows = block_of(m, BLOCK_HOST, hosts->most * n);
        out = block_of(m, BLOCK_OUT, hosts->count * each);
        in = block_of(m, BLOCK_IN, hosts->count * each);
        if (rows == NULL || out == NULL || in == NULL)
            return NO_MEMORY;
    }

    uint32_t bits = run_local(m, ACCL_GATHER, 0, n * m->count, m->source, rows);
    if (!bits && leaders != NULL) {
        sort_exchange(m, out, rows, false);
        bits = run(m, leaders, &(struct step){ACCL_ALLTOALL, 0, each * m->count, out, in});
        if (!bits)
            sort_exchange(m, in, rows, true);
    }

    return bits ? bits : run_local(m, ACCL_SCATTER, 0, n * m->count, rows, m->result);
}

/* --- sums in any order --- */

uint32_t acclib_hosts_reduce(const struct move *m)
{
    struct leading l = lead(m);
    uint8_t *block = l.comm != NULL ? block_of(m, BLOCK_HOST, 1) : NULL;
    if (l.comm != NULL && block == NULL)
        return NO_MEMORY;

    uint32_t bits = run_local(m, ACCL_REDUCE, l.leader, m->count, m->source, block);
    if (!bits && l.comm != NULL)
        bits = run(m, l.comm,
                   &(struct step){ACCL_REDUCE, l.root, m->count, block,
                                  m->op->comm->me == m->root ? m->result : NULL});
    return bits;
}

uint32_t acclib_hosts_allreduce(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    struct communicator *leaders = hosts->leaders[0];
    uint8_t *block = leaders != NULL ? block_of(m, BLOCK_HOST, 1) : NULL;
    if (leaders != NULL && block == NULL)
        return NO_MEMORY;

    uint32_t bits = run_local(m, ACCL_REDUCE, 0, m->count, m->source, block);
    if (!bits && leaders != NULL)
        bits = run(m, leaders, &(struct step){ACCL_ALLREDUCE, 0, m->count, block, m->result});
    if (bits || hosts->local == NULL)
        return bits;

    return leaders != NULL ? run_local(m, ACCL_BCAST, 0, m->count, m->result, NULL)
                           : run_local(m, ACCL_BCAST, 0, m->count, NULL, m->result);
}

uint32_t acclib_hosts_reduce_scatter(const struct move *m)
{
    const struct hosts *hosts = hosts_of(m);
    struct communicator *leaders = hosts->leaders[0];
    uint64_t n = m->op->comm->n, slots = (uint64_t)hosts->count * hosts->most;
    uint8_t *sums = NULL, *out = NULL, *in = NULL;

    if (leaders != NULL) {
        sums = block_of(m, BLOCK_HOST, n);
        out = hosts->in_order ? sums : block_of(m, BLOCK_OUT, slots);
        in = block_of(m, BLOCK_IN, hosts->most);
        if (sums == NULL || out == NULL || in == NULL)
            return NO_MEMORY;
    }

    uint32_t bits = run_local(m, ACCL_REDUCE, 0, n * m->count, m->source, sums);
    if (!bits && leaders != NULL) {
        if (!hosts->in_order)
            sort_parts(m, out, sums, false);
        bits = run(m, leaders,
                   &(struct step){ACCL_REDUCE_SCATTER, 0, hosts->most * m->count, out, in});
    }

    return bits ? bits : run_local(m, ACCL_SCATTER, 0, m->count, in, m->result);
}
