/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vhshm.h: for kernels: System V shared memory of the host, attached from the VE.
 *
 * Linking. NEC's SDK has these functions in libsysve, and so has offchip; -lsysve works with both.
 * Soft: the worker has them too, so that a kernel is linked with nothing.
 *
 * Soft: kernels run on the host, so that its memory is attached as any process attaches it, and its
 * VEHVA (the address for DMA, lhm and shm) is its address.
 *
 * Threads. Any thread may call them; nothing blocks. Ownership. What is attached is detached by
 * vh_shmdt(), or when the process ends. Errors. -1 (or all ones), and errno as of shmget(2),
 * shmat(2) and shmdt(2).
 */
#ifndef VHSHM_H
#define VHSHM_H

#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the host's segment of that key: its id, or -1. Soft: SHM_HUGETLB in FLAG, which NEC's
 * wants, makes no difference, as the segment is there. */
int vh_shmget(key_t key, size_t size, int flag);

/* Attaches a segment and stores its VEHVA in *VEHVA, which must not be NULL. Its address, or -1. */
void *vh_shmat(int shmid, const void *address, int flag, void **vehva);

/* Detaches what vh_shmat() returned. 0, or -1. */
int vh_shmdt(const void *address);

#ifdef __cplusplus
}
#endif

#endif
