/* SPDX-License-Identifier: BSD-3-Clause */
/* veo_ve.h: what kernels may call. Link with nothing, or with -laveoVE as for NEC's library. */
#ifndef VEO_VE_H
#define VEO_VE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The result of the request that this context executed OFFS requests before the last one: 0 is the
 * one before the kernel that asks. 0, or -1 if it is not known (32 are kept).
 */
int veo_prev_req_result(int offs, uint64_t *result);

#ifdef __cplusplus
}
#endif

#endif
