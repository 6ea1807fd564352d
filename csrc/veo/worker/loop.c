/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/loop.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "common/copy.h"
#include "common/futex.h"
#include "ve_offload.h"
#include "veo/worker/call.h"
#include "veo/worker/context.h"
#include "veo/worker/crash.h"
#include "veo/worker/libraries.h"
#include "veo/worker/release.h"

/* Between two moves to another core. */
#define MOVE_INTERVAL (5 * CLOCK_MILLISECOND)

/* --- waiting for the host --- */

/*
 * Goes to another core, if there is one: this side and the host take turns then, at ten times the
 * cost, and the scheduler leaves two that only yield where they are.
 */
static void leave_core(struct veow_context *ctx)
{
    cpu_set_t all;
    int64_t now = clock_now();
    if (now < ctx->moved_at + MOVE_INTERVAL)
        return;

    ctx->moved_at = now;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        return;

    cpu_set_t others = all;
    CPU_CLR((size_t)sched_getcpu(), &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof all, &all);
}

/* Waits while the state of SLOT is UNCHANGED. The new one. */
static uint64_t await(struct veow_context *ctx, const struct wire_slot *slot, uint64_t unchanged)
{
    struct wire_context *wire = ctx->wire;
    uint64_t state;
    struct spin_wait wait = {.my_core = &wire->worker_core, .their_core = &wire->host_core};
#define LOOK() (state = atomic_load_explicit(&slot->state, memory_order_acquire))
    while (LOOK() == unchanged && spin_again(&wait, &veow_side, &ctx->backoff))
        if (wait.shares_core)
            leave_core(ctx);
    spin_end(&wait, &veow_side);
    if (state != unchanged)
        return state;

    int64_t start = clock_now();
    for (;;) {
        uint32_t doorbell = atomic_load(&wire->doorbell);
        atomic_store(&wire->worker_asleep, 1);
        /* The host stores the state, then looks whether we sleep. */
        atomic_thread_fence(memory_order_seq_cst);
        if (LOOK() != unchanged)
            break;
        futex_sleep(&wire->doorbell, doorbell, -1);
        if (LOOK() != unchanged)
            break;
    }
#undef LOOK
    atomic_store(&wire->worker_asleep, 0);
    spin_learn(&ctx->backoff, &veow_side, clock_now() - start);
    return state;
}

static _Noreturn void overwritten(void)
{
    veow_die("a kernel wrote over the memory that holds the queues of its VE process. Does one "
             "write beyond the end of a stack argument?");
}

/* --- executing --- */

/* A bad address costs the request, not the process. */
static int transfer(struct veow_context *ctx, const struct wire_slot *slot, uint64_t *result)
{
    void *address = (void *)(uintptr_t)slot->target;
    *result = 0;
    int number = sigsetjmp(ctx->guard, 0);
    if (number == 0) {
        ctx->guarded = true;
        atomic_signal_fence(memory_order_seq_cst);
        if (slot->op == WIRE_WRITE)
            copy_memory(address, slot->block, slot->size);
        else
            copy_memory(slot->block, address, slot->size);
        atomic_signal_fence(memory_order_seq_cst);
        ctx->guarded = false;
        return VEO_COMMAND_OK;
    }

    ctx->guarded = false;
    *result = (uint64_t)number;
    return VEO_COMMAND_EXCEPTION;
}

static int execute(struct veow_context *ctx, const struct wire_slot *slot, uint64_t *result)
{
    *result = 0;
    switch ((enum wire_op)slot->op) {
    case WIRE_NOP: *result = slot->target; return VEO_COMMAND_OK;
    case WIRE_CALL: return veow_call(slot, result);
    case WIRE_BATCH: return veow_call_batch(slot, result);
    case WIRE_READ:
    case WIRE_WRITE: return transfer(ctx, slot, result);
    case WIRE_LOAD: *result = veow_load(slot->block); return VEO_COMMAND_OK;
    case WIRE_UNLOAD: *result = veow_unload(slot->target); return VEO_COMMAND_OK;
    case WIRE_SYMBOL: *result = veow_symbol(slot->target, slot->block); return VEO_COMMAND_OK;
    case WIRE_FREE: return veow_free(ctx, slot->target) ? VEO_COMMAND_OK : VEO_COMMAND_ERROR;
    case WIRE_OPEN_CONTEXT:
        *result = (uint64_t)veow_start_context((struct wire_context *)(uintptr_t)slot->target,
                                               slot->size);
        return VEO_COMMAND_OK;
    case WIRE_EXIT: return VEO_COMMAND_OK;
    case WIRE_HOST: break; /* not executed here */
    }

    return VEO_COMMAND_ERROR;
}

/* The result of the request that was executed OFFS requests before this one's predecessor. */
__attribute__((visibility("default"))) int veo_prev_req_result(int offs, uint64_t *result);
int veo_prev_req_result(int offs, uint64_t *result)
{
    const struct wire_context *wire = veow_current != NULL ? veow_current->wire : NULL;
    if (wire == NULL || result == NULL || offs < 0 || offs >= WIRE_HISTORY ||
        (uint64_t)offs >= wire->executed)
        return -1;
    *result = wire->history[(wire->executed - 1 - (uint64_t)offs) % WIRE_HISTORY];
    return 0;
}

/* The last answer. The host may reuse the wire as soon as it has the answer, so nothing is written
 * to the doorbell; a thread that goes to sleep at that moment looks again soon. */
static void leave(struct veow_context *ctx, int outcome)
{
    struct wire_context *wire = ctx->wire;
    struct wire_slot *slot = atomic_exchange(&ctx->slot, NULL);
    ctx->wire = NULL;
    if (slot != NULL) {
        slot->result = 0;
        slot->outcome = (uint8_t)outcome;
        atomic_store_explicit(&slot->state, WIRE_STATE(ctx->id, WIRE_DONE), memory_order_release);
    }

    futex_wake_all(&wire->done_doorbell);
}

/* The host executes the request in SLOT. */
static void hand_over(struct veow_context *ctx, struct wire_slot *slot)
{
    uint64_t handed = WIRE_STATE(ctx->id, WIRE_HOST_TURN);
    atomic_store_explicit(&slot->state, handed, memory_order_release);
    veow_tell_host(ctx->wire, ctx->id);
    if (await(ctx, slot, handed) != WIRE_STATE(ctx->id, WIRE_DONE))
        overwritten();
    atomic_store_explicit(&ctx->wire->left, ctx->id + 1, memory_order_release);
}

/* A copy is executed, as kernels of other contexts could change the slot meanwhile. */
static void take(struct wire_slot *copy, const struct wire_slot *slot)
{
    copy->op = slot->op;
    copy->flags = slot->flags;
    copy->ret = slot->ret;
    copy->nargs = slot->nargs;
    copy->target = slot->target;
    copy->kinds = slot->kinds;
    memcpy(copy->args, slot->args, sizeof copy->args);
    if (copy->nargs > (copy->flags & WIRE_BLOCK_ARGS ? VEO_MAX_NUM_ARGS : WIRE_SLOT_ARGS))
        overwritten();
}

/* Says which function is being called. Who asks may miss a call that begins at this moment, so that
 * the store needs no fence, which would be a twentieth of a call. */
static void set_target(struct veow_context *ctx, uint64_t target)
{
    atomic_store_explicit(&ctx->target, target, memory_order_release);
}

/* True if the host takes the request back, which it learns from the answer here. */
static bool is_withdrawn(struct wire_slot *slot)
{
    uint16_t marked = WIRE_TO_WITHDRAW;
    return atomic_load_explicit(&slot->withdrawn, memory_order_relaxed) == marked &&
           atomic_compare_exchange_strong(&slot->withdrawn, &marked, WIRE_WITHDRAWN);
}

static void serve(struct veow_context *ctx)
{
    struct wire_chunk *chunk = ctx->wire->first;
    unsigned index = 0;
    for (uint64_t least = 0;; least = ctx->id + 1) {
        struct wire_slot *slot = &chunk->slots[index];
        struct wire_slot request;
        uint64_t state = await(ctx, slot, 0);
        ctx->id = state >> 3;
        if ((state & WIRE_PHASE_MASK) != WIRE_READY || ctx->id < least)
            overwritten();
        /* Once a request is done, the host may use its chunk for something else. */
        if (++index == WIRE_CHUNK_SLOTS) {
            chunk = chunk->next;
            index = 0;
        }

        take(&request, slot);
        if (request.op == WIRE_HOST) {
            hand_over(ctx, slot);
            continue;
        }

        uint64_t result;
        atomic_store_explicit(&ctx->slot, slot, memory_order_relaxed);
        if (is_withdrawn(slot)) {
            veow_finish(ctx, VEO_COMMAND_ERROR, 0);
            continue;
        }

        set_target(ctx, wire_is_call(request.op) ? request.target : 0);
        int outcome = execute(ctx, &request, &result);
        set_target(ctx, 0);
        if (request.op != WIRE_BATCH)
            wire_remember(ctx->wire, result);
        /* Output of a kernel is there when its caller goes on. */
        if (__fpending(stdout))
            fflush(stdout);
        if (request.op == WIRE_EXIT) {
            leave(ctx, outcome);
            return;
        }

        veow_finish(ctx, outcome, result);
    }
}

VEOW_NO_ASAN static void thread_ended(void *argument)
{
    (void)argument;
    veow_die("a kernel ended the thread of its context (pthread_exit)");
}

void veow_run_context(struct wire_context *wire)
{
    struct veow_context *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        veow_die("out of memory (context)");
    ctx->wire = wire;
    /* The host seldom needs it, and then at once. */
    if (wire == veow_header->service)
        atomic_store(&ctx->backoff.limit_ns, SPIN_SHORTEST_NS);
    ctx->signal_stack = veow_signal_stack_new();
    veow_context_enter(ctx);

    pthread_cleanup_push(thread_ended, NULL);
    serve(ctx);
    pthread_cleanup_pop(0);

    veow_context_leave(ctx);
    veow_signal_stack_free(ctx->signal_stack);
    free(ctx);
}

static void *context_main(void *wire)
{
    veow_run_context(wire);
    return NULL;
}

int veow_start_context(struct wire_context *wire, size_t stack_size)
{
    pthread_attr_t attr;
    pthread_t thread;
    int error = pthread_attr_init(&attr);
    if (error)
        return error;

    error = pthread_attr_setstacksize(&attr, stack_size);
    if (!error)
        error = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (!error)
        error = pthread_create(&thread, &attr, context_main, wire);
    pthread_attr_destroy(&attr);
    return error;
}
