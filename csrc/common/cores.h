/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OFFCHIP_CORES_H
#define OFFCHIP_CORES_H

#include <sched.h>

/* Number of cores this process may use: its affinity, cut by a cgroup CPU quota. At least 1. */
unsigned usable_cores(void);

/* Adds the cores that process PID may use to SET; none if it cannot be asked. 0 is the caller. */
void cores_add(cpu_set_t *set, pid_t pid);

/* Number of cores in SET, cut by this process' CPU quota. At least 1. */
unsigned cores_count(const cpu_set_t *set);

#endif
