/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OFFCHIP_CORES_H
#define OFFCHIP_CORES_H

#include <sched.h>

#include "common/symbol.h"

/* Number of cores this process may use: its affinity, cut by a cgroup CPU quota. At least 1. */
unsigned usable_cores(void) OFFCHIP_SYMBOL(usable_cores);

/* Adds the cores that process PID may use to SET; none if it cannot be asked. 0 is the caller. */
void cores_add(cpu_set_t *set, pid_t pid) OFFCHIP_SYMBOL(cores_add);

/* Number of cores in SET, cut by this process' CPU quota. At least 1. */
unsigned cores_count(const cpu_set_t *set) OFFCHIP_SYMBOL(cores_count);

#endif
