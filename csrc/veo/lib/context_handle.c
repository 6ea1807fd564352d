/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/context_handle.h"

#include <errno.h>

#include "veo/lib/error.h"
#include "veo/lib/handle_kind.h"
#include "veo/lib/process_handle.h"

bool veolib_ctx_is_handle(const struct veo_thr_ctxt *ctx)
{
    return ctx != NULL && ctx->kind == HANDLE_CONTEXT;
}

bool veolib_ctx_enter(struct veo_thr_ctxt *ctx)
{
    if (!veolib_ctx_is_handle(ctx)) {
        veolib_fail(EINVAL, ctx != NULL ? "%p is not a context" : "the context must not be NULL",
                    (const void *)ctx);
        return false;
    }
    if (atomic_load_explicit(&ctx->gone, memory_order_acquire)) {
        veolib_fail(EINVAL, "the context is closed");
        return false;
    }
    return veolib_proc_enter(ctx->proc);
}

void veolib_ctx_leave(struct veo_thr_ctxt *ctx)
{
    veolib_proc_leave(ctx->proc);
}
