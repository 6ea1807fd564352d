/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_veshm.h: memory of a VE process that other VE processes attach (VESHM). The functions are
 * declared in ve_offload.h, the modes in veo_veshm_defs.h.
 *
 * Soft: none of it is supported, as it needs the hardware's address translation. Each function
 * fails at once with errno ENOSYS and a text in veosoft_error().
 *
 * A region is known by its address in the owner, its size, SYNCNUM (the number of a PCISYNC
 * register) and MODE, the | of constants of veo_veshm_defs.h. Its address is one from
 * veo_alloc_hmem(), which says whose memory it is.
 *
 * veo_shared_mem_open() opens a region to others, veo_shared_mem_close() ends that: 0, or -1.
 * veo_shared_mem_attach() attaches a region of the process with id PID to PROC: an address there,
 * (void *)-1 on failure. With VE_REGISTER_VEMVA veo_hmemcpy() takes it; with VE_REGISTER_VEHVA user
 * DMA does (veo_vedma.h). veo_shared_mem_detach() ends that: 0, or -1.
 *
 * Ownership. The memory stays the owner's, who must not free it while it is open.
 *
 * Threads, processes and errors are as in ve_offload.h.
 */
#ifndef VEO_VESHM_H
#define VEO_VESHM_H

#include "ve_offload.h"
#include "veo_veshm_defs.h"

#endif
