/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_vedma.h: user DMA, transfers that a VE process makes by its DMA engine. The
 * functions are declared in ve_offload.h; this header has the handle of a transfer.
 *
 * Soft: none of it is supported, as it needs the hardware's address translation (DMAATB). Each
 * function fails at once with errno ENOSYS and a text in veosoft_error().
 *
 * Addresses of both sides are those of the DMAATB, the VE host virtual addresses.
 * veo_register_mem_to_dmaatb() gives one for memory of a VE process, which is named by its address
 * from veo_alloc_hmem(); address and size are multiples of 64 MiB. UINT64_MAX on failure.
 * veo_unregister_mem_from_dmaatb() ends that: 0, or -1. Memory must stay registered, and must not
 * be freed, while a transfer uses it.
 *
 * Transfers of SIZE bytes from SRC to DST. veo_dma_post() starts one and fills *HANDLE, which
 * belongs to the caller; veo_dma_poll() asks whether it has ended; veo_dma_post_wait() does both
 * and blocks until then. They return a negative errno on failure: soft -ENOSYS.
 *
 * veo_access_pcircvsyc_register() has PROC access its VE's register of that name. It has no result.
 *
 * Threads, processes and errors are as in ve_offload.h.
 */
#ifndef VEO_VEDMA_H
#define VEO_VEDMA_H

#include "ve_offload.h"

/* A transfer that veo_dma_post() has started. Allocated by the caller; the members are for the
 * library. */
#ifndef VE_DMA_HANDLE
#define VE_DMA_HANDLE
struct ve_dma_handle {
    int status;
    int index;
};
#endif

#endif
