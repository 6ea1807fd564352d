/* SPDX-License-Identifier: BSD-3-Clause */
/* invoke.h: calls of functions with given registers (invoke.S). */
#ifndef VEOW_INVOKE_H
#define VEOW_INVOKE_H

#include <stddef.h>
#include <stdint.h>

/* Registers for arguments. */
#if defined(__aarch64__)
enum { VEOW_INTS = 8, VEOW_FPS = 8 };
#else
enum { VEOW_INTS = 6, VEOW_FPS = 8 };
#endif

/* Calls FN with the given registers and stack words. out[0] is the register of an integer result,
 * out[1] of one of floating point. */
void veow_invoke(uint64_t fn, const uint64_t ints[VEOW_INTS], const uint64_t fps[VEOW_FPS],
                 const uint64_t *stack, size_t nstack, uint64_t out[2]);

/* The end of its code. */
extern const char veow_invoke_end[];

#endif
