/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.h: the thread of a library that compiles in the background.
 *
 * It is started when there is something to do, and ends when there is nothing more. A forked child
 * has no thread and starts its own; a process that ends stops the compiler, and nothing is begun
 * after that. One lock guards this and what the library's jobs need.
 *
 * All functions may be called from any thread; those below lock() with the lock.
 */
#ifndef OFFCHIP_HOST_BACKGROUND_H
#define OFFCHIP_HOST_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

struct host_background_jobs {
    /* With the lock, which it lets go while it compiles: does one job. False if there was none. */
    bool (*perform)(void);
    /* In a forked child, with nobody else there: jobs not finished will not be. */
    void (*forget)(void);
};

void host_background_lock(void);
void host_background_unlock(void);

/* Starts the thread unless it works. False if it cannot be, or the process ends. */
bool host_background_start(const struct host_background_jobs *jobs);
/* Waits for the end of a job. False after the deadline (clock.h), or if no thread works. */
bool host_background_wait(int64_t deadline);

#endif
