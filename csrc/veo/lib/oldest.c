/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/oldest.h"

#include <stdio.h>

#include "common/clock.h"
#include "veo/lib/export.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/symbol_table.h"
#include "veosoft.h"

/* State of the oldest request. */
struct oldest {
    uint64_t id;
    uint64_t behind; /* requests after it that were not taken back */
    uint64_t target; /* as in its slot, where a kernel may have written */
    uint8_t op;
    int64_t age;
};

static bool find_oldest(struct veo_thr_ctxt *ctx, struct oldest *oldest)
{
    pthread_mutex_lock(&ctx->queue);
    veolib_queue_harvest_locked(ctx);
    uint64_t id = atomic_load_explicit(&ctx->harvested, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ctx->next_id, memory_order_acquire);
    bool found = false;
    *oldest = (struct oldest){0};
    unsigned index;
    const struct chunk *chunk = veolib_queue_chunk_locked(ctx, id, &index);
    for (; id < end; id++) {
        const volatile struct wire_slot *slot = &chunk->wire->slots[index];
        const struct request_record *record = &chunk->records[index];
        bool kept = record->submitted != REQUEST_WITHDRAWN;
        if (kept && found)
            oldest->behind++;
        else if (kept)
            *oldest = (struct oldest){.id = id,
                                      .target = slot->target,
                                      .op = record->job != NULL ? WIRE_HOST : slot->op,
                                      .age = clock_coarse() - record->submitted};
        found |= kept;
        if (++index == WIRE_CHUNK_SLOTS) {
            index = 0;
            chunk = chunk->next;
        }
    }
    pthread_mutex_unlock(&ctx->queue);
    return found;
}

static void name_call(struct veo_proc_handle *proc, const struct oldest *oldest, char *text,
                      size_t size)
{
    const char *what = oldest->op == WIRE_CALL ? "a call" : "many calls";
    char name[VEO_SYMNAME_LEN_MAX + 1];
    if (veolib_symbol_name(proc, oldest->target, name, sizeof name) > 0)
        snprintf(text, size, "%s of %s()", what, name);
    else
        snprintf(text, size, "%s of the function at 0x%llx", what,
                 (unsigned long long)oldest->target);
}

static const char *name_of_op(enum wire_op op)
{
    switch (op) {
    case WIRE_READ:
    case WIRE_WRITE: return "a transfer";
    case WIRE_LOAD: return "the loading of a library";
    case WIRE_UNLOAD: return "the unloading of a library";
    case WIRE_FREE: return "the freeing of memory";
    case WIRE_EXIT: return "its end";
    case WIRE_HOST: return "a transfer or a function that the host executes";
    case WIRE_NOP:
    case WIRE_CALL:
    case WIRE_BATCH:
    case WIRE_SYMBOL:
    case WIRE_OPEN_CONTEXT: break;
    }
    return "a short request";
}

size_t veolib_oldest_describe(struct veo_thr_ctxt *ctx, char *text, size_t size)
{
    char what[VEO_SYMNAME_LEN_MAX + 32];
    struct oldest oldest;
    if (size > 0)
        text[0] = 0;
    if (!find_oldest(ctx, &oldest))
        return 0;

    if (wire_is_call(oldest.op))
        name_call(ctx->proc, &oldest, what, sizeof what);
    else
        snprintf(what, sizeof what, "%s", name_of_op((enum wire_op)oldest.op));

    int length = snprintf(text, size, "request %llu, %s, submitted %.1f s ago",
                          (unsigned long long)oldest.id, what,
                          oldest.age > 0 ? (double)oldest.age / CLOCK_SECOND : 0.0);
    if (oldest.behind > 0 && length > 0 && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, "; %llu more queued behind it",
                           (unsigned long long)oldest.behind);
    return length > 0 ? (size_t)length : 0;
}

VEO_EXPORT size_t veosoft_waits_for(struct veo_thr_ctxt *ctx, char *text, size_t size)
{
    if (text != NULL && size > 0)
        text[0] = 0;
    if (!veolib_ctx_enter(ctx))
        return 0;
    size_t length = veolib_oldest_describe(ctx, text, text != NULL ? size : 0);
    veolib_ctx_leave(ctx);
    return length;
}
