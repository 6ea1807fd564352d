/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/count.h"

#include <math.h>

void forge_set_paces(const struct forge_plan *plan, const struct forge_variable *variables,
                     const double *values, struct forge_pace *paces)
{
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        const struct forge_loop *loop = &plan->loops[l];
        double bound = values[variables[loop->variable].bound];
        double extent = loop->outer == FORGE_NONE ? bound : paces[loop->outer].tile;

        paces[l].tile = bound <= 1 ? 1 : values[loop->tile];
        paces[l].mean = extent / paces[l].tile;
        bool rounds_up = loop->rounds_up && extent == bound;
        paces[l].whole = rounds_up ? ceil(paces[l].mean) : paces[l].mean;
    }
}

struct forge_computes forge_count_computes(const struct forge_plan *plan,
                                           const struct forge_pace *paces)
{
    struct forge_computes computes = {0, 0};
    if (plan->copy)
        return computes;

    computes.total = 1;
    computes.steps = 1;
    for (uint32_t l = 0; l < plan->loop_count; l++) {
        computes.total *= paces[l].mean;
        if (!plan->loops[l].spatial)
            computes.steps *= paces[l].mean;
    }
    return computes;
}

/* Values in the tile that FACTORS describe. */
static double tile_size(const struct forge_plan *plan, struct forge_span factors,
                        const struct forge_variable *variables, const double *values,
                        const struct forge_pace *paces)
{
    double size = 1;
    for (uint32_t f = 0; f < factors.count; f++) {
        const struct forge_factor *factor = &plan->factors[factors.first + f];
        double rank = factor->base;
        for (uint32_t i = 0; i < factor->extents.count; i++) {
            const struct forge_extent *extent = &plan->extents[factor->extents.first + i];
            double length = extent->loop == FORGE_NONE ? values[variables[extent->variable].bound]
                                                       : paces[extent->loop].tile;
            rank += extent->coefficient * (length - 1);
        }
        size *= rank;
    }
    return size;
}

/* Traffic with the parent, in values. */
struct exchange {
    double reads;
    double writes;
    double skipped; /* of the reads */
};

static double iterations(const struct forge_hop *hop, const struct forge_pace *paces)
{
    const struct forge_pace *pace = &paces[hop->loop];
    return hop->relevance == FORGE_IRRELEVANT ? pace->whole : pace->mean;
}

/* Takes an exchange through the loops from number INNER outwards to number OUTER. */
static void lift(struct exchange *exchange, const struct forge_hop *hops, uint32_t outer,
                 uint32_t inner, const struct forge_pace *paces)
{
    for (uint32_t i = inner; i-- > outer;) {
        const struct forge_hop *hop = &hops[i];
        if (hop->reused)
            continue;
        double n = iterations(hop, paces);
        exchange->reads *= n;
        exchange->writes *= n;
        if (hop->spatial || hop->relevance == FORGE_RELEVANT)
            exchange->skipped *= n;
    }
}

/* Products over the first i loops of a path: of all temporal, all spatial, relevant temporal. */
struct products {
    double *temporal;
    double *spatial;
    double *relevant;
};

static void multiply_out(const struct products *products, const struct forge_hop *hops,
                         uint32_t count, const struct forge_pace *paces)
{
    products->temporal[0] = products->spatial[0] = products->relevant[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        double n = iterations(&hops[i], paces);
        bool spatial = hops[i].spatial;
        bool relevant = !spatial && hops[i].relevance == FORGE_RELEVANT;
        products->temporal[i + 1] = products->temporal[i] * (spatial ? 1 : n);
        products->spatial[i + 1] = products->spatial[i] * (spatial ? n : 1);
        products->relevant[i + 1] = products->relevant[i] * (relevant ? n : 1);
    }
}

/* Traffic of a holder with its parent, if its tile is filled with FILLS values. */
static struct exchange own_exchange(const struct forge_holder *holder, bool output, double fills,
                                    const struct exchange *child)
{
    struct exchange own = {fills, fills, fills};
    if (holder->toll)
        own = *child;

    if (!output)
        own.writes = 0;
    if (!output || !holder->skip_initial)
        own.skipped = 0;
    return own;
}

static struct forge_traffic charge(const struct forge_holder *holder,
                                   const struct forge_holding *holding, const double *values,
                                   const struct exchange *own, const struct exchange *child,
                                   const struct products *products)
{
    double per_read = 1 / values[holding->reads];
    double per_write = holder->toll ? 0 : 1 / values[holding->writes];
    double reads = 0;
    double writes = 0;
    double skipped_reads = 0;
    double skipped_writes = 0;

    if (holder->down) {
        reads += child->reads * per_read;
        writes += own->reads * per_write;
        skipped_writes += own->skipped * per_write;
        if (holder->skip_initial)
            skipped_reads += child->skipped * per_read;
    }
    if (holder->up) {
        reads += own->writes * per_read;
        writes += child->writes * per_write;
    }

    double temporal = products->temporal[holder->above];
    double relevant = products->relevant[holder->above];
    double spatial = products->spatial[holder->above];
    struct forge_traffic traffic = {
        .unit_reads = reads * temporal - skipped_reads * relevant,
        .unit_writes = writes * temporal - skipped_writes * relevant,
    };
    traffic.reads = traffic.unit_reads * spatial;
    traffic.writes = traffic.unit_writes * spatial;
    return traffic;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* The tensors of a copy are the same data: what need not be moved for one moves for none. */
static void merge_copies(const struct forge_plan *plan, struct forge_traffic *traffic)
{
    for (uint32_t i = 0; i < plan->shown_count; i++) {
        struct forge_traffic *shown = &traffic[plan->shown[i]];
        for (uint32_t h = plan->shown[i] + 1; h < plan->holder_count; h++) {
            if (plan->holders[h].level != plan->holders[plan->shown[i]].level)
                continue;
            shown->reads = least(shown->reads, traffic[h].reads);
            shown->writes = least(shown->writes, traffic[h].writes);
            shown->unit_reads = least(shown->unit_reads, traffic[h].unit_reads);
            shown->unit_writes = least(shown->unit_writes, traffic[h].unit_writes);
            shown->reserved = least(shown->reserved, traffic[h].reserved);
        }
    }
}

void forge_count_traffic(const struct forge_plan *plan, const struct forge_variable *variables,
                         const struct forge_holding *holdings, const double *values,
                         const struct forge_pace *paces, double *prefixes,
                         struct forge_traffic *traffic)
{
    uint32_t count = plan->loop_count;
    struct products products = {prefixes, prefixes + count + 1, prefixes + 2 * (count + 1)};

    for (uint32_t t = 0; t < plan->path_count; t++) {
        const struct forge_path *path = &plan->paths[t];
        if (path->holders.count == 0)
            continue;
        const struct forge_hop *hops = &plan->hops[path->hops];
        multiply_out(&products, hops, count, paces);

        struct exchange child = {
            .reads = plan->copy && path->output ? 0 : 1,
            .writes = path->output ? 1 : 0,
            .skipped = path->output && plan->skip_initial ? 1 : 0,
        };
        uint32_t inner = count;
        for (uint32_t i = path->holders.count; i-- > 0;) {
            uint32_t h = path->holders.first + i;
            const struct forge_holder *holder = &plan->holders[h];
            const struct forge_holding *holding = &holdings[holder->holding];
            lift(&child, hops, holder->above, inner, paces);
            inner = holder->above;

            double fills = tile_size(plan, holder->tile, variables, values, paces);
            struct exchange own = {0, 0, 0};
            if (i > 0)
                own = own_exchange(holder, path->output, fills, &child);
            traffic[h] = charge(holder, holding, values, &own, &child, &products);
            traffic[h].reserved =
                holder->toll ? 0
                             : tile_size(plan, holder->reserved, variables, values, paces) *
                                   values[holding->bits];
            child = own;
        }
    }

    if (plan->copy)
        merge_copies(plan, traffic);
}
