/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdio.h: the run time's own, with remove() declared for C++. Without it libc++'s header would
 * take the name std::remove for a function that does not exist, which is that of an algorithm.
 */
#ifndef DPU_RUNTIME_CPLUSPLUS_STDIO_H
#define DPU_RUNTIME_CPLUSPLUS_STDIO_H

#include_next <stdio.h>

extern "C" int remove(const char *path);

#endif
