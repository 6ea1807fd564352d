/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_vhveshm.h: System V shared memory of the host that a VE process attaches. The functions are
 * declared in ve_offload.h.
 *
 * Soft: none of it is supported, as it needs the hardware's address translation. Each function
 * fails at once with errno ENOSYS and a text in veosoft_error(). A kernel of the soft twin runs on
 * the host and can call shmget() and shmat() itself.
 *
 * veo_shmget() finds or makes a segment, as shmget() does: its id, or -1. veo_shmat() attaches it
 * to PROC: the address in the VE process, (void *)-1 on failure; *OUT gets its VE host
 * virtual address. veo_shmdt() detaches what veo_shmat() attached at ADDR: 0, or -1. Segments
 * stay until they are removed with shmctl().
 *
 * Threads, processes and errors are as in ve_offload.h.
 */
#ifndef VEO_VHVESHM_H
#define VEO_VHVESHM_H

#include "ve_offload.h"

#endif
