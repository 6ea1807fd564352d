/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective whose posts say where buffers are: what this rank posts, and what it reads of
 * others. An operand or result that is an array of the caller is posted as LANE_ARRAY: others get
 * its elements in rounds (collective_rounds.h), or put theirs where it is not.
 *
 * The executor calls these functions; those that return error bits may wait.
 */
#ifndef ACCL_DIRECT_H
#define ACCL_DIRECT_H

#include "accl/arithmetic/dtype.h"
#include "accl/base/device.h"
#include "accl/base/operation.h"
#include "accl/transport/shm/lane.h"

struct direct {
    accl_device *device;
    const struct operation *op;
    uint64_t number;
    uint32_t signature;
    const uint8_t *source;
    struct lane_post *post; /* of this rank */
    bool is_read;           /* the source, if it is an array: by all members, where it is */
    bool timed;             /* how others get it was chosen */
    int64_t began;          /* when it posted an array for what it reads; 0: it did not */
    bool others_copy;       /* members put what they read into the source's copy */
};

/* No offset of the result from the source is harmless. */
#define DIRECT_NOWHERE UINT64_MAX

/* The own source is an array, of which no copy was made, and which others cannot read. */
static inline bool direct_has_array(const struct direct *d)
{
    return d->op->source_is_array && !d->is_read && d->source == d->op->source;
}

/* True if a result of OP can have elements of TYPE, which another rank has written. */
static inline bool direct_result_fits(const struct operation *op, uint32_t type)
{
    bool mixed = op->type == ACCL_FLOAT32 && op->arithmetic == ACCL_FLOAT16;
    return type == op->type || (mixed && type == ACCL_FLOAT16);
}

static inline bool direct_overlaps(const uint8_t *a, uint64_t a_bytes, const uint8_t *b,
                                   uint64_t b_bytes)
{
    return a != NULL && b != NULL && a < b + b_bytes && b < a + a_bytes;
}

/* The offset of part INDEX of the source, if elements of the result are as large. */
static inline uint64_t direct_part_offset(const struct operation *op, uint64_t index)
{
    size_t size = acclib_dtype_bytes(op->source_type);
    return size == acclib_dtype_bytes(op->result_type) ? index * op->count * size : DIRECT_NOWHERE;
}

/* Memory of member INDEX, of elements of TYPE; NULL if that is not inside its file. */
uint8_t *acclib_direct_memory(const struct direct *d, uint32_t index, uint64_t offset,
                              uint64_t count, uint32_t type);

/* Gives the others a copy to read if the result would overwrite operands that they still read. A
 * result at OWN_OFFSET from the source overwrites only operands that nobody else reads. */
uint32_t acclib_direct_protect(struct direct *d, uint64_t own_offset);

/* Chooses how others get this rank's array, which all can read: true if they read it where it is,
 * false if it goes in rounds. Which one is quicker depends on the processor, on where ranks run and
 * on what else runs, so both are tried and timed now and then. */
bool acclib_direct_choose_read(struct direct *d);
/* This rank has read all. Shows the others first how long it took to get what they posted as timed.
 */
void acclib_direct_finish(const struct direct *d);

void acclib_direct_publish(struct direct *d);
/* Waits until member INDEX has posted the call. */
uint32_t acclib_direct_wait(const struct direct *d, uint32_t index, struct lane_seen *seen);

/* Puts part PART of the own source to TO, which is in the result, and both to their copies. */
void acclib_direct_put_own(const struct direct *d, uint64_t part, uint8_t *to);
/* All of source and result is in their copies. */
static inline void direct_has_copied(const struct direct *d)
{
    if (d->op->copies != NULL)
        d->op->copies->source = d->op->copies->result = NULL;
}

/* Copies part PART of what member INDEX posted, which is no array, to TO. MAY_MOVE: it may put that
 * elsewhere until this rank says that it reads. */
uint32_t acclib_direct_fetch(const struct direct *d, uint32_t index, uint64_t part, uint8_t *to,
                             bool may_move);

/* Reduce, allreduce and reduce_scatter. Of buffers every rank computes a share, and writes it
 * wherever it is wanted. If one is an array, operands go in rounds, and every rank that has a
 * result computes all of it. */
uint32_t acclib_direct_reduce(struct direct *d);

#endif
