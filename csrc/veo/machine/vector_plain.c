/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_plain.c: executors of element-wise operations for any processor. */
#define VE_LEVEL ve_vectors_plain
#include "veo/machine/vector_level.inc"
