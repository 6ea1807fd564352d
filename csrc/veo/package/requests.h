/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.h: the requests of a context whose outcome the veo package does not know yet.
 *
 * Purpose. A request is *pending* from its submission until it is *settled*: its outcome is known,
 * or will never be. While it is pending, the objects that the library may still read or write are
 * kept alive. When the user drops a pending request, its id and what it kept remain as an *orphan*
 * until the library is done with it.
 *
 * Ownership. A request's structure is embedded in an object of the user's, and is in the list of
 * its context while it is pending; veopkg_request_drop() must be called before that object goes
 * away. What a request keeps is a reference of which only `release` and `entomb` know the kind. The
 * set owns it from veopkg_request_add() on.
 *
 * Threads. The caller serialises all calls (by the GIL). `release` and `failed` may run any code
 * and call any function here for the same set; each function is in a consistent state by then.
 *
 * Errors. Nothing fails: if there is no memory for an orphan, what it kept is leaked, as it must
 * not be freed while the library may write to it. Nothing blocks.
 */
#ifndef VEOPKG_REQUESTS_H
#define VEOPKG_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/list.h"
#include "ve_offload.h"

/* Outcomes of requests that the library will never report, besides enum veo_command_state. */
enum {
    VEOPKG_CLOSED = -1000, /* the context was closed before */
    VEOPKG_FORKED = -1001, /* this is a forked child: the request is the parent's */
    VEOPKG_CANCELLED = -1002,
};

struct veopkg_request {
    struct list_node node;
    void *owner; /* the object that embeds it */
    void *keep;  /* what the library may still use; NULL: nothing */
    void *text;  /* for `failed` */
    uint64_t id;
    uint64_t value; /* these two are valid once it is settled */
    int state;      /* enum veo_command_state, or one of the above */
    bool settled;
    bool waiting; /* a thread waits for it in the library; the caller sets and clears this */
};

struct veopkg_orphan {
    uint64_t id;
    void *keep;
};

struct veopkg_request_ops {
    /* The library's veo_call_peek_result(). */
    int (*peek)(struct veo_thr_ctxt *ctx, uint64_t id, uint64_t *value);
    /* A request was settled with an error of the library: the time to ask for details. */
    void (*failed)(void *context, struct veopkg_request *request);
    /* Releases what a request kept. */
    void (*release)(void *keep);
    /* Takes over what a request kept, for as long as the library may still use it. */
    void (*entomb)(void *context, void *keep);
};

struct veopkg_requests {
    struct veopkg_request_ops ops;
    void *context;                 /* argument of ops */
    struct list pending;           /* of struct veopkg_request, oldest first */
    size_t nkept;                  /* those of them that keep something */
    struct veopkg_orphan *orphans; /* a ring, oldest first */
    size_t first_orphan;
    size_t norphans;
    size_t orphan_capacity;
    bool gave_up; /* a wait reached its limit; the newest such request: */
    uint64_t given_up;
};

/* Makes an empty set. */
void veopkg_requests_init(struct veopkg_requests *set, struct veopkg_request_ops ops,
                          void *context);

/* Frees the set's memory. It must be empty, or in a process that is about to end. */
void veopkg_requests_free(struct veopkg_requests *set);

/* Adds a request that was submitted as number ID, larger than those before. KEEP may be NULL. */
void veopkg_request_add(struct veopkg_requests *set, struct veopkg_request *request, void *owner,
                        uint64_t id, void *keep);

/* Settles a pending request. */
void veopkg_request_settle(struct veopkg_requests *set, struct veopkg_request *request, int state,
                           uint64_t value);

/* True if a request is settled; asks the library, unless a thread waits for it there. */
bool veopkg_request_poll(struct veopkg_requests *set, struct veo_thr_ctxt *ctx,
                         struct veopkg_request *request);

/* The object of a request goes away. A pending request becomes an orphan, or is just forgotten if
 * the library will not use what it kept (IS_OPEN is false). */
void veopkg_request_drop(struct veopkg_requests *set, struct veopkg_request *request, bool is_open);

/*
 * Releases what orphans kept that are done, oldest first, and settles the oldest pending requests
 * that are done and keep something; at most LIMIT of both.
 */
void veopkg_requests_reap(struct veopkg_requests *set, struct veo_thr_ctxt *ctx, size_t limit);

/* Settles all requests as VEOPKG_CLOSED; entombs what they and the orphans kept. */
void veopkg_requests_close(struct veopkg_requests *set);

/* Notes that a wait for the request reached its limit. */
void veopkg_request_note_given_up(struct veopkg_requests *set,
                                  const struct veopkg_request *request);

/* True if a request that somebody gave up waiting for, or one before it, is not done. */
bool veopkg_requests_have_given_up(struct veopkg_requests *set, struct veo_thr_ctxt *ctx);

/* The oldest pending request; NULL if there is none. */
static inline struct veopkg_request *veopkg_requests_oldest(const struct veopkg_requests *set)
{
    struct list_node *node = set->pending.first;
    return node != NULL ? LIST_ENTRY(node, struct veopkg_request, node) : NULL;
}

/* The id of the oldest orphan. There must be one. */
static inline uint64_t veopkg_requests_oldest_orphan(const struct veopkg_requests *set)
{
    return set->orphans[set->first_orphan].id;
}

/* True if there are neither pending requests nor orphans. */
static inline bool veopkg_requests_are_done(const struct veopkg_requests *set)
{
    return list_is_empty(&set->pending) && set->norphans == 0;
}

#endif
