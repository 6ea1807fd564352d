/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbose.h: messages on stderr, "api:W:2026-01-01|12:00:00: text".
 *
 * Warnings are always shown, the others if UPMEM_VERBOSE says so. Any thread may call this, with or
 * without the lock.
 */
#ifndef OFFCHIP_DPU_LIB_VERBOSE_H
#define OFFCHIP_DPU_LIB_VERBOSE_H

enum dpulib_level { DPULIB_WARNING = 1, DPULIB_INFO, DPULIB_DEBUG };

__attribute__((format(printf, 2, 3))) void dpulib_log(enum dpulib_level level, const char *format,
                                                      ...);

#endif
