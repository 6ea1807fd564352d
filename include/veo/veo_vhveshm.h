/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_vhveshm.h: System V shared memory of the host that a VE process attaches. ve_offload.h
 * declares the functions; the soft twin fails them with errno ENOSYS.
 */
#ifndef VEO_VHVESHM_H
#define VEO_VHVESHM_H

#include "ve_offload.h"

#endif
