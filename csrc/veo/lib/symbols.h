/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.h: addresses of functions and variables in the worker.
 *
 * The worker's service thread looks each up once; the answers are kept per process until the
 * library is unloaded. Any thread, between veolib_proc_enter() and veolib_proc_leave().
 */
#ifndef VEOLIB_SYMBOLS_H
#define VEOLIB_SYMBOLS_H

#include <stdint.h>

struct veo_proc_handle;

/*
 * The address of NAME in the library HANDLE; 0 (error set) if there is none. Blocks until the
 * worker answers, if it was not asked before; kernels that run do not delay that.
 */
uint64_t veolib_symbol_address(struct veo_proc_handle *proc, uint64_t handle, const char *name);

#endif
