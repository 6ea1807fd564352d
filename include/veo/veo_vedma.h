/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_vedma.h: user DMA. ve_offload.h declares the functions; the soft twin fails them with errno
 * ENOSYS.
 */
#ifndef VEO_VEDMA_H
#define VEO_VEDMA_H

#include "ve_offload.h"

/* Of a request that veo_dma_post() made. */
struct ve_dma_handle {
    int status;
    int index;
};

#endif
