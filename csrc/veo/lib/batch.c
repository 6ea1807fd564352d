/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c: many calls of a function as one request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/args.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veosoft.h"

/* Of a batch, so that sizes can be added without a check. */
#define MOST_CALLS (SIZE_MAX / sizeof(uint64_t) / (4 * VEO_MAX_NUM_ARGS))

static bool check(const struct veosoft_calls *calls)
{
    const char *why = NULL;
    if (calls == NULL || calls->results == NULL || calls->ended == NULL)
        why = "the calls, and the pointers for results and how many ended, must not be NULL";
    else if (calls->address == 0)
        why = "cannot call the function at address 0";
    else if (calls->count == 0 || calls->count > MOST_CALLS)
        why = "the number of calls is 0 or too large";
    else if (calls->ncolumns > VEO_MAX_NUM_ARGS || (calls->ncolumns > 0 && calls->columns == NULL))
        why = "the number of arguments is too large, or their columns are NULL";

    for (size_t i = 0; why == NULL && i < calls->ncolumns; i++)
        if (calls->columns[i].values == NULL)
            why = "the values of an argument must not be NULL";
    if (why != NULL)
        veolib_fail(EINVAL, "%s", why);
    return why == NULL;
}

/* The batch with its values. */
static void fill(struct wire_batch *batch, const struct veosoft_calls *calls,
                 const struct veo_args *types)
{
    const size_t n = calls->ncolumns;
    memset(batch, 0, sizeof *batch);
    if (types != NULL)
        memcpy(batch->kinds, types->ret != 0 ? types->signature : types->kinds,
               sizeof batch->kinds);

    for (size_t column = 0; column < n; column++) {
        const uint64_t *from = calls->columns[column].values;
        const size_t step = calls->columns[column].step;
        uint64_t *to = batch->values + column;
        for (size_t i = 0; i < calls->count; i++, from += step, to += n)
            *to = *from;
    }
}

/* Allocates the block, with the values in it. NULL (error set) on failure. */
static struct request_extra *make_extra(struct veo_thr_ctxt *ctx, const struct veosoft_calls *calls,
                                        const struct veo_args *types)
{
    const size_t first = calls->count * calls->ncolumns;
    const size_t size = sizeof(struct wire_batch) + (first + calls->count) * sizeof(uint64_t);
    struct request_extra *extra = veolib_extra_new(0);
    if (extra != NULL)
        extra->block = veolib_wire_get(&ctx->proc->memory, size);
    if (extra == NULL || extra->block == 0) {
        free(extra);
        veolib_fail(ENOMEM, "out of memory (%zu bytes of arguments and results)", size);
        return NULL;
    }

    struct wire_batch *batch = (struct wire_batch *)(uintptr_t)extra->block;
    fill(batch, calls, types);
    extra->batch = (struct batch_out){.from = batch,
                                      .first = first,
                                      .count = calls->count,
                                      .results = calls->results,
                                      .ended = calls->ended};
    return extra;
}

static uint64_t submit(struct veo_thr_ctxt *ctx, const struct veosoft_calls *calls,
                       const struct veo_args *types)
{
    struct draft draft;
    if (!check(calls) || (types != NULL && !veolib_args_check(types)))
        return VEO_REQUEST_ID_INVALID;
    struct request_extra *extra = make_extra(ctx, calls, types);
    if (extra == NULL)
        return VEO_REQUEST_ID_INVALID;
    if (!veolib_queue_begin(ctx, &draft)) {
        veolib_wire_put(&ctx->proc->memory, extra->block);
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }

    draft.slot->op = WIRE_BATCH;
    draft.slot->target = calls->address;
    draft.slot->nargs = (uint16_t)calls->ncolumns;
    draft.slot->flags = WIRE_BLOCK_ARGS;
    if (types != NULL && types->ret != 0) {
        draft.slot->ret = (uint8_t)types->ret;
        draft.slot->flags |= WIRE_SIGNATURE;
    }
    draft.slot->size = calls->count;
    draft.slot->block = extra->batch.from;
    return veolib_queue_publish(ctx, &draft, extra);
}

VEO_EXPORT uint64_t veosoft_call_many(struct veo_thr_ctxt *ctx, const struct veosoft_calls *calls,
                                      const struct veo_args *types)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = submit(ctx, calls, types);
    veolib_ctx_leave(ctx);
    return id;
}
