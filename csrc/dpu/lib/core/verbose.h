/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbose.h: messages on stderr, "api:W:2026-01-01|12:00:00: text".
 *
 * Errors and warnings are always shown, the others if UPMEM_VERBOSE says so. Any thread may call
 * this, with or without the lock.
 */
#ifndef OFFCHIP_DPU_LIB_VERBOSE_H
#define OFFCHIP_DPU_LIB_VERBOSE_H

#include <stdatomic.h>

enum dpulib_level { DPULIB_ERROR, DPULIB_WARNING, DPULIB_INFO, DPULIB_DEBUG };

#define DPULIB_TOLD_MAX 4

/* Digests of the texts that were told at one place of the source; 0: none yet. */
struct dpulib_told {
    atomic_uint digests[DPULIB_TOLD_MAX];
};

__attribute__((format(printf, 2, 3))) void dpulib_log(enum dpulib_level level, const char *format,
                                                      ...);
/* Each text once, and DPULIB_TOLD_MAX different ones; errno stays. */
__attribute__((format(printf, 3, 4))) void dpulib_log_once(struct dpulib_told *told,
                                                           enum dpulib_level level,
                                                           const char *format, ...);

#endif
