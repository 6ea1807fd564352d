/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * template.h: mappings of one Einsum without the tiles of their loops.
 *
 * Templates are made in steps, each of which has a file: holders (which component holds what,
 * in which order), slots (temporal loops between holders), fanouts (spatial loops, and loops over
 * variables that have none), limits (what constraints remove, and those that remain).
 */
#ifndef OFFCHIP_FORGE_TEMPLATE_H
#define OFFCHIP_FORGE_TEMPLATE_H

#include <stdatomic.h>

#include "accelforge/search/arena.h"
#include "accelforge/search/space.h"

enum forge_node_kind { FORGE_NODE_HOLD, FORGE_NODE_TEMPORAL, FORGE_NODE_SPATIAL };

struct forge_node {
    uint8_t kind; /* enum forge_node_kind */
    bool toll;
    bool backing;
    bool persistent;
    bool must_keep;
    uint32_t level; /* of a holder or a spatial loop */
    uint32_t tensor;
    uint32_t variable;
    uint32_t dimension;
    uint32_t number; /* of a loop, while the template is made: none is used twice */
};

/* A limit for loops: for the tile of each, for the iterations of each, or for their product. */
struct forge_limit {
    bool of_tiles;
    bool product;
    uint32_t relation; /* enum forge_relation */
    double value;
    double factor;   /* of the product, for what no loop changes */
    uint32_t *loops; /* places among the loops of the template */
    uint32_t loop_count;
};

struct forge_template {
    struct forge_node *nodes;
    uint32_t node_count;
    uint32_t loop_count;
    uint32_t fused_count; /* loops above the lowest outermost holder of a shared tensor */
    struct forge_limit *limits;
    uint32_t limit_count;
    struct forge_span usages; /* of the space: what a fan-out must use */
};

/* Facts of an Einsum before there are templates. */
struct forge_facts {
    const struct forge_space *space;
    uint32_t variable_count;
    uint32_t tensor_count;
    uint32_t level_count;
    uint64_t all;                         /* variables */
    uint64_t direct[FORGE_MAX_MEMBERS];   /* by tensor: variables that are an index of it */
    uint64_t partial[FORGE_MAX_MEMBERS];  /* variables in its indices that are none */
    uint64_t relevant[FORGE_MAX_MEMBERS]; /* variables that the model calls relevant */
    uint8_t sorted[FORGE_MAX_MEMBERS];    /* variables by name */
    double fanouts[FORGE_MAX_LEVELS];     /* instances of each level */
    double own_fanouts[FORGE_MAX_LEVELS]; /* of its own dimensions */
    uint32_t first_memory;
    bool copy;
};

/* Notes what is known of the Einsum of a checked space. FACTS must be zeroed. */
void forge_facts_note(struct forge_facts *facts, const struct forge_space *space);

/* All templates of a space, each once, in the order in which they were made. */
struct forge_templates {
    struct forge_arena arena;
    struct forge_facts facts;
    struct forge_template *list;
    uint32_t count;
    bool complete; /* false: *stop was set */
    bool full;     /* the limit of templates was reached */
    /* private: */
    size_t room;
    uint32_t *table; /* hashes to places in the list */
    size_t table_room;
    atomic_bool *stop;
};

/*
 * Makes the templates of a checked space. *STOP (may be NULL) ends it early when another thread
 * sets it. TEMPLATES is released by forge_templates_clear(), also after a failure.
 */
enum forge_status forge_templates_make(struct forge_templates *templates,
                                       const struct forge_space *space, atomic_bool *stop,
                                       struct forge_fault *fault);
void forge_templates_clear(struct forge_templates *templates);

/* --- steps --- */

/* A list of nodes that has room for all that may come. */
struct forge_sketch {
    struct forge_node *nodes;
    uint32_t count;
    uint32_t room;
    uint32_t next_number; /* of loops */
};

void forge_sketch_remove(struct forge_sketch *sketch, uint32_t at);

struct forge_step_maker;
typedef enum forge_status forge_holders_fn(struct forge_step_maker *maker,
                                           const struct forge_node *holders, uint32_t count);
typedef enum forge_status forge_loops_fn(struct forge_step_maker *maker,
                                         struct forge_sketch *sketch);

/* State that the steps hand on. */
struct forge_step_maker {
    struct forge_templates *templates;
    const struct forge_facts *facts;
    const struct forge_placement *placement;
    struct forge_fault *fault;
    forge_holders_fn *on_holders;
    forge_loops_fn *on_loops;
};

static inline bool forge_maker_stopped(const struct forge_step_maker *maker)
{
    const struct forge_templates *templates = maker->templates;
    return templates->full || (templates->stop != NULL && atomic_load(templates->stop));
}

/* Calls on_holders with each legal order of the holders of the placement, tolls included. */
enum forge_status forge_order_holders(struct forge_step_maker *maker);

/* Calls on_loops with HOLDERS and each choice of temporal loops between them. */
enum forge_status forge_fill_slots(struct forge_step_maker *maker, const struct forge_node *holders,
                                   uint32_t count);

/* Inserts the spatial loops, and temporal loops over variables that have none. */
bool forge_insert_fanouts(const struct forge_facts *facts, struct forge_sketch *sketch);
bool forge_insert_missing(const struct forge_facts *facts, struct forge_sketch *sketch);

/* Limits while loops are still known by their numbers. */
struct forge_draft_limits {
    struct forge_limit *list; /* `loops` has numbers of loops */
    uint32_t count;
};

/* Makes the limits of a placement for SKETCH, in ARENA, and removes loops of one iteration. */
enum forge_status forge_make_limits(const struct forge_facts *facts,
                                    const struct forge_placement *placement,
                                    struct forge_sketch *sketch, struct forge_arena *arena,
                                    struct forge_draft_limits *limits);

/*
 * Adds the limits for the tiles of memories to a template, whose list has room for them.
 * *POSSIBLE becomes false if no tiles of its loops agree with them.
 */
enum forge_status forge_limit_tiles(const struct forge_facts *facts,
                                    const struct forge_placement *placement,
                                    struct forge_arena *arena, struct forge_template *template,
                                    bool *possible);

/*
 * Sets LOW to what no tiles of a template are below, by what its memories hold, without any of its
 * loops: FORGE_OBJECTIVES numbers.
 *
 * A tensor passes each of its holders once at least, whatever the tiles, and its innermost holder
 * exchanges it with the compute for each operation. That takes a glance, where the search of the
 * template would take a thousand times as long.
 */
void forge_least_of_template(const struct forge_facts *facts, const struct forge_template *template,
                             double *low);

#endif
