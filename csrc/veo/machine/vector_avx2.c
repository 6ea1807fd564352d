/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_avx2.c: executors of element-wise operations for AVX2 and FMA. */
#if defined(__x86_64__)
#define VE_LEVEL ve_vectors_avx2
#include "veo/machine/vector_level.inc"
#endif
