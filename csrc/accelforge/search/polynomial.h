/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polynomial.h: sums of products of powers of symbols; powers may be negative.
 */
#ifndef OFFCHIP_FORGE_POLYNOMIAL_H
#define OFFCHIP_FORGE_POLYNOMIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "accelforge/search/arena.h"

/* No polynomial has more terms: sums in indices multiply them. */
#define FORGE_MOST_TERMS 2048

/* All polynomials of one template have the same symbols. */
struct forge_ring {
    struct forge_arena *arena;
    uint32_t symbol_count;
    bool failed; /* out of memory, or of terms: results mean nothing */
};

struct forge_polynomial {
    double *coefficients;
    int16_t *exponents; /* symbol_count per term */
    uint32_t count;
    uint32_t room;
};

/* A coefficient and symbol_count exponents. */
struct forge_monomial {
    double coefficient;
    int16_t *exponents;
};

struct forge_monomial forge_monomial_one(struct forge_ring *ring);
void forge_monomial_times(const struct forge_ring *ring, struct forge_monomial *product,
                          const struct forge_monomial *factor);

/* Adds SCALE * MONOMIAL * POLYNOMIAL to SUM; terms that are alike become one. */
void forge_polynomial_add(struct forge_ring *ring, struct forge_polynomial *sum,
                          const struct forge_polynomial *polynomial,
                          const struct forge_monomial *monomial, double scale);
void forge_polynomial_add_term(struct forge_ring *ring, struct forge_polynomial *sum,
                               const int16_t *exponents, double coefficient);

/* *PRODUCT = A * B, and a constant as a polynomial. */
void forge_polynomial_multiply(struct forge_ring *ring, struct forge_polynomial *product,
                               const struct forge_polynomial *a, const struct forge_polynomial *b);
struct forge_polynomial forge_polynomial_of(struct forge_ring *ring, double constant);

#endif
