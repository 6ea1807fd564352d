/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h: tasks that several threads do, and when to stop.
 */
#ifndef OFFCHIP_FUSE_POOL_H
#define OFFCHIP_FUSE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuse_limits {
    unsigned threads;             /* 0 is 1 */
    const volatile uint8_t *stop; /* not 0: stop; may be NULL */
    double deadline;              /* of the monotonic clock, in seconds; infinity: none */
    size_t bytes;                 /* for partial results; SIZE_MAX: no limit */
};

/* True if it is time to stop. */
bool fuse_is_over(const struct fuse_limits *limits);

/*
 * Calls DO_TASK for the numbers 0 to COUNT - 1, each once, in any order and in several threads;
 * WORKER, below `threads`, says in which. After one that returns false no others are begun. False
 * if one did.
 */
bool fuse_do_tasks(const struct fuse_limits *limits, size_t count,
                   bool (*do_task)(void *context, size_t task, unsigned worker), void *context);

#endif
