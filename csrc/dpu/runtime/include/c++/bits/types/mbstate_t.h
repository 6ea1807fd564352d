/* SPDX-License-Identifier: BSD-3-Clause */
/* mbstate_t.h: where libc++'s headers look for this type. */
#ifndef DPU_RUNTIME_CPLUSPLUS_MBSTATE_T_H
#define DPU_RUNTIME_CPLUSPLUS_MBSTATE_T_H

typedef struct {
    int shift;
} mbstate_t;

#endif
