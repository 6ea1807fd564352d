/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oldest.h: what the queues of a set wait for, in words, and telling of waits that are long.
 *
 * With the lock. Nothing here blocks, but for stderr.
 */
#ifndef OFFCHIP_DPU_LIB_OLDEST_H
#define OFFCHIP_DPU_LIB_OLDEST_H

#include "dpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that fits. */
#define DPULIB_OLDEST_TEXT 256

/* Describes what is at the head of the first queue that is not empty: "" and false if all are. */
bool dpulib_oldest_describe(const struct dpu_set_t *set, char *text, size_t size);

/* A wait that is told on stderr once it is long. Begins as {0}. */
struct dpulib_silence {
    int64_t until; /* 0: it has not begun */
};

/* Waits for dpulib_changed() until the deadline, where a false result means that. */
bool dpulib_wait_told(struct dpulib_silence *silence, const struct dpu_set_t *set,
                      int64_t deadline);
/* The same without waiting, for who works meanwhile. */
void dpulib_tell_of_silence(struct dpulib_silence *silence, const struct dpu_set_t *set);

#endif
