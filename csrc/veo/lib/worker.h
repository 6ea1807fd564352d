/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker.h: the worker process as a child: whether it lives, how it died, how it is ended.
 *
 * The child is addressed by pidfd where the kernel has them. A structure is reused for the next
 * worker after its end.
 *
 * Threads: veolib_worker_clear() and veolib_worker_end() are called by one thread; the rest may be
 * called by any thread. The worker's lock is taken for reaping only, and no other lock is taken
 * while it is held.
 */
#ifndef VEOLIB_WORKER_H
#define VEOLIB_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "veo/wire.h"

struct veolib_worker {
    struct wire_header *header; /* of the memory that it shares with the host */
    _Atomic bool dead;          /* it is gone, or has crashed and is about to be */
    _Atomic bool damaged;       /* a kernel wrote over the queues, and it was killed for that */
    _Atomic bool reaped;        /* there is no child (any more) */
    _Atomic int64_t checked_at;
    pthread_mutex_t lock; /* reaping; writing `death` */
    pid_t pid;
    pid_t child;                       /* same as pid, or the debugger that runs it */
    int pidfd;                         /* of the child; -1 where the kernel has none */
    int lifeline;                      /* write end of a pipe: closing it ends the worker */
    char death[WIRE_DEATH_SIZE + 256]; /* how it died, "" until that is known; written once */
};

/* How a child ended. */
struct worker_exit {
    bool known;     /* false: somebody else waited for it */
    bool by_signal; /* code is the number of a signal, else an exit status */
    int code;
};

/* Prepares a structure of zeros, once. */
void veolib_worker_init(struct veolib_worker *worker);

/* Forgets the last worker. */
void veolib_worker_clear(struct veolib_worker *worker);

/* True if the worker has died, as far as that was noticed, or says that it has crashed. Cheap. */
bool veolib_worker_is_dead(struct veolib_worker *worker);

/* Looks whether the child has ended, and notes it. A system call. */
void veolib_worker_check(struct veolib_worker *worker);

/* Same, every 2 ms at most: cheap enough for a loop of peeks. */
void veolib_worker_check_now_and_then(struct veolib_worker *worker);

/* Reaps the child if it has ended; RESULT is written if this call did it. True if it has ended. */
bool veolib_worker_reap(struct veolib_worker *worker, struct worker_exit *result);

/* Writes `death` although the child may not have ended yet. For workers that are dead. */
void veolib_worker_describe(struct veolib_worker *worker);

/* Kills the child. Its death is noticed by the next check. */
void veolib_worker_kill(struct veolib_worker *worker);

/* The queues hold what this library cannot have written: notes it, and kills the worker. */
void veolib_worker_damaged(struct veolib_worker *worker);

/* Waits until DEADLINE for the child to exit, then kills it. Blocks until it is reaped. */
void veolib_worker_end(struct veolib_worker *worker, int64_t deadline);

#endif
