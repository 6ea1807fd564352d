/* SPDX-License-Identifier: BSD-3-Clause */
/* errno.h: one number for all tasklets, as the hardware's memory is. */
#ifndef DPU_RUNTIME_ERRNO_H
#define DPU_RUNTIME_ERRNO_H

#ifdef __cplusplus
extern "C" {
#endif

extern int errno;

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define E2BIG 7
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EINVAL 22
#define ENOSPC 28
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define EOVERFLOW 75
#define EALREADY 114

#ifdef __cplusplus
}
#endif

#endif
