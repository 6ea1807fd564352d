/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list.h: an intrusive, doubly linked list.
 *
 * Purpose. Queues and sets of objects that already exist: an object holds a `struct list_node` for
 * each list that it can be in, so adding and removing take constant time and allocate nothing.
 *
 * Empty lists. A list or node of all zeros is empty or in no list; static and calloc()ed objects
 * need no initialisation. list_remove() leaves its node like that.
 *
 * Ownership. The list owns nothing. An object must not be freed or moved while it is in a list, and
 * a node is in at most one list at a time: adding it again before it was removed breaks both lists.
 *
 * Threads. No function takes a lock; the lock that guards the list is the caller's.
 *
 * Errors. None: nothing fails or blocks.
 *
 * Iteration, which may remove or free OBJECT itself where NEXT is read first:
 *     for (struct list_node *at = list.first; at != NULL; at = at->next)
 *         use(LIST_ENTRY(at, struct object, node));
 */
#ifndef OFFCHIP_LIST_H
#define OFFCHIP_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *next, *previous; /* NULL at the ends */
};

struct list {
    struct list_node *first, *last; /* NULL if it is empty */
};

/* The object of TYPE whose MEMBER is *NODE. NODE must not be NULL. */
#define LIST_ENTRY(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))

static inline bool list_is_empty(const struct list *list)
{
    return list->first == NULL;
}

/* Adds a node, which is in no list, at the end. */
static inline void list_append(struct list *list, struct list_node *node)
{
    node->next = NULL;
    node->previous = list->last;
    if (list->last != NULL)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
}

/* Adds a node, which is in no list, at the beginning. */
static inline void list_prepend(struct list *list, struct list_node *node)
{
    node->previous = NULL;
    node->next = list->first;
    if (list->first != NULL)
        list->first->previous = node;
    else
        list->last = node;
    list->first = node;
}

/* Adds a node, which is in no list, before NEXT, or at the end if that is NULL. */
static inline void list_insert(struct list *list, struct list_node *node, struct list_node *next)
{
    if (next == NULL) {
        list_append(list, node);
    } else if (next->previous == NULL) {
        list_prepend(list, node);
    } else {
        node->previous = next->previous;
        node->next = next;
        next->previous->next = node;
        next->previous = node;
    }
}

/* Takes a node out of the list that it is in. */
static inline void list_remove(struct list *list, struct list_node *node)
{
    if (node->previous != NULL)
        node->previous->next = node->next;
    else
        list->first = node->next;
    if (node->next != NULL)
        node->next->previous = node->previous;
    else
        list->last = node->previous;
    node->next = NULL;
    node->previous = NULL;
}

/* Takes the first node out; NULL if the list is empty. */
static inline struct list_node *list_pop(struct list *list)
{
    struct list_node *node = list->first;
    if (node != NULL)
        list_remove(list, node);
    return node;
}

/* Empties the list and returns what was in it, for example to free it without the lock. */
static inline struct list list_take_all(struct list *list)
{
    struct list all = *list;
    *list = (struct list){NULL, NULL};
    return all;
}

#endif
