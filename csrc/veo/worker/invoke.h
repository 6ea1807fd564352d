/* SPDX-License-Identifier: BSD-3-Clause */
/* invoke.h: calls of functions with given registers (invoke.S). */
#ifndef VEOW_INVOKE_H
#define VEOW_INVOKE_H

#include <stddef.h>
#include <stdint.h>

/* Calls FN with the given registers and stack words. out[0] is rax, out[1] xmm0. */
void veow_invoke(uint64_t fn, const uint64_t ints[6], const uint64_t fps[8], const uint64_t *stack,
                 size_t nstack, uint64_t out[2]);

/* The end of its code. */
extern const char veow_invoke_end[];

#endif
