/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vedma.h: for kernels: user DMA between memories that have a VEHVA.
 *
 * Linking. As of vhshm.h: -lsysve, or nothing with the soft twin.
 *
 * Soft: a VEHVA is an address, and a transfer is a copy that is done when ve_dma_post() returns. As
 * the engine does, it moves at most 128 MiB less 4 bytes, in units of 4 bytes, between addresses
 * that are multiples of 4; a bad address ends the kernel.
 *
 * Threads. Any thread may call them; nothing blocks. Ownership. Memory that is registered stays the
 * caller's, until it is unregistered. Errors. Negative numbers of errno, or as each function says.
 */
#ifndef VEDMA_H
#define VEDMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A transfer in progress. */
#ifndef VE_DMA_HANDLE
#define VE_DMA_HANDLE
struct ve_dma_handle {
    int status;
    int index;
};
#endif
typedef struct ve_dma_handle ve_dma_handle_t;

/* Prepares DMA. 0. */
int ve_dma_init(void);

/* Gives SIZE bytes of the kernel's memory a VEHVA, which is all ones, with errno, on failure. */
uint64_t ve_register_mem_to_dmaatb(void *memory, size_t size);
/* Takes a VEHVA back. 0, or -1 with EINVAL. */
int ve_unregister_mem_from_dmaatb(uint64_t vehva);

/* Begins a transfer of SIZE bytes. 0; -EINVAL; on hardware -EAGAIN while the engine is busy. */
int ve_dma_post(uint64_t dst, uint64_t src, int size, ve_dma_handle_t *handle);
/* 0 if the transfer has ended, -EAGAIN if it has not, -EINVAL for no handle; on hardware a positive
 * number for what went wrong. */
int ve_dma_poll(ve_dma_handle_t *handle);
/* Both, until it has ended. */
int ve_dma_post_wait(uint64_t dst, uint64_t src, int size);

#ifdef __cplusplus
}
#endif

#endif
