/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_avx512.c: executors of element-wise operations for AVX-512. */
#if defined(__x86_64__)
#define VE_LEVEL ve_vectors_avx512
#include "veo/machine/vector_level.inc"
#endif
