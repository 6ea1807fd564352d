/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h: threads of the library's own. */
#ifndef OFFCHIP_DPU_LIB_THREAD_H
#define OFFCHIP_DPU_LIB_THREAD_H

#include <stdbool.h>

/* Starts a detached thread that has all signals blocked. False if no thread can be started. */
bool dpulib_make_thread(void *(*function)(void *));

#endif
