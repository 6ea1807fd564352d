/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_hmem.h: addresses that say which memory they are in.
 *
 * A VE address from veo_alloc_hmem() has bit 63 set and the process identifier (0..15) in bits
 * 62..59, so that one pointer type serves host and VE memory. Untagged pointers are host memory.
 *
 * Threads. Any thread may call any function. veo_free_hmem() and veo_hmemcpy() are synchronous, as
 * ve_offload.h says: they block until the main context's queue is empty; the others do not block.
 *
 * Ownership. Memory is freed with veo_free_hmem(); that of a VE process goes with the process.
 * Errors are those of ve_offload.h.
 */
#ifndef VEO_HMEM_H
#define VEO_HMEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct veo_proc_handle;

/*
 * Allocates SIZE bytes in PROC, or with malloc() if PROC is NULL, and stores the tagged address in
 * *ADDR. 0, or a negative value: no memory, the process is gone, or its identifier is above 15.
 */
int veo_alloc_hmem(struct veo_proc_handle *proc, void **addr, const size_t size);
/* Frees it, or host memory with free(). 0, or -1 if no block starts there. */
int veo_free_hmem(void *addr);
/*
 * Copies between host and VE, or within one of them, as the tags say. 0, or a negative value
 * (VE addresses of two processes, process gone, bad address).
 */
int veo_hmemcpy(void *dst, const void *src, size_t size);

/* 1 for a tagged address, else 0. */
int veo_is_ve_addr(const void *addr);
/* The address without its tag. */
void *veo_get_hmem_addr(void *addr);
/* Number of processes that tags can tell apart: 16. */
int veo_get_max_proc_identifier(void);
/* -1 (NULL) for untagged addresses. */
int veo_get_proc_identifier_from_hmem(const void *addr);
struct veo_proc_handle *veo_get_proc_handle_from_hmem(const void *addr);
pid_t veo_get_pid_from_hmem(const void *addr);
int veo_get_venum_from_hmem(const void *addr);
/* ADDR with the tag of process IDENT; 0 if IDENT is not in 0..15. */
void *veo_set_proc_identifier(void *addr, int ident);

#ifdef __cplusplus
}
#endif

#endif
