/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/context.h"

#include <pthread.h>
#include <stddef.h>

#include "common/futex.h"

_Thread_local struct veow_context *veow_current;
struct wire_header *veow_header;
struct spin_side veow_side;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct veow_context *_Atomic contexts;

void veow_context_enter(struct veow_context *ctx)
{
    pthread_mutex_lock(&contexts_lock);
    ctx->next = atomic_load(&contexts);
    atomic_store(&contexts, ctx);
    pthread_mutex_unlock(&contexts_lock);
    veow_current = ctx;
}

void veow_context_leave(struct veow_context *ctx)
{
    veow_current = NULL;
    pthread_mutex_lock(&contexts_lock);
    struct veow_context *at = atomic_load(&contexts);
    if (at == ctx) {
        atomic_store(&contexts, ctx->next);
    } else {
        while (at->next != ctx)
            at = at->next;
        at->next = ctx->next;
    }

    pthread_mutex_unlock(&contexts_lock);
}

struct veow_context *veow_contexts(void)
{
    return atomic_load(&contexts);
}

bool veow_is_executing(bool (*belongs)(uint64_t address, const void *to), const void *to)
{
    bool found = false;
    pthread_mutex_lock(&contexts_lock);
    for (struct veow_context *c = atomic_load(&contexts); c != NULL && !found; c = c->next) {
        uint64_t target = atomic_load(&c->target);
        found = target && belongs(target, to);
    }

    pthread_mutex_unlock(&contexts_lock);
    return found;
}

void veow_tell_host(struct wire_context *wire, uint64_t id)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (id >= atomic_load_explicit(&wire->wake_at, memory_order_relaxed)) {
        atomic_fetch_add(&wire->done_doorbell, 1);
        futex_wake_all(&wire->done_doorbell);
    }
}

void veow_finish(struct veow_context *ctx, int outcome, uint64_t result)
{
    struct wire_slot *slot = atomic_load_explicit(&ctx->slot, memory_order_relaxed);
    /* A thread that ends the process has answered already. */
    if (slot == NULL)
        return;

    slot->result = result;
    slot->outcome = (uint8_t)outcome;
    atomic_store_explicit(&ctx->slot, NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->state, WIRE_STATE(ctx->id, WIRE_DONE), memory_order_release);
    veow_tell_host(ctx->wire, ctx->id);
}
