/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h: user functions that are called after allocations and frees.
 *
 * The table is global to the process and has its own lock, which is not held while a hook runs. A
 * hook that is replaced meanwhile may be called once more. Functions never block or fail.
 */
#ifndef VEOLIB_HOOKS_H
#define VEOLIB_HOOKS_H

#include <stdbool.h>

/* The functions that can have a hook. */
enum hook_kind {
    HOOK_ALLOC_MEM,
    HOOK_FREE_MEM,
    HOOK_ALLOC_HMEM,
    HOOK_FREE_HMEM,
    HOOK_ALLOC_MEM_ASYNC,
    HOOK_FREE_MEM_ASYNC,
    HOOK_KINDS,
};

typedef void hook_function(void *payload, ...);

struct hook {
    hook_function *function; /* NULL: none */
    void *payload;
};

/* Replaces the hook of KIND; a FUNCTION of NULL removes it. */
void veolib_hook_set(enum hook_kind kind, hook_function *function, void *payload);

struct hook veolib_hook_get(enum hook_kind kind);

bool veolib_hook_is_set(enum hook_kind kind);

/* Calls the hook of KIND, if there is one, with its payload and the given arguments. */
#define HOOK_CALL(kind, ...) \
    do { \
        struct hook hook_ = veolib_hook_get(kind); \
        if (hook_.function != NULL) \
            hook_.function(hook_.payload, __VA_ARGS__); \
    } while (0)

#endif
