/* SPDX-License-Identifier: BSD-3-Clause */
/* Futexes in memory that processes share. */
#ifndef OFFCHIP_FUTEX_H
#define OFFCHIP_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *WORD is VALUE; at most TIMEOUT_NS, without limit if negative. May wake early. */
static inline void futex_sleep(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    struct timespec ts = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                          .tv_nsec = (long)(timeout_ns % 1000000000)};
    syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ns < 0 ? NULL : &ts, NULL, 0);
}

static inline void futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
