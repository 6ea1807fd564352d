/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/join.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/model/relevance.h"

/* Lists of what is alive get no longer. */
#define MAX_RESERVATIONS (UINT32_C(1) << 24)

/* A tensor of the problem. */
struct shared {
    uint32_t first; /* Einsums that use it, or FORGE_NONE */
    uint32_t last;
    uint32_t users;
    uint32_t alias; /* the tensor that this one is a copy of, in the end */
};

struct joiner {
    struct forge_join *join;
    const struct forge_problem *problem;
    const struct forge_plan *plans;
    const uint32_t *holder_bases;
    const uint32_t *loop_bases;
    struct forge_fault *fault;
    struct shared *shared; /* by tensor id */
    uint32_t *common;      /* common[k]: loops that Einsums up to k share with those after k */
    uint32_t *counted;     /* by tensor id: mark of the Einsum that counted it last */
    size_t reservations_room;
    size_t pairs_room;
};

static const struct forge_tensor *tensor_of(const struct joiner *j, uint32_t e, uint32_t t)
{
    return &j->problem->tensors[j->problem->einsums[e].tensors.first + t];
}

static const struct forge_level *level_of(const struct joiner *j, uint32_t e, uint32_t level)
{
    return &j->problem->levels[j->problem->einsums[e].levels.first + level];
}

/* The outermost holder of tensor T in Einsum E, or NULL. */
static const struct forge_holder *backing(const struct joiner *j, uint32_t e, uint32_t t)
{
    const struct forge_plan *plan = &j->plans[e];
    struct forge_span holders = plan->paths[t].holders;
    return holders.count == 0 ? NULL : &plan->holders[holders.first];
}

static uint32_t depth_of(const struct forge_holder *holder)
{
    return holder->persistent ? 0 : holder->fused_above;
}

/* --- who uses what --- */

static uint32_t root_of(const struct joiner *j, uint32_t id)
{
    while (j->shared[id].alias != id)
        id = j->shared[id].alias;
    return id;
}

static void note_users(struct joiner *j)
{
    for (uint32_t id = 0; id < j->problem->tensor_ids; id++) {
        j->shared[id].first = FORGE_NONE;
        j->shared[id].alias = id;
        j->counted[id] = FORGE_NONE;
    }

    for (uint32_t e = 0; e < j->problem->einsum_count; e++)
        for (uint32_t t = 0; t < j->plans[e].path_count; t++) {
            struct shared *shared = &j->shared[tensor_of(j, e, t)->id];
            if (shared->first == FORGE_NONE)
                shared->first = e;
            shared->last = e;
            shared->users++;
        }
}

static void note_copies(struct joiner *j)
{
    for (uint32_t e = 0; e < j->problem->einsum_count; e++) {
        if (!j->plans[e].copy)
            continue;
        uint32_t source = root_of(j, tensor_of(j, e, j->plans[e].source)->id);
        for (uint32_t t = 0; t < j->plans[e].path_count; t++)
            if (tensor_of(j, e, t)->output)
                j->shared[root_of(j, tensor_of(j, e, t)->id)].alias = source;
    }
}

static bool is_fused(const struct joiner *j, uint32_t id)
{
    return j->shared[id].first != j->shared[id].last;
}

/* --- outermost holders --- */

static enum forge_status check_backings(struct joiner *j)
{
    for (uint32_t e = 0; e < j->problem->einsum_count; e++)
        for (uint32_t t = 0; t < j->plans[e].path_count; t++) {
            if (!is_fused(j, tensor_of(j, e, t)->id))
                continue;
            const struct forge_holder *holder = backing(j, e, t);
            j->fault->einsum = e;
            j->fault->tensor = t;
            if (holder == NULL)
                return FORGE_NO_FUSED_BACKING;
            if (holder->toll)
                return FORGE_TOLL_OUTERMOST;
            if (holder->persistent && holder->fused_above > 0)
                return FORGE_NOT_JOINABLE;
        }
    return FORGE_OK;
}

static uint32_t find_user(const struct joiner *j, uint32_t before, uint32_t id, uint32_t *tensor)
{
    for (uint32_t e = before; e-- > 0;)
        for (uint32_t t = 0; t < j->plans[e].path_count; t++)
            if (tensor_of(j, e, t)->id == id) {
                *tensor = t;
                return e;
            }
    return FORGE_NONE;
}

static bool add_pair(struct joiner *j, uint32_t a, uint32_t b, uint32_t einsum)
{
    if (j->join->pair_count == j->pairs_room) {
        size_t room = 2 * j->pairs_room + 64;
        void *grown = realloc(j->join->pairs, room * sizeof *j->join->pairs);
        if (grown == NULL)
            return false;
        j->join->pairs = grown;
        j->pairs_room = room;
    }
    j->join->pairs[j->join->pair_count++] = (struct forge_pair){a, b, einsum};
    return true;
}

/* Tensor A of Einsum E and tensor B of the later Einsum F are the same: so must be their loops. */
static enum forge_status match(struct joiner *j, uint32_t e, uint32_t a, uint32_t f, uint32_t b)
{
    const struct forge_holder *x = backing(j, e, a);
    const struct forge_holder *y = backing(j, f, b);
    if (level_of(j, e, x->level)->component != level_of(j, f, y->level)->component ||
        x->persistent != y->persistent || depth_of(x) != depth_of(y))
        return FORGE_NOT_JOINABLE;

    for (uint32_t l = 0; l < depth_of(x); l++) {
        const struct forge_loop *p = &j->plans[e].loops[l];
        const struct forge_loop *q = &j->plans[f].loops[l];
        if (p->spatial != q->spatial ||
            forge_rank_of(j->problem, tensor_of(j, e, a), p->variable) !=
                forge_rank_of(j->problem, tensor_of(j, f, b), q->variable))
            return FORGE_NOT_JOINABLE;
        if (!add_pair(j, j->loop_bases[e] + l, j->loop_bases[f] + l, f))
            return FORGE_OUT_OF_MEMORY;
    }
    return FORGE_OK;
}

static enum forge_status match_backings(struct joiner *j)
{
    for (uint32_t f = 1; f < j->problem->einsum_count; f++)
        for (uint32_t b = 0; b < j->plans[f].path_count; b++) {
            uint32_t id = tensor_of(j, f, b)->id;
            if (j->shared[id].first >= f)
                continue;
            uint32_t a = 0;
            uint32_t e = find_user(j, f, id, &a);
            enum forge_status status = match(j, e, a, f, b);
            if (status != FORGE_OK) {
                j->fault->einsum = f;
                j->fault->tensor = b;
                return status;
            }
        }
    return FORGE_OK;
}

/* --- loops in common --- */

/* The deepest outermost holder of tensors of Einsums FIRST to LAST that later ones, from AFTER on,
 * use. */
static uint32_t deepest(const struct joiner *j, uint32_t first, uint32_t last, uint32_t after)
{
    uint32_t depth = 0;
    for (uint32_t e = first; e <= last; e++)
        for (uint32_t t = 0; t < j->plans[e].path_count; t++) {
            uint32_t id = tensor_of(j, e, t)->id;
            if (j->shared[id].last < after || !is_fused(j, id))
                continue;
            uint32_t own = depth_of(backing(j, e, t));
            depth = own > depth ? own : depth;
        }
    return depth;
}

static enum forge_status find_common_loops(struct joiner *j)
{
    for (uint32_t k = 0; k + 1 < j->problem->einsum_count; k++) {
        j->common[k] = deepest(j, 0, k, k + 1);
        if (deepest(j, 0, k, k + 2) > deepest(j, k + 1, k + 1, k + 2)) {
            j->fault->einsum = k + 1;
            j->fault->tensor = FORGE_NONE;
            return FORGE_NOT_JOINABLE;
        }
    }
    return FORGE_OK;
}

/* --- what is alive --- */

/* True if Einsum E holds under reservation HOLDER a tensor that is in use before and after F. */
static bool spans(const struct joiner *j, uint32_t e, const struct forge_holder *holder, uint32_t f)
{
    for (uint32_t t = 0; t < j->plans[e].path_count; t++) {
        if (t != holder->tensor && !j->plans[e].copy)
            continue;
        const struct forge_holder *outer = backing(j, e, t);
        if (outer == NULL || outer->level != holder->level ||
            (t == holder->tensor && outer != holder))
            continue;
        const struct shared *shared = &j->shared[tensor_of(j, e, t)->id];
        if (shared->first <= f && f <= shared->last)
            return true;
    }
    return false;
}

static bool is_backing(const struct joiner *j, uint32_t e, const struct forge_holder *holder)
{
    return backing(j, e, holder->tensor) == holder;
}

static bool add_reservation(struct joiner *j, uint32_t number)
{
    struct forge_join *join = j->join;
    if (join->reservation_count == j->reservations_room) {
        size_t room = 2 * j->reservations_room + 64;
        if (room > MAX_RESERVATIONS)
            return false;
        void *grown = realloc(join->reservations, room * sizeof *join->reservations);
        if (grown == NULL)
            return false;
        join->reservations = grown;
        j->reservations_room = room;
    }
    join->reservations[join->reservation_count++] = number;
    return true;
}

/* Adds what Einsum E holds in COMPONENT while F runs; they share COMMON loops. */
static bool add_live(struct joiner *j, uint32_t component, uint32_t e, uint32_t f, uint32_t common)
{
    const struct forge_plan *plan = &j->plans[e];
    for (uint32_t s = 0; s < plan->shown_count; s++) {
        const struct forge_holder *holder = &plan->holders[plan->shown[s]];
        if (holder->toll || level_of(j, e, holder->level)->component != component)
            continue;
        if (e != f && !holder->persistent && holder->reserved_above >= common &&
            !spans(j, e, holder, f))
            continue;

        uint32_t id = tensor_of(j, e, holder->tensor)->id;
        if (is_backing(j, e, holder) && (is_fused(j, id) || plan->copy)) {
            uint32_t root = root_of(j, id);
            if (e != f && j->counted[root] == f)
                continue;
            j->counted[root] = f;
        }
        if (!add_reservation(j, j->holder_bases[e] + plan->shown[s]))
            return false;
    }
    return true;
}

static bool add_memory(struct joiner *j, uint32_t component)
{
    struct forge_memory *memory = &j->join->memories[j->join->memory_count];
    uint32_t count = j->join->einsum_count;
    memory->live = calloc(count, sizeof *memory->live);
    if (memory->live == NULL)
        return false;
    memory->component = component;
    j->join->memory_count++;

    for (uint32_t id = 0; id < j->problem->tensor_ids; id++)
        j->counted[id] = FORGE_NONE;
    for (uint32_t f = 0; f < count; f++) {
        memory->live[f].first = (uint32_t)j->join->reservation_count;
        if (!add_live(j, component, f, f, 0))
            return false;

        uint32_t common = FORGE_NONE;
        for (uint32_t e = f; e-- > 0;) {
            common = j->common[e] < common ? j->common[e] : common;
            if (!add_live(j, component, e, f, common))
                return false;
        }
        common = FORGE_NONE;
        for (uint32_t e = f + 1; e < count; e++) {
            common = j->common[e - 1] < common ? j->common[e - 1] : common;
            if (!add_live(j, component, e, f, common))
                return false;
        }
        memory->live[f].count = (uint32_t)j->join->reservation_count - memory->live[f].first;
    }
    return true;
}

static bool has_memory(const struct forge_join *join, uint32_t component)
{
    for (uint32_t m = 0; m < join->memory_count; m++)
        if (join->memories[m].component == component)
            return true;
    return false;
}

/* The memories in the order in which Einsums name them. */
static enum forge_status add_memories(struct joiner *j)
{
    j->join->memories = calloc(j->problem->component_count, sizeof *j->join->memories);
    if (j->join->memories == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t e = 0; e < j->join->einsum_count; e++)
        for (uint32_t level = 0; level < j->problem->einsums[e].levels.count; level++) {
            bool held = false;
            for (uint32_t h = 0; h < j->plans[e].holder_count; h++)
                held = held || j->plans[e].holders[h].level == level;
            const struct forge_level *record = level_of(j, e, level);
            if (!held || record->kind != FORGE_MEMORY || has_memory(j->join, record->component))
                continue;
            if (!add_memory(j, record->component))
                return FORGE_OUT_OF_MEMORY;
        }
    return FORGE_OK;
}

/* --- the join --- */

static enum forge_status build(struct joiner *j)
{
    size_t ids = j->problem->tensor_ids > 0 ? j->problem->tensor_ids : 1;
    j->shared = calloc(ids, sizeof *j->shared);
    j->counted = calloc(ids, sizeof *j->counted);
    j->common = calloc(j->problem->einsum_count, sizeof *j->common);
    if (j->shared == NULL || j->counted == NULL || j->common == NULL)
        return FORGE_OUT_OF_MEMORY;

    note_users(j);
    note_copies(j);
    enum forge_status status = check_backings(j);
    if (status == FORGE_OK)
        status = match_backings(j);
    if (status == FORGE_OK)
        status = find_common_loops(j);
    if (status != FORGE_OK)
        return status;

    j->fault->einsum = FORGE_NONE;
    j->fault->tensor = FORGE_NONE;
    return add_memories(j);
}

enum forge_status forge_join_build(struct forge_join *join, const struct forge_problem *problem,
                                   const struct forge_plan *plans, const uint32_t *holder_bases,
                                   const uint32_t *loop_bases, struct forge_fault *fault)
{
    memset(join, 0, sizeof *join);
    join->einsum_count = (uint32_t)problem->einsum_count;
    struct joiner j = {
        .join = join,
        .problem = problem,
        .plans = plans,
        .holder_bases = holder_bases,
        .loop_bases = loop_bases,
        .fault = fault,
    };

    enum forge_status status = build(&j);
    free(j.shared);
    free(j.counted);
    free(j.common);
    fault->status = status;
    return status;
}

void forge_join_clear(struct forge_join *join)
{
    for (uint32_t m = 0; m < join->memory_count; m++)
        free(join->memories[m].live);
    free(join->memories);
    free(join->reservations);
    free(join->pairs);
    memset(join, 0, sizeof *join);
}

double forge_join_peak(const struct forge_join *join, const struct forge_memory *memory,
                       const double *shares, uint32_t *einsum)
{
    double peak = 0;
    *einsum = 0;
    for (uint32_t e = 0; e < join->einsum_count; e++) {
        struct forge_span live = memory->live[e];
        double sum = 0;
        for (uint32_t i = 0; i < live.count; i++)
            sum += shares[join->reservations[live.first + i]];
        if (sum > peak) {
            peak = sum;
            *einsum = e;
        }
    }
    return peak;
}
