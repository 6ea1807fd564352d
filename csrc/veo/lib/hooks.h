/* SPDX-License-Identifier: BSD-3-Clause */
/* User functions that are called after allocations and frees. */
#ifndef VEO_HOOKS_H
#define VEO_HOOKS_H

#include <stdbool.h>

enum hook_kind {
    HOOK_ALLOC_MEM,
    HOOK_FREE_MEM,
    HOOK_ALLOC_HMEM,
    HOOK_FREE_HMEM,
    HOOK_ALLOC_MEM_ASYNC,
    HOOK_FREE_MEM_ASYNC,
    HOOK_KINDS,
};

struct hook {
    void (*function)(void *payload, ...);
    void *payload;
};

struct hook veolib_hook_get(enum hook_kind kind);
bool veolib_hook_is_set(enum hook_kind kind);

#define HOOK_CALL(kind, ...) \
    do { \
        struct hook hook_ = veolib_hook_get(kind); \
        if (hook_.function) \
            hook_.function(hook_.payload, __VA_ARGS__); \
    } while (0)

#endif
