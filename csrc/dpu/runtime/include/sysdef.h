/* SPDX-License-Identifier: BSD-3-Clause */
/* sysdef.h: names of tasklets. */
#ifndef DPU_RUNTIME_SYSDEF_H
#define DPU_RUNTIME_SYSDEF_H

#include <stdint.h>

/* A tasklet's number, 0 to NR_TASKLETS - 1. */
typedef unsigned int sysname_t;
typedef unsigned int thread_id_t;

#endif
