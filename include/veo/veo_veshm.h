/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_veshm.h: memory that VE processes share. ve_offload.h declares the functions; the soft twin
 * fails them with errno ENOSYS.
 */
#ifndef VEO_VESHM_H
#define VEO_VESHM_H

#include "ve_offload.h"
#include "veo_veshm_defs.h"

#endif
