/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/package/requests.h"

#include <stdlib.h>

void veopkg_requests_init(struct veopkg_requests *set, struct veopkg_request_ops ops, void *context)
{
    *set = (struct veopkg_requests){.ops = ops, .context = context};
}

void veopkg_requests_free(struct veopkg_requests *set)
{
    free(set->orphans);
    set->orphans = NULL;
    set->norphans = set->orphan_capacity = 0;
}

static void release(struct veopkg_requests *set, void *keep)
{
    if (keep != NULL)
        set->ops.release(keep);
}

/* --- pending requests --- */

void veopkg_request_add(struct veopkg_requests *set, struct veopkg_request *request, void *owner,
                        uint64_t id, void *keep)
{
    request->owner = owner;
    request->keep = keep;
    request->id = id;
    request->settled = false;
    set->nkept += keep != NULL;
    list_append(&set->pending, &request->node);
}

void veopkg_request_settle(struct veopkg_requests *set, struct veopkg_request *request, int state,
                           uint64_t value)
{
    void *keep = request->keep;
    request->state = state;
    request->value = value;
    request->settled = true;
    request->keep = NULL;
    set->nkept -= keep != NULL;
    list_remove(&set->pending, &request->node);

    if (state != VEO_COMMAND_OK && state > VEOPKG_CLOSED)
        set->ops.failed(set->context, request);
    release(set, keep);
}

bool veopkg_request_poll(struct veopkg_requests *set, struct veo_thr_ctxt *ctx,
                         struct veopkg_request *request)
{
    uint64_t value = 0;
    if (request->settled)
        return true;
    if (request->waiting)
        return false;

    int state = set->ops.peek(ctx, request->id, &value);
    if (state == VEO_COMMAND_UNFINISHED)
        return false;
    veopkg_request_settle(set, request, state, value);
    return true;
}

/* --- orphans --- */

static bool reserve_orphan(struct veopkg_requests *set)
{
    size_t capacity = set->orphan_capacity;
    if (set->norphans < capacity)
        return true;

    size_t larger = capacity > 0 ? 2 * capacity : 16;
    struct veopkg_orphan *grown = realloc(set->orphans, larger * sizeof *grown);
    if (grown == NULL)
        return false;

    /* The ring was full: the part that had wrapped round goes after the rest. */
    for (size_t i = 0; i < set->first_orphan; i++)
        grown[capacity + i] = grown[i];
    set->orphans = grown;
    set->orphan_capacity = larger;
    return true;
}

static void *pop_orphan(struct veopkg_requests *set)
{
    void *keep = set->orphans[set->first_orphan].keep;
    set->first_orphan = (set->first_orphan + 1) % set->orphan_capacity;
    set->norphans--;
    return keep;
}

void veopkg_request_drop(struct veopkg_requests *set, struct veopkg_request *request, bool is_open)
{
    void *keep = request->keep;
    if (request->settled)
        return;
    request->keep = NULL;
    request->settled = true;
    set->nkept -= keep != NULL;
    list_remove(&set->pending, &request->node);

    if (!is_open) {
        release(set, keep);
    } else if (reserve_orphan(set)) {
        size_t last = (set->first_orphan + set->norphans) % set->orphan_capacity;
        set->orphans[last] = (struct veopkg_orphan){.id = request->id, .keep = keep};
        set->norphans++;
    }
}

void veopkg_requests_reap(struct veopkg_requests *set, struct veo_thr_ctxt *ctx, size_t limit)
{
    uint64_t ignored;
    for (; limit > 0 && set->norphans > 0; limit--) {
        uint64_t id = veopkg_requests_oldest_orphan(set);
        if (set->ops.peek(ctx, id, &ignored) == VEO_COMMAND_UNFINISHED)
            return;
        release(set, pop_orphan(set));
    }

    /* A request may be held by what it keeps alone: nobody else would ask for it then. */
    struct veopkg_request *oldest;
    for (; limit > 0 && set->nkept > 0; limit--) {
        oldest = veopkg_requests_oldest(set);
        if (oldest->keep == NULL || !veopkg_request_poll(set, ctx, oldest))
            return;
    }
}

/* --- the end --- */

static void entomb(struct veopkg_requests *set, void *keep)
{
    if (keep != NULL)
        set->ops.entomb(set->context, keep);
}

void veopkg_requests_close(struct veopkg_requests *set)
{
    struct veopkg_request *request;
    while ((request = veopkg_requests_oldest(set)) != NULL) {
        void *keep = request->keep;
        request->keep = NULL;
        set->nkept -= keep != NULL;
        veopkg_request_settle(set, request, VEOPKG_CLOSED, 0);
        entomb(set, keep);
    }
    while (set->norphans > 0)
        entomb(set, pop_orphan(set));
}

/* --- requests that were given up --- */

void veopkg_request_note_given_up(struct veopkg_requests *set, const struct veopkg_request *request)
{
    if (!set->gave_up || request->id > set->given_up)
        set->given_up = request->id;
    set->gave_up = true;
}

bool veopkg_requests_have_given_up(struct veopkg_requests *set, struct veo_thr_ctxt *ctx)
{
    struct veopkg_request *oldest;
    if (!set->gave_up)
        return false;

    /* Requests end in the order of ids, and leave the list when they are settled. */
    while ((oldest = veopkg_requests_oldest(set)) != NULL && oldest->id <= set->given_up)
        if (!veopkg_request_poll(set, ctx, oldest))
            return true;

    veopkg_requests_reap(set, ctx, SIZE_MAX);
    return set->norphans > 0 && veopkg_requests_oldest_orphan(set) <= set->given_up;
}
