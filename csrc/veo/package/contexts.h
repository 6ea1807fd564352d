/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contexts.h: the open contexts of a process of the veo package.
 *
 * Purpose. A process finishes the requests of its contexts when it is closed, and waits for those
 * of its main context, which is the first one that was opened.
 *
 * Ownership. A context's structure is embedded in an object of the user's, which the set borrows;
 * veopkg_context_remove() must be called before that object goes away.
 *
 * Threads. The caller serialises all calls (by the GIL). Errors. Nothing fails or blocks.
 */
#ifndef VEOPKG_CONTEXTS_H
#define VEOPKG_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/list.h"

struct veopkg_context {
    struct list_node node;
    void *owner; /* the object that embeds it; NULL if it is in no set */
};

struct veopkg_contexts {
    struct list open; /* of struct veopkg_context, newest first */
    void *main; /* the owner of the main context; NULL before it is opened and after it went */
    bool had_main;
};

/* Adds a context, which is in no set. */
static inline void veopkg_context_add(struct veopkg_contexts *set, struct veopkg_context *context,
                                      void *owner)
{
    context->owner = owner;
    list_prepend(&set->open, &context->node);

    if (!set->had_main)
        set->main = owner;
    set->had_main = true;
}

/* Removes a context; one that is in no set is left as it is. */
static inline void veopkg_context_remove(struct veopkg_contexts *set,
                                         struct veopkg_context *context)
{
    if (context->owner == NULL)
        return;
    if (set->main == context->owner)
        set->main = NULL;
    context->owner = NULL;
    list_remove(&set->open, &context->node);
}

/* The newest context; NULL if there is none. */
static inline struct veopkg_context *veopkg_contexts_first(const struct veopkg_contexts *set)
{
    struct list_node *node = set->open.first;
    return node != NULL ? LIST_ENTRY(node, struct veopkg_context, node) : NULL;
}

/* The context that was opened before this one; NULL if there is none. */
static inline struct veopkg_context *veopkg_context_next(const struct veopkg_context *context)
{
    struct list_node *node = context->node.next;
    return node != NULL ? LIST_ENTRY(node, struct veopkg_context, node) : NULL;
}

#endif
