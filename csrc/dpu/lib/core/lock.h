/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.h: the one lock of the library, waiting for what it guards, and what a fork does to it.
 *
 * The lock guards everything that threads share: ranks and their queues, the lines of tasks, the
 * programs and prepared buffers of DPUs. It is not recursive, and is never held while a machine
 * runs, memory is copied or a function of the user's is called.
 *
 * One condition, "something has changed", serves all who wait for the state of a queue: whoever
 * changes such a state calls dpulib_changed() before it releases the lock, and whoever waits looks
 * again after each dpulib_wait().
 *
 * In a forked child the lock is free and nothing of the parent is left: ranks belong to the process
 * that allocated them (dpulib_generation()), and each module starts anew (dpulib_on_fork()).
 */
#ifndef OFFCHIP_DPU_LIB_LOCK_H
#define OFFCHIP_DPU_LIB_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void dpulib_lock(void);
/* False if another thread keeps it for longer than LIMIT nanoseconds. */
bool dpulib_lock_soon(int64_t limit);
void dpulib_unlock(void);

/* With the lock: waits for dpulib_changed(). False after the deadline (clock.h). */
bool dpulib_wait(int64_t deadline);
/* With the lock. */
void dpulib_changed(void);
/* With the lock: waits for a condition of the caller's own, forever or until a time of its clock.
 * The result is that of pthread_cond_wait(). */
int dpulib_wait_on(pthread_cond_t *condition, const struct timespec *until);

/* With the lock: how many forks led to this process. */
uint64_t dpulib_generation(void);
/* Calls IN_CHILD in each forked child, with the lock free. For constructors only. */
void dpulib_on_fork(void (*in_child)(void));

#endif
