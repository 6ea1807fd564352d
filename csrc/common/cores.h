/* SPDX-License-Identifier: BSD-3-Clause */
/* Number of cores this process may use: its affinity, cut by a cgroup CPU quota. At least 1. */
#ifndef OFFCHIP_CORES_H
#define OFFCHIP_CORES_H

unsigned usable_cores(void);

#endif
