/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector.h: what vector instructions do, one function per operation, in a table for each set of
 * instructions that the host may have. Private to csrc/veo/machine and its tests.
 *
 * They work on the first VL elements; elements from VL on, and those that the mask leaves out, are
 * kept. An executor may be called by any thread that has the core, never blocks, and fails by
 * ve_raise().
 */
#ifndef OFFCHIP_VE_VECTOR_H
#define OFFCHIP_VE_VECTOR_H

#include "veo/machine/core.h"

/* Executors by operation, NULL for those that are not of vectors. */
typedef ve_execute *const *ve_vector_table;

enum ve_vector_level { VE_VECTORS_PLAIN, VE_VECTORS_AVX2, VE_VECTORS_AVX512, VE_VECTOR_LEVELS };

extern ve_execute *const ve_vectors_plain[VE_OPERATION_COUNT];
extern ve_execute *const ve_vectors_avx2[VE_OPERATION_COUNT];
extern ve_execute *const ve_vectors_avx512[VE_OPERATION_COUNT];

/* The table for a level; NULL if the processor lacks its instructions. */
ve_vector_table ve_vector_executors(enum ve_vector_level level);

#endif
