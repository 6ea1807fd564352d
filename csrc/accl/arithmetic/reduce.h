/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums, products, maxima and minima over vectors. Pure functions. */
#ifndef ACCL_REDUCE_H
#define ACCL_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* Elements that are combined at a time, whose operands are in a near cache. */
#define REDUCE_BLOCK 2048

struct reduction {
    uint32_t function; /* enum accl_reduce_function, checked */
    uint32_t type;     /* of the arithmetic */
    uint32_t n;        /* operands */
    const uint8_t *const *operands;
    const uint8_t *operand_types;
    uint32_t first;          /* operands are combined in the order first, first + 1, ... (mod n) */
    uint32_t n_results;      /* at least 1 */
    uint8_t *const *results; /* the same values to each; a result may be one of the operands */
    const uint8_t *result_types;
};

/* Computes elements [START, START + COUNT) of the results from those of the operands. */
void acclib_reduce(const struct reduction *r, size_t start, size_t count);

/* --- for tests: what acclib_reduce() consists of --- */

/* Instructions for vectors, each of which includes those before it. */
enum reduce_vectors { REDUCE_BASE, REDUCE_AVX2, REDUCE_AVX512 };

/* The best that the processor has, which acclib_reduce() uses. */
enum reduce_vectors acclib_reduce_vectors(void);

/* Combines N elements of A with those of B; TO may be either. */
typedef void (*reduce_fn)(void *to, const void *a, const void *b, size_t n);

/* The function for a type other than float16 and bfloat16; NULL if the type has no such function.
 * The processor must have VECTORS. */
reduce_fn acclib_reduce_kernel(uint32_t function, uint32_t type, enum reduce_vectors vectors);

#endif
