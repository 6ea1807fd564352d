/* SPDX-License-Identifier: BSD-3-Clause */
/* warnings.h: what a launch that did not fail has to say. Without the lock. */
#ifndef OFFCHIP_DPU_LIB_WARNINGS_H
#define OFFCHIP_DPU_LIB_WARNINGS_H

#include "dpu.h"

#include <stdbool.h>

/* Shows a warning on stderr, or keeps it for a caller who asked for that by
 * dpusoft_keep_warnings(). */
__attribute__((format(printf, 2, 3))) void dpulib_warn(struct dpu_rank_t *rank, const char *format,
                                                       ...);
bool dpulib_keeps_warnings(const struct dpu_rank_t *rank);

#endif
