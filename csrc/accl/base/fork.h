/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks of this process. What a parent opened is not usable in its child: owners note the count of
 * forks when they open something, and compare.
 *
 * The lock is held across a fork, so a child finds what it guards consistent: the list of open
 * devices, and what is remembered of closed ones.
 */
#ifndef ACCL_FORK_H
#define ACCL_FORK_H

/* Returns the number of forks between the process that loaded this library and the calling one. */
unsigned acclib_fork_count(void);

void acclib_fork_lock(void);
void acclib_fork_unlock(void);

/* From here on CHILD is called in each forked child, with the lock held and the count increased.
 * Only the first call has an effect. */
void acclib_fork_watch(void (*child)(void));

#endif
