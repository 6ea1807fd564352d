/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/hooks.h"

#include <pthread.h>
#include <stddef.h>

static struct hook hooks[HOOK_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void veolib_hook_set(enum hook_kind kind, hook_function *function, void *payload)
{
    pthread_mutex_lock(&lock);
    hooks[kind] = (struct hook){.function = function, .payload = payload};
    pthread_mutex_unlock(&lock);
}

struct hook veolib_hook_get(enum hook_kind kind)
{
    pthread_mutex_lock(&lock);
    struct hook hook = hooks[kind];
    pthread_mutex_unlock(&lock);
    return hook;
}

bool veolib_hook_is_set(enum hook_kind kind)
{
    return veolib_hook_get(kind).function != NULL;
}
