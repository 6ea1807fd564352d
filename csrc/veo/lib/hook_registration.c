/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of hooks.
 *
 * A hook is identified by the address of the function that it follows, as the caller sees that
 * function: in an executable that is not position-independent this is an entry of its own procedure
 * linkage table, to which the global offset table of this library then refers as well. So addresses
 * are compared through that table, and this library must not be linked -Bsymbolic. If another
 * libveo comes first in the global scope, this library's own entry points are accepted too.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

#include "common/hmem_tag.h"
#include "ve_offload.h"
#include "veo/lib/context_handle.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/hooks.h"
#include "veo/lib/process_handle.h"

/* Hidden aliases (allocate.c, allocate_async.c), which no other library can interpose. */
#define LOCAL_ALIAS(name) \
    extern __typeof__(name) veolib_##name __attribute__((visibility("hidden")))
LOCAL_ALIAS(veo_alloc_mem);
LOCAL_ALIAS(veo_free_mem);
LOCAL_ALIAS(veo_alloc_hmem);
LOCAL_ALIAS(veo_free_hmem);
LOCAL_ALIAS(veo_alloc_mem_async);
LOCAL_ALIAS(veo_free_mem_async);

/* The kind of hook that follows FUNCTION; -1 if it can have none. */
static int kind_of(const void *function)
{
    const struct {
        const void *seen;
        const void *here;
    } keys[HOOK_KINDS] = {
        [HOOK_ALLOC_MEM] = {(const void *)veo_alloc_mem, (const void *)veolib_veo_alloc_mem},
        [HOOK_FREE_MEM] = {(const void *)veo_free_mem, (const void *)veolib_veo_free_mem},
        [HOOK_ALLOC_HMEM] = {(const void *)veo_alloc_hmem, (const void *)veolib_veo_alloc_hmem},
        [HOOK_FREE_HMEM] = {(const void *)veo_free_hmem, (const void *)veolib_veo_free_hmem},
        [HOOK_ALLOC_MEM_ASYNC] = {(const void *)veo_alloc_mem_async,
                                  (const void *)veolib_veo_alloc_mem_async},
        [HOOK_FREE_MEM_ASYNC] = {(const void *)veo_free_mem_async,
                                 (const void *)veolib_veo_free_mem_async},
    };
    for (int i = 0; i < HOOK_KINDS; i++)
        if (function == keys[i].seen || function == keys[i].here)
            return i;
    return -1;
}

VEO_EXPORT void veo_register_hook(void *func, void (*hook)(void *payload, ...), void *payload)
{
    int kind = kind_of(func);
    if (kind < 0)
        veolib_fail(EINVAL, "%p is not a function that can have a hook", func);
    else
        veolib_hook_set((enum hook_kind)kind, hook, payload);
}

VEO_EXPORT void *veo_get_hook(void *func)
{
    int kind = kind_of(func);
    return kind < 0 ? NULL : (void *)veolib_hook_get((enum hook_kind)kind).function;
}

VEO_EXPORT void veo_unregister_hook(void *func)
{
    int kind = kind_of(func);
    if (kind >= 0)
        veolib_hook_set((enum hook_kind)kind, NULL, NULL);
}

/* One pair of functions for all kinds: each kind has a hook that brings its arguments into one
 * form. */

static void (*user_alloc)(void *, size_t);
static void (*user_free)(uint64_t);

static void *tagged(const struct veo_proc_handle *proc, uint64_t addr)
{
    return hmem_tagged(addr, proc->identifier);
}

static void after_alloc_mem(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    const struct veo_proc_handle *proc = va_arg(args, struct veo_proc_handle *);
    const uint64_t *addr = va_arg(args, uint64_t *);
    size_t size = va_arg(args, size_t);
    va_end(args);

    if (user_alloc != NULL)
        user_alloc(tagged(proc, *addr), size);
}

static void after_free_mem(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    const struct veo_proc_handle *proc = va_arg(args, struct veo_proc_handle *);
    uint64_t addr = va_arg(args, uint64_t);
    va_end(args);

    if (user_free != NULL)
        user_free((uint64_t)(uintptr_t)tagged(proc, addr));
}

static void after_alloc_hmem(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    (void)va_arg(args, struct veo_proc_handle *);
    void *addr = va_arg(args, void *);
    size_t size = va_arg(args, size_t);
    va_end(args);

    if (user_alloc != NULL)
        user_alloc(addr, size);
}

static void after_free_hmem(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    (void)va_arg(args, struct veo_proc_handle *);
    void *addr = va_arg(args, void *);
    va_end(args);

    if (user_free != NULL)
        user_free((uint64_t)(uintptr_t)addr);
}

static void after_alloc_async(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    const struct veo_thr_ctxt *ctx = va_arg(args, struct veo_thr_ctxt *);
    uint64_t addr = va_arg(args, uint64_t);
    size_t size = va_arg(args, size_t);
    va_end(args);

    if (user_alloc != NULL)
        user_alloc(tagged(ctx->proc, addr), size);
}

static void after_free_async(void *payload, ...)
{
    va_list args;
    va_start(args, payload);
    const struct veo_thr_ctxt *ctx = va_arg(args, struct veo_thr_ctxt *);
    uint64_t addr = va_arg(args, uint64_t);
    va_end(args);

    if (user_free != NULL)
        user_free((uint64_t)(uintptr_t)tagged(ctx->proc, addr));
}

VEO_EXPORT void veo_register_hmem_hook_functions(void (*alloc_hook)(void *, size_t),
                                                 void (*free_hook)(uint64_t))
{
    user_alloc = alloc_hook;
    user_free = free_hook;

    veolib_hook_set(HOOK_ALLOC_MEM, after_alloc_mem, NULL);
    veolib_hook_set(HOOK_FREE_MEM, after_free_mem, NULL);
    veolib_hook_set(HOOK_ALLOC_HMEM, after_alloc_hmem, NULL);
    veolib_hook_set(HOOK_FREE_HMEM, after_free_hmem, NULL);
    veolib_hook_set(HOOK_ALLOC_MEM_ASYNC, after_alloc_async, NULL);
    veolib_hook_set(HOOK_FREE_MEM_ASYNC, after_free_async, NULL);
}

VEO_EXPORT void veo_unregister_hmem_hook_functions(void)
{
    for (int i = 0; i < HOOK_KINDS; i++)
        veolib_hook_set((enum hook_kind)i, NULL, NULL);
    user_alloc = NULL;
    user_free = NULL;
}
