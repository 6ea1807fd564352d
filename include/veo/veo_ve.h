/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_ve.h: what kernels may call, on the VE side of ve_offload.h.
 *
 * Linking. Soft: the worker process that loads the kernel has these functions, so that a kernel is
 * linked with nothing. NEC's SDK has them in libaveoVE.a; -laveoVE works with both.
 *
 * Threads. Only the thread of a context may call them, which is the one that executes kernels; in a
 * thread that a kernel has started they fail. Nothing blocks.
 *
 * Ownership. Results are copied; nothing has to be freed.
 *
 * Errors. Functions return -1 and leave *RESULT as it is; errno is not set.
 */
#ifndef VEO_VE_H
#define VEO_VE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Stores the result of an earlier request of this context in *RESULT: with OFFS 0 of the one before
 * the kernel that asks, with 1 of the one before that, and so on. So a kernel can use what the
 * request before it has allocated. Requests that the host executed count too.
 *
 * 0, or -1 if RESULT is NULL, OFFS is negative, or there is no such request. Soft: the last 32
 * results are kept.
 */
int veo_prev_req_result(int offs, uint64_t *result);

#ifdef __cplusplus
}
#endif

#endif
