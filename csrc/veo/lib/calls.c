/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of VE functions and of VH functions, and their results. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "ve_offload.h"
#include "veo/lib/agent.h"
#include "veo/lib/args.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/process_handle.h"
#include "veo/lib/queue.h"
#include "veo/lib/queue_wait.h"
#include "veo/lib/queue_withdraw.h"
#include "veo/lib/symbols.h"
#include "veosoft.h"

/* --- submission --- */

static size_t padded(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Bytes of the arguments that have no room in a slot. */
static size_t outside_size(const struct veo_args *args)
{
    if (args->nargs <= WIRE_SLOT_ARGS)
        return 0;
    return padded(sizeof(struct wire_args) + (size_t)args->nargs * sizeof(uint64_t));
}

/* Bytes of the block that a call needs besides its slot; 0 for none, SIZE_MAX for too many. */
static size_t block_size(const struct veo_args *args)
{
    size_t stack = 0;
    for (int i = 0; i < args->nstack; i++) {
        if (args->stack[i].size > VEO_STACK_ARGS_MAX ||
            (stack += padded(args->stack[i].size)) > VEO_STACK_ARGS_MAX)
            return SIZE_MAX;
    }
    /* An empty stack argument has an address as well. */
    return outside_size(args) + stack + (args->nstack > 0 ? 16 : 0);
}

/* Allocates the block and what the harvest needs to know. False (error set) on failure. */
static bool reserve_block(struct veo_proc_handle *proc, const struct veo_args *args,
                          struct request_extra **extra)
{
    size_t size = block_size(args);
    *extra = NULL;
    if (size == 0)
        return true;
    if (size == SIZE_MAX) {
        veolib_fail(E2BIG, "the stack arguments of a call may have at most %zu bytes together",
                    VEO_STACK_ARGS_MAX);
        return false;
    }

    *extra = veolib_extra_new(args->nstack);
    if (*extra != NULL)
        (*extra)->block = veolib_wire_get(&proc->memory, size);
    if (*extra == NULL || (*extra)->block == 0) {
        free(*extra);
        veolib_fail(ENOMEM, "out of memory (%zu bytes of arguments)", size);
        return false;
    }
    return true;
}

/* Copies stack arguments to FROM, and their addresses there into VALUES. */
static void place_stack_args(struct veolib_memory *memory, const struct veo_args *args, char *from,
                             uint64_t *values, struct request_extra *extra)
{
    for (int i = 0; i < args->nstack; i++) {
        const struct stack_arg *arg = &args->stack[i];
        if (arg->intent == VEO_INTENT_OUT)
            memset(from, 0, arg->size);
        else if (arg->size > 0)
            memcpy(from, arg->buffer, arg->size);
        if (arg->intent != VEO_INTENT_IN && arg->size > 0)
            extra->copies[extra->ncopies++] =
                (struct copy_out){.to = arg->buffer, .from = from, .size = arg->size};
        values[arg->argnum] = (uint64_t)(uintptr_t)from;
        veolib_wire_open(memory, (uint64_t)(uintptr_t)from, arg->size);
        from += padded(arg->size);
    }
}

/* Writes the call into its slot, and into the block of EXTRA what has no room there. */
static void fill_slot(struct veolib_memory *memory, struct wire_slot *slot, uint64_t addr,
                      const struct veo_args *args, struct request_extra *extra)
{
    const uint64_t *kinds = args->ret != 0 ? args->signature : args->kinds;
    char *block = extra != NULL ? (char *)(uintptr_t)extra->block : NULL;
    uint64_t *values = slot->args;
    slot->op = WIRE_CALL;
    slot->target = addr;
    slot->ret = (uint8_t)args->ret;
    slot->nargs = (uint16_t)args->nargs;
    slot->kinds = kinds[0];
    slot->flags = args->ret != 0 ? WIRE_SIGNATURE : 0;

    if (args->nargs > WIRE_SLOT_ARGS) {
        struct wire_args *outside = (struct wire_args *)block;
        memcpy(outside->kinds, kinds, sizeof outside->kinds);
        slot->flags |= WIRE_BLOCK_ARGS;
        slot->block = outside;
        values = outside->values;
        block += outside_size(args);
    }

    memcpy(values, args->values, (size_t)args->nargs * sizeof(uint64_t));
    if (args->nstack > 0)
        place_stack_args(memory, args, block, values, extra);
}

static uint64_t submit_call(struct veo_thr_ctxt *ctx, uint64_t addr, const struct veo_args *args)
{
    static const struct veo_args none;
    struct request_extra *extra;
    struct draft draft;
    if (addr == 0) {
        veolib_fail(EINVAL, "cannot call the function at address 0");
        return VEO_REQUEST_ID_INVALID;
    }
    if (args != NULL && !veolib_args_check(args))
        return VEO_REQUEST_ID_INVALID;
    if (args == NULL)
        args = &none;

    if (!reserve_block(ctx->proc, args, &extra))
        return VEO_REQUEST_ID_INVALID;
    if (!veolib_queue_begin(ctx, &draft)) {
        if (extra != NULL)
            veolib_wire_put(&ctx->proc->memory, extra->block);
        free(extra);
        return VEO_REQUEST_ID_INVALID;
    }

    fill_slot(&ctx->proc->memory, draft.slot, addr, args, extra);
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
    if (addr != 0)
        id = submit_call(ctx, addr, args);
    veolib_ctx_leave(ctx);
    return id;
}

VEO_EXPORT uint64_t veo_call_async_vh(struct veo_thr_ctxt *ctx, uint64_t (*func)(void *), void *arg)
{
    if (func == NULL) {
        veolib_fail(EINVAL, "the VH function must not be NULL");
        return VEO_REQUEST_ID_INVALID;
    }
    if (!veolib_ctx_enter(ctx))
        return VEO_REQUEST_ID_INVALID;
    uint64_t id = veolib_agent_submit_function(ctx, func, arg, NULL);
    veolib_ctx_leave(ctx);
    return id;
}

/* --- results --- */

VEO_EXPORT int veo_call_peek_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    uint64_t result = 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    int state = veolib_queue_peek(ctx, reqid, &result);
    veolib_ctx_leave(ctx);
    if (retp != NULL)
        *retp = result;
    return state;
}

static int wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp, int64_t timeout_ns)
{
    uint64_t result = 0;
    if (!veolib_ctx_enter(ctx))
        return -1;
    int state = veolib_queue_wait(ctx, reqid, &result, clock_deadline(timeout_ns));
    veolib_ctx_leave(ctx);
    if (retp != NULL)
        *retp = result;
    return state;
}

VEO_EXPORT int veosoft_call_wait_timed(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp,
                                       int64_t timeout_ns)
{
    return wait_result(ctx, reqid, retp, timeout_ns);
}

VEO_EXPORT int veo_call_wait_result(struct veo_thr_ctxt *ctx, uint64_t reqid, uint64_t *retp)
{
    return wait_result(ctx, reqid, retp, -1);
}

VEO_EXPORT int veosoft_call_cancel(struct veo_thr_ctxt *ctx, uint64_t reqid)
{
    if (!veolib_ctx_enter(ctx))
        return -1;
    bool withdrawn = veolib_queue_withdraw(ctx, reqid);
    veolib_ctx_leave(ctx);
    return withdrawn;
}

VEO_EXPORT int veo_call_sync(struct veo_proc_handle *proc, uint64_t addr, struct veo_args *args,
                             uint64_t *result)
{
    uint64_t value = 0;
    int state = VEO_COMMAND_ERROR;
    if (!veolib_proc_enter(proc))
        return -1;
    uint64_t id = submit_call(proc->main, addr, args);
    if (id != VEO_REQUEST_ID_INVALID)
        state = veolib_queue_wait(proc->main, id, &value, CLOCK_NEVER);
    veolib_proc_leave(proc);
    if (result != NULL)
        *result = value;
    return state == VEO_COMMAND_OK ? 0 : -1;
}
