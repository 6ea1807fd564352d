/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies to and from another process by the kernel (process_vm_readv() and process_vm_writev()).
 *
 * The kernel copies by `rep movsb`, which is very slow on some processors when the destination lies
 * a little behind the source modulo the size of a page (common/copy.h). On a machine where a
 * measurement shows that, such a copy goes through a buffer at a good offset: two copies, but fast
 * ones.
 *
 * Any thread may call these functions. They block while the kernel copies.
 */
#ifndef VEOLIB_KERNEL_COPY_H
#define VEOLIB_KERNEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copies SIZE bytes from HOST to ADDR in process PID (WRITE), or to HOST from there. Returns 0 or
 * an errno: EPERM or ENOSYS if the system does not allow it at all, EFAULT if not all of it is
 * memory.
 */
int veolib_kernel_copy(pid_t pid, char *host, uint64_t addr, size_t size, bool write);

/* The two ways that veolib_kernel_copy() chooses from. */
int veolib_kernel_copy_at_once(pid_t pid, char *host, uint64_t addr, size_t size, bool write);
int veolib_kernel_copy_by_buffer(pid_t pid, char *host, uint64_t addr, size_t size, bool write);

#endif
