/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h: names of files that reports go to. */
#ifndef OFFCHIP_DPU_LIB_PATH_H
#define OFFCHIP_DPU_LIB_PATH_H

/* The path that PATTERN stands for: with the process id for each %p. To be freed by free(); NULL if
 * out of memory. */
char *dpulib_make_path(const char *pattern);

#endif
