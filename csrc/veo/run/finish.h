/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.h: what VE code asked to be called at the end (atexit, __cxa_atexit). Any thread. */
#ifndef VERUN_FINISH_H
#define VERUN_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/link/library.h"

/* Has FUNCTION called with ARGUMENT when the process ends or its library is unloaded. */
bool verun_at_exit(uint64_t function, uint64_t argument);

/* Calls those in LIBRARY now, the last one first; of all libraries if it is NULL. */
void verun_finish(const struct velink_library *library);

/* Forgets them instead, as LIBRARY goes away without having been loaded. */
void verun_forget(const struct velink_library *library);

#endif
