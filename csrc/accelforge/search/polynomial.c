/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/polynomial.h"

#include <string.h>

static void *take(struct forge_ring *ring, size_t count, size_t size)
{
    void *place = forge_arena_take(ring->arena, count, size);
    if (place == NULL)
        ring->failed = true;
    return place;
}

struct forge_monomial forge_monomial_one(struct forge_ring *ring)
{
    struct forge_monomial one = {1, take(ring, ring->symbol_count, sizeof(int16_t))};
    return one;
}

void forge_monomial_times(const struct forge_ring *ring, struct forge_monomial *product,
                          const struct forge_monomial *factor)
{
    if (ring->failed)
        return;
    product->coefficient *= factor->coefficient;
    for (uint32_t s = 0; s < ring->symbol_count; s++)
        product->exponents[s] = (int16_t)(product->exponents[s] + factor->exponents[s]);
}

static bool make_room(struct forge_ring *ring, struct forge_polynomial *sum)
{
    if (sum->count < sum->room)
        return true;
    uint32_t room = 2 * sum->room + 4;
    double *coefficients = take(ring, room, sizeof *coefficients);
    int16_t *exponents = take(ring, (size_t)room * ring->symbol_count, sizeof *exponents);
    if (ring->failed)
        return false;
    if (sum->count > 0) {
        memcpy(coefficients, sum->coefficients, sum->count * sizeof *coefficients);
        memcpy(exponents, sum->exponents,
               (size_t)sum->count * ring->symbol_count * sizeof *exponents);
    }
    sum->coefficients = coefficients;
    sum->exponents = exponents;
    sum->room = room;
    return true;
}

void forge_polynomial_add_term(struct forge_ring *ring, struct forge_polynomial *sum,
                               const int16_t *exponents, double coefficient)
{
    if (ring->failed || (coefficient >= 0 && coefficient <= 0))
        return;
    for (uint32_t i = 0; i < sum->count; i++)
        if (memcmp(&sum->exponents[(size_t)i * ring->symbol_count], exponents,
                   ring->symbol_count * sizeof *exponents) == 0) {
            sum->coefficients[i] += coefficient;
            return;
        }
    if (sum->count == FORGE_MOST_TERMS)
        ring->failed = true;
    if (ring->failed || !make_room(ring, sum))
        return;
    sum->coefficients[sum->count] = coefficient;
    memcpy(&sum->exponents[(size_t)sum->count * ring->symbol_count], exponents,
           ring->symbol_count * sizeof *exponents);
    sum->count++;
}

void forge_polynomial_add(struct forge_ring *ring, struct forge_polynomial *sum,
                          const struct forge_polynomial *polynomial,
                          const struct forge_monomial *monomial, double scale)
{
    struct forge_monomial term = forge_monomial_one(ring);
    for (uint32_t i = 0; i < polynomial->count && !ring->failed; i++) {
        memcpy(term.exponents, &polynomial->exponents[(size_t)i * ring->symbol_count],
               ring->symbol_count * sizeof *term.exponents);
        term.coefficient = polynomial->coefficients[i] * scale;
        if (monomial != NULL)
            forge_monomial_times(ring, &term, monomial);
        forge_polynomial_add_term(ring, sum, term.exponents, term.coefficient);
    }
}

void forge_polynomial_multiply(struct forge_ring *ring, struct forge_polynomial *product,
                               const struct forge_polynomial *a, const struct forge_polynomial *b)
{
    struct forge_polynomial result = {NULL, NULL, 0, 0};
    for (uint32_t i = 0; i < b->count && !ring->failed; i++) {
        struct forge_monomial term = {b->coefficients[i],
                                      &b->exponents[(size_t)i * ring->symbol_count]};
        forge_polynomial_add(ring, &result, a, &term, 1);
    }
    *product = result;
}

struct forge_polynomial forge_polynomial_of(struct forge_ring *ring, double constant)
{
    struct forge_polynomial result = {NULL, NULL, 0, 0};
    struct forge_monomial one = forge_monomial_one(ring);
    if (!ring->failed)
        forge_polynomial_add_term(ring, &result, one.exponents, constant);
    return result;
}
