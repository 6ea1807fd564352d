/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unseen_process.h: running a command that the host program does not notice.
 *
 * Programs may wait for any child, ignore theirs, or have a handler for SIGCHLD. A command that
 * runs for the library is none of their children: they are not told of it, and cannot take it.
 */
#ifndef OFFCHIP_UNSEEN_PROCESS_H
#define OFFCHIP_UNSEEN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs WORDS, of which the first is a path, with NICE (0 to 19) added to this thread's niceness,
 * and without input, output and LD_PRELOAD. True if it ends with status 0. After LIMIT_NS it
 * is killed, with the processes that it started, and so it is if this process ends. One at a time;
 * host_unseen_stop() makes one that runs in another thread fail, and all later ones.
 */
bool host_unseen_run(const char *const *words, int nice, int64_t limit_ns);
void host_unseen_stop(void);
/* In a forked child: what the parent runs is not this process's. */
void host_unseen_forget(void);

#endif
