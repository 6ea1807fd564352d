/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of VE functions and of VH functions, and their results. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/host.h"

static size_t padded(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Bytes of the block that a call needs besides its slot; 0 for none, SIZE_MAX for too much. */
static size_t block_size(const struct veo_args *args)
{
    size_t size = 0;
    if (args->nargs > WIRE_SLOT_ARGS)
        size += padded(sizeof(struct wire_args) + (size_t)args->nargs * sizeof(uint64_t));
    size_t stack = 0;
    for (int i = 0; i < args->nstack; i++) {
        if (args->stack[i].size > VEO_STACK_ARGS_MAX ||
            (stack += padded(args->stack[i].size)) > VEO_STACK_ARGS_MAX)
            return SIZE_MAX;
    }
    /* An empty stack argument has an address as well. */
    return size + stack + (args->nstack ? 16 : 0);
}

/* Copies stack arguments behind FROM, their addresses into VALUES. */
static void place_stack_args(const struct veo_args *args, char *from, uint64_t *values,
                             struct request_extra *extra)
{
    for (int i = 0; i < args->nstack; i++) {
        const struct stack_arg *arg = &args->stack[i];
        if (arg->intent == VEO_INTENT_OUT)
            memset(from, 0, arg->size);
        else if (arg->size)
            memcpy(from, arg->buffer, arg->size);
        if (arg->intent != VEO_INTENT_IN && arg->size)
            extra->copies[extra->ncopies++] =
                (struct copy_out){.to = arg->buffer, .from = from, .size = arg->size};
        values[arg->argnum] = (uint64_t)(uintptr_t)from;
        from += padded(arg->size);
    }
}

static uint64_t submit_call(struct veo_thr_ctxt *ctx, uint64_t addr, const struct veo_args *args)
{
    static const struct veo_args none;
    struct request_extra *extra = NULL;
    struct draft draft;
    char *block = NULL;
    if (!addr) {
        veolib_fail(EINVAL, "cannot call the function at address 0");
        return VEO_REQUEST_ID_INVALID;
    }
    if (args && !veolib_args_check(args))
        return VEO_REQUEST_ID_INVALID;
    if (!args)
        args = &none;
    if (args->nstack || args->nargs > WIRE_SLOT_ARGS) {
        size_t size = block_size(args);
        if (size == SIZE_MAX) {
            veolib_fail(E2BIG, "the stack arguments of a call may have at most %zu bytes together",
                        VEO_STACK_ARGS_MAX);
            return VEO_REQUEST_ID_INVALID;
        }
        extra = veolib_extra_new(args->nstack);
        if (extra)
            extra->block = veolib_wire_get(ctx->proc, size);
        if (!extra || !extra->block) {
            free(extra);
            veolib_fail(ENOMEM, "no memory for %zu bytes of arguments", size);
            return VEO_REQUEST_ID_INVALID;
        }
        block = (char *)(uintptr_t)extra->block;
    }
    if (!veolib_queue_begin(ctx, &draft)) {
        if (extra)
            veolib_wire_put(ctx->proc, extra->block);
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }
    struct wire_slot *slot = draft.slot;
    const uint64_t *kinds = args->ret ? args->signature : args->kinds;
    uint64_t *values = slot->args;
    slot->op = WIRE_CALL;
    slot->target = addr;
    slot->ret = (uint8_t)args->ret;
    slot->nargs = (uint16_t)args->nargs;
    slot->kinds = kinds[0];
    slot->flags = args->ret ? WIRE_SIGNATURE : 0;
    if (args->nargs > WIRE_SLOT_ARGS) {
        struct wire_args *outside = (struct wire_args *)block;
        memcpy(outside->kinds, kinds, sizeof outside->kinds);
        slot->flags |= WIRE_BLOCK_ARGS;
        slot->block = outside;
        values = outside->values;
        block += padded(sizeof(struct wire_args) + (size_t)args->nargs * sizeof(uint64_t));
    }
    memcpy(values, args->values, (size_t)args->nargs * sizeof(uint64_t));
    if (args->nstack)
        place_stack_args(args, block, values, extra);
    return veolib_queue_publish(ctx, &draft, extra);
}

VEO_EXPORT uint64_t veo_call_async(struct veo_thr_ctxt *ctx, uint64_t addr, struct veo_args *args)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = submit_call(ctx, addr, args);
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT uint64_t veo_call_async_by_name(struct veo_thr_ctxt *ctx, uint64_t libhdl,
                                           const char *symname, struct veo_args *args)
{
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = VEO_REQUEST_ID_INVALID;
    uint64_t addr = veolib_symbol_address(ctx->proc, libhdl, symname);
    if (addr)
        id = submit_call(ctx, addr, args);
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT uint64_t veo_call_async_vh(struct veo_thr_ctxt *ctx, uint64_t (*func)(void *), void *arg)
{
    if (!func) {
        veolib_fail(EINVAL, "no VH function given (NULL)");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    struct agent_job job = {.kind = AGENT_FUNCTION, .function = func, .argument = arg};
    uint64_t id = veolib_agent_submit(ctx, &job);
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    uint64_t result = 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    int state = veolib_queue_peek(ctx, reqid, &result);
    veolib_ctx_leave(ctx);
    if (retp)
        *retp = result;
    return state;
}

VEO_EXPORT int veosoft_call_wait_timed(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp,
                                       int64_t timeout_ns)
{
    uint64_t result = 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    int state = veolib_queue_wait(ctx, reqid, &result, clock_deadline(timeout_ns));
    veolib_ctx_leave(ctx);
    if (retp)
        *retp = result;
    return state;
}

VEO_EXPORT int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    uint64_t result = 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    int state = veolib_queue_wait(ctx, reqid, &result, CLOCK_NEVER);
    veolib_ctx_leave(ctx);
    if (retp)
        *retp = result;
    return state;
}

VEO_EXPORT int veo_call_sync(struct veo_proc_handle *proc, uint64_t addr, struct veo_args *args,
                             uint64_t *result)
{
    uint64_t value = 0;
    if (!veolib_proc_enter(proc))
        return -1;
    uint64_t id = submit_call(proc->main, addr, args);
    int state = id == VEO_REQUEST_ID_INVALID
                    ? VEO_COMMAND_ERROR
                    : veolib_queue_wait(proc->main, id, &value, CLOCK_NEVER);
    veolib_proc_leave(proc);
    if (result)
        *result = value;
    return state == VEO_COMMAND_OK ? 0 : -1;
}
