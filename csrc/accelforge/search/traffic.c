/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/traffic.h"

static const struct forge_polynomial nothing = {NULL, NULL, 0, 0};

/* --- tiles --- */

static struct forge_polynomial extent_of(struct forge_making *m, const struct forge_extent *extent)
{
    struct forge_polynomial length = nothing;
    struct forge_monomial one = forge_monomial_one(m->ring);
    if (m->ring->failed)
        return length;
    if (extent->loop == FORGE_NONE)
        one.coefficient = forge_bound_of(m, extent->variable);
    else
        forge_times_tile(m, &one, extent->loop, 1);
    forge_polynomial_add_term(m->ring, &length, one.exponents, one.coefficient);
    return length;
}

static struct forge_polynomial tile_of(struct forge_making *m, struct forge_span factors)
{
    struct forge_polynomial size = forge_polynomial_of(m->ring, 1);
    for (uint32_t f = 0; f < factors.count; f++) {
        const struct forge_factor *factor = &m->plan->factors[factors.first + f];
        double base = factor->base;
        struct forge_polynomial rank = nothing;
        for (uint32_t i = 0; i < factor->extents.count; i++) {
            const struct forge_extent *extent = &m->plan->extents[factor->extents.first + i];
            struct forge_polynomial length = extent_of(m, extent);
            forge_polynomial_add(m->ring, &rank, &length, NULL, extent->coefficient);
            base -= extent->coefficient;
        }
        struct forge_polynomial constant = forge_polynomial_of(m->ring, base);
        forge_polynomial_add(m->ring, &rank, &constant, NULL, 1);
        forge_polynomial_multiply(m->ring, &size, &size, &rank);
    }
    return size;
}

/* --- traffic --- */

/* As in count.c, with polynomials instead of numbers. */
struct exchange {
    struct forge_polynomial reads;
    struct forge_polynomial writes;
    struct forge_polynomial skipped;
};

static const struct forge_monomial *iterations(const struct forge_making *m,
                                               const struct forge_hop *hop)
{
    return hop->relevance == FORGE_IRRELEVANT ? &m->wholes[hop->loop] : &m->means[hop->loop];
}

void forge_scale(struct forge_making *m, struct forge_polynomial *polynomial,
                 const struct forge_monomial *factor)
{
    struct forge_polynomial result = nothing;
    forge_polynomial_add(m->ring, &result, polynomial, factor, 1);
    *polynomial = result;
}

static void lift(struct forge_making *m, struct exchange *exchange, const struct forge_hop *hops,
                 uint32_t outer, uint32_t inner)
{
    struct forge_monomial all = forge_monomial_one(m->ring);
    struct forge_monomial skipped = forge_monomial_one(m->ring);
    for (uint32_t i = inner; i-- > outer;) {
        if (hops[i].reused)
            continue;
        forge_monomial_times(m->ring, &all, iterations(m, &hops[i]));
        if (hops[i].spatial || hops[i].relevance == FORGE_RELEVANT)
            forge_monomial_times(m->ring, &skipped, iterations(m, &hops[i]));
    }
    forge_scale(m, &exchange->reads, &all);
    forge_scale(m, &exchange->writes, &all);
    forge_scale(m, &exchange->skipped, &skipped);
}

/* Products over the loops above a holder: of all temporal, spatial and relevant temporal ones. */
struct products {
    struct forge_monomial temporal;
    struct forge_monomial spatial;
    struct forge_monomial relevant;
};

static struct products multiply_out(struct forge_making *m, const struct forge_hop *hops,
                                    uint32_t above)
{
    struct products products = {forge_monomial_one(m->ring), forge_monomial_one(m->ring),
                                forge_monomial_one(m->ring)};
    for (uint32_t i = 0; i < above; i++) {
        const struct forge_monomial *n = iterations(m, &hops[i]);
        if (hops[i].spatial) {
            forge_monomial_times(m->ring, &products.spatial, n);
            continue;
        }
        forge_monomial_times(m->ring, &products.temporal, n);
        if (hops[i].relevance == FORGE_RELEVANT)
            forge_monomial_times(m->ring, &products.relevant, n);
    }
    return products;
}

static void charge(struct forge_making *m, uint32_t h, const struct exchange *own,
                   const struct exchange *child, const struct products *products)
{
    const struct forge_holder *holder = &m->plan->holders[h];
    const struct forge_holding *holding = &m->space->problem.holdings[holder->holding];
    double per_read = 1 / forge_making_value(m, holding->reads);
    double per_write = holder->toll ? 0 : 1 / forge_making_value(m, holding->writes);
    struct forge_polynomial *reads = &m->unit_reads[h];
    struct forge_polynomial *writes = &m->unit_writes[h];
    const struct forge_monomial *temporal = &products->temporal;

    if (holder->down) {
        forge_polynomial_add(m->ring, reads, &child->reads, temporal, per_read);
        forge_polynomial_add(m->ring, writes, &own->reads, temporal, per_write);
        forge_polynomial_add(m->ring, writes, &own->skipped, &products->relevant, -per_write);
        if (holder->skip_initial)
            forge_polynomial_add(m->ring, reads, &child->skipped, &products->relevant, -per_read);
    }
    if (holder->up) {
        forge_polynomial_add(m->ring, reads, &own->writes, temporal, per_read);
        forge_polynomial_add(m->ring, writes, &child->writes, temporal, per_write);
    }
    forge_polynomial_add(m->ring, &m->reads[h], reads, &products->spatial, 1);
    forge_polynomial_add(m->ring, &m->writes[h], writes, &products->spatial, 1);
}

void forge_traffic_count(struct forge_making *m, const struct forge_path *path)
{
    const struct forge_plan *plan = m->plan;
    const struct forge_hop *hops = &plan->hops[path->hops];
    bool output = path->output;
    struct exchange child = {
        .reads = forge_polynomial_of(m->ring, plan->copy && output ? 0 : 1),
        .writes = forge_polynomial_of(m->ring, output ? 1 : 0),
        .skipped = forge_polynomial_of(m->ring, output && plan->skip_initial ? 1 : 0),
    };

    uint32_t inner = plan->loop_count;
    for (uint32_t i = path->holders.count; i-- > 0;) {
        uint32_t h = path->holders.first + i;
        const struct forge_holder *holder = &plan->holders[h];
        lift(m, &child, hops, holder->above, inner);
        inner = holder->above;

        struct exchange own = {nothing, nothing, nothing};
        if (i > 0) {
            struct forge_polynomial fills = tile_of(m, holder->tile);
            own.reads = holder->toll ? child.reads : fills;
            if (output)
                own.writes = holder->toll ? child.writes : fills;
            if (output && holder->skip_initial)
                own.skipped = holder->toll ? child.skipped : fills;
        }
        struct products products = multiply_out(m, hops, holder->above);
        charge(m, h, &own, &child, &products);
        if (!holder->toll) {
            struct forge_polynomial size = tile_of(m, holder->reserved);
            const struct forge_holding *holding = &m->space->problem.holdings[holder->holding];
            forge_polynomial_add(m->ring, &m->reserved[h], &size, NULL,
                                 forge_making_value(m, holding->bits) *
                                     (holder->persistent ? m->instances : 1));
        }
        child = own;
    }
}
