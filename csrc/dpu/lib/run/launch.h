/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h: starting tasklets. */
#ifndef OFFCHIP_DPU_LIB_LAUNCH_H
#define OFFCHIP_DPU_LIB_LAUNCH_H

#include "dpu.h"

#include <stdbool.h>

struct dpulib_boot {
    bool boot;           /* tasklet 0 from the beginning, as dpu_launch(); else one tasklet: */
    bool resume;         /* where it stopped, and not from the beginning */
    dpu_thread_t thread; /* its number */
};

/* Queues a launch of the DPUs of a set. Synchronously, blocks until all have ended and returns the
 * error of the first one that ended badly. */
dpu_error_t dpulib_launch(struct dpu_set_t set, struct dpulib_boot boot, bool async);

#endif
