/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c: the table of tasklets that wait. */
#include <dpuruntime.h>

uint8_t __sys_wq_table[DPU_NR_THREADS];
