/* SPDX-License-Identifier: BSD-3-Clause */
/* word_bytes.h: memory a word at a time. */
#ifndef DPU_RUNTIME_WORD_BYTES_H
#define DPU_RUNTIME_WORD_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The compiler must not make a loop that copies into a call of the function that it is in. */
#ifdef __clang__
#define NO_IDIOMS __attribute__((no_builtin))
#else
#define NO_IDIOMS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

typedef uint32_t __attribute__((may_alias)) word_t;

#endif
