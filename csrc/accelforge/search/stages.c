/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A term of a goal. */
struct part {
    uint32_t goal;
    double coefficient;
    const int16_t *exponents;
    uint32_t alike; /* symbols from the outermost inwards that the part before has too */
};

struct staging {
    struct forge_stages *stages;
    const struct forge_goals *goals;
    struct forge_arena *arena;
    uint32_t variable_count;
    struct part *parts;
    uint32_t part_count;
    uint32_t *group_of; /* by part, at the stage that is made */
    uint32_t *firsts;   /* by group, at that stage: its first part */
    int16_t *ratio;     /* exponents */
};

static int16_t rounded_of(const struct forge_goals *goals, const int16_t *exponents,
                          uint32_t symbol)
{
    uint32_t place = goals->symbols[symbol].rounded;
    return place == FORGE_NONE ? 0 : exponents[place];
}

/* --- parts --- */

/* By goal, then by their powers of symbols from the outermost inwards. */
static int compare_parts(const void *a, const void *b, void *argument)
{
    const struct forge_goals *goals = argument;
    const struct part *x = a;
    const struct part *y = b;
    if (x->goal != y->goal)
        return x->goal < y->goal ? -1 : 1;
    for (uint32_t s = goals->symbol_count; s-- > 0;) {
        int difference = x->exponents[s] - y->exponents[s];
        if (difference == 0)
            difference = rounded_of(goals, x->exponents, s) - rounded_of(goals, y->exponents, s);
        if (difference != 0)
            return difference;
    }
    return 0;
}

static uint32_t count_alike(const struct forge_goals *goals, const struct part *a,
                            const struct part *b)
{
    uint32_t alike = 0;
    if (a->goal != b->goal)
        return 0;
    for (uint32_t s = goals->symbol_count; s-- > 0; alike++)
        if (a->exponents[s] != b->exponents[s] ||
            rounded_of(goals, a->exponents, s) != rounded_of(goals, b->exponents, s))
            break;
    return alike;
}

static bool make_parts(struct staging *s)
{
    const struct forge_goals *goals = s->goals;
    size_t count = 0;
    for (uint32_t g = 0; g < goals->count; g++)
        count += goals->list[g].polynomial.count;
    s->parts = forge_arena_take(s->arena, count, sizeof *s->parts);
    s->group_of = forge_arena_take(s->arena, count, sizeof *s->group_of);
    s->firsts = forge_arena_take(s->arena, count, sizeof *s->firsts);
    s->ratio = forge_arena_take(s->arena, goals->ring.symbol_count, sizeof *s->ratio);
    if (s->parts == NULL || s->group_of == NULL || s->firsts == NULL || s->ratio == NULL)
        return false;

    for (uint32_t g = 0; g < goals->count; g++) {
        const struct forge_polynomial *polynomial = &goals->list[g].polynomial;
        for (uint32_t i = 0; i < polynomial->count; i++)
            s->parts[s->part_count++] = (struct part){
                .goal = g,
                .coefficient = polynomial->coefficients[i],
                .exponents = &polynomial->exponents[(size_t)i * goals->ring.symbol_count],
            };
    }
    qsort_r(s->parts, s->part_count, sizeof *s->parts, compare_parts, (void *)(uintptr_t)goals);
    for (uint32_t i = 1; i < s->part_count; i++)
        s->parts[i].alike = count_alike(goals, &s->parts[i - 1], &s->parts[i]);
    return true;
}

/* --- bounds of unknown parts --- */

static bool add_factor(struct staging *s, struct forge_unknown *unknown, uint32_t variable,
                       int32_t power)
{
    struct forge_stages *stages = s->stages;
    if (power == 0)
        return true;
    if (stages->factor_count == stages->factor_room) {
        size_t room = 2 * stages->factor_room + 32;
        struct forge_bound_factor *factors = forge_arena_take(s->arena, room, sizeof *factors);
        if (factors == NULL)
            return false;
        if (stages->factor_count > 0)
            memcpy(factors, stages->factors, stages->factor_count * sizeof *factors);
        stages->factors = factors;
        stages->factor_room = room;
    }
    stages->factors[stages->factor_count++] = (struct forge_bound_factor){variable, power};
    unknown->factors.count++;
    return true;
}

/*
 * Tiles of a variable rise from that which was chosen last to its bound. So their product of
 * powers is least, or largest, where some are as small and the others as large as they can be.
 */
static bool bound_variable(struct staging *s, struct forge_unknown *unknown,
                           const int16_t *exponents, uint32_t k, uint32_t variable, bool largest,
                           bool grows)
{
    const struct forge_goals *goals = s->goals;
    int32_t all = 0;
    int32_t outer = 0; /* powers from a symbol outwards */
    int32_t best = 0;
    double bound = 1;
    for (uint32_t i = goals->symbol_count; i-- > k;) {
        const struct forge_symbol *symbol = &goals->symbols[i];
        if (symbol->variable != variable)
            continue;
        int32_t power = exponents[i];
        bound = symbol->bound;
        /* ceil(b / t) is at least b / t, and at most twice that. */
        int32_t rounded = rounded_of(goals, exponents, i);
        power -= rounded;
        unknown->constant *= pow(largest && rounded > 0 ? 2 * bound : bound, rounded);
        all += power;
        outer += power;
        if (largest ? outer > best : outer < best)
            best = outer;
    }
    if (grows)
        best = 0;
    unknown->constant *= pow(bound, best);
    return add_factor(s, unknown, variable, all - best);
}

static bool bound_group(struct staging *s, struct forge_unknown *unknown, const int16_t *exponents,
                        uint32_t k, bool largest, bool grows)
{
    unknown->constant = 1;
    unknown->factors.first = s->stages->factor_count;
    unknown->factors.count = 0;
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (!bound_variable(s, unknown, exponents, k, v, largest, grows))
            return false;
    return true;
}

/* --- what is subtracted --- */

/* How different the exponents of parts are, which are left in s->ratio. */
static uint32_t compare_exponents(struct staging *s, const struct part *a, const struct part *b)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < s->goals->ring.symbol_count; i++) {
        s->ratio[i] = (int16_t)(a->exponents[i] - b->exponents[i]);
        distance += (uint32_t)abs(s->ratio[i]);
    }
    return distance;
}

/* Finds the group that a part is most likely to be subtracted from: what is written less often
 * than it is read, for example. */
static uint32_t find_above(struct staging *s, const struct forge_stage *stage,
                           const struct part *part)
{
    const struct forge_span *groups = &stage->goals[part->goal].groups;
    uint32_t nearest = UINT32_MAX;
    uint32_t above = FORGE_NONE;
    for (uint32_t g = groups->first; g < groups->first + groups->count; g++) {
        const struct part *other = &s->parts[s->firsts[g]];
        uint32_t distance = compare_exponents(s, part, other);
        if (other->coefficient > 0 && distance < nearest) {
            nearest = distance;
            above = g;
        }
    }
    return above;
}

static bool find_all_above(struct staging *s, struct forge_stage *stage, uint32_t k)
{
    for (uint32_t i = 0; i < stage->group_count; i++) {
        struct forge_group *group = &stage->groups[i];
        const struct part *part = &s->parts[s->firsts[i]];
        group->above = FORGE_NONE;
        if (part->coefficient >= 0 || s->goals->list[group->goal].grows)
            continue;
        group->above = find_above(s, stage, part);
        if (group->above == FORGE_NONE)
            continue;
        stage->goals[group->goal].differs = true;
        compare_exponents(s, part, &s->parts[s->firsts[group->above]]);
        if (!bound_group(s, &group->ratio, s->ratio, k, true, false))
            return false;
    }
    return true;
}

/* --- groups --- */

/* The symbols below K with a power in PART. */
static uint64_t known_symbols(const struct forge_goals *goals, const struct part *part, uint32_t k)
{
    uint64_t known = 0;
    for (uint32_t s = 0; s < k; s++)
        if (part->exponents[s] != 0 || rounded_of(goals, part->exponents, s) != 0)
            known |= UINT64_C(1) << s;
    return known;
}

static bool has_unknown(const struct forge_goals *goals, const struct part *part, uint32_t k)
{
    for (uint32_t s = k; s < goals->symbol_count; s++)
        if (part->exponents[s] != 0 || rounded_of(goals, part->exponents, s) != 0)
            return true;
    return false;
}

/* True if the choice of symbol K - 1 changes the bounds of PART. */
static bool is_touched(const struct forge_goals *goals, const struct part *part, uint32_t k)
{
    if (k == 0)
        return true;
    uint32_t variable = goals->symbols[k - 1].variable;
    for (uint32_t s = k - 1; s < goals->symbol_count; s++)
        if (goals->symbols[s].variable == variable &&
            (part->exponents[s] != 0 || rounded_of(goals, part->exponents, s) != 0))
            return true;
    return false;
}

static bool make_groups(struct staging *s, struct forge_stage *stage, uint32_t k)
{
    const struct forge_goals *goals = s->goals;
    stage->groups = forge_arena_take(s->arena, s->part_count, sizeof *stage->groups);
    stage->goals = forge_arena_take(s->arena, goals->count, sizeof *stage->goals);
    if (stage->groups == NULL || stage->goals == NULL)
        return false;
    for (uint32_t g = 0; g < goals->count; g++)
        stage->goals[g].complete = true;

    for (uint32_t i = 0; i < s->part_count; i++) {
        const struct part *part = &s->parts[i];
        bool first =
            i == 0 || part->goal != s->parts[i - 1].goal || part->alike < goals->symbol_count - k;
        struct forge_stage_goal *goal = &stage->goals[part->goal];
        if (first) {
            s->firsts[stage->group_count] = i;
            struct forge_group *group = &stage->groups[stage->group_count];
            group->goal = part->goal;
            if (!bound_group(s, &group->least, part->exponents, k, false,
                             goals->list[part->goal].grows) ||
                !bound_group(s, &group->most, part->exponents, k, true,
                             goals->list[part->goal].grows))
                return false;
            if (k < goals->symbol_count) {
                group->power = part->exponents[k];
                group->rounded = rounded_of(goals, part->exponents, k);
            }
            if (goal->groups.count++ == 0)
                goal->groups.first = stage->group_count;
            if (has_unknown(goals, part, k))
                goal->complete = false;
            stage->group_count++;
        }
        goal->touched = goal->touched || is_touched(goals, part, k);
        s->group_of[i] = stage->group_count - 1;
    }
    if (stage->group_count > s->stages->most_groups)
        s->stages->most_groups = stage->group_count;
    return find_all_above(s, stage, k);
}

/* --- criteria --- */

static uint64_t keys_of(const struct forge_goals *goals, uint32_t k)
{
    uint64_t keys = 0;
    for (uint32_t s = 0; s < k; s++) {
        const struct forge_symbol *symbol = &goals->symbols[s];
        if (symbol->fused || (symbol->outer != FORGE_NONE && symbol->outer >= k))
            keys |= UINT64_C(1) << s;
    }
    return keys;
}

/* Hash of what one term is compared by: powers of known symbols that may differ. */
static uint64_t hash_part(const struct forge_goals *goals, const struct part *part, uint32_t k,
                          uint64_t keys)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t s = 0; s < k; s++) {
        if ((keys >> s & 1) != 0)
            continue;
        uint64_t word = (uint64_t)(uint16_t)part->exponents[s] << 16 |
                        (uint64_t)(uint16_t)rounded_of(goals, part->exponents, s);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool compares_alike(const struct forge_goals *goals, const struct part *a,
                           const struct part *b, uint32_t k, uint64_t keys)
{
    for (uint32_t s = 0; s < k; s++)
        if ((keys >> s & 1) == 0 &&
            (a->exponents[s] != b->exponents[s] ||
             rounded_of(goals, a->exponents, s) != rounded_of(goals, b->exponents, s)))
            return false;
    return true;
}

/* A criterion that is one term. */
struct single {
    uint64_t hash;
    const struct part *part;
};

struct choosing {
    struct staging *s;
    struct forge_stage *stage;
    const struct forge_stage *before; /* NULL at stage 0 */
    uint32_t k;
    struct single *singles;
    uint32_t single_count;
};

static bool is_single(const struct choosing *c, const struct part *part)
{
    uint64_t hash = hash_part(c->s->goals, part, c->k, c->stage->keys);
    for (uint32_t i = 0; i < c->single_count; i++)
        if (c->singles[i].hash == hash &&
            compares_alike(c->s->goals, c->singles[i].part, part, c->k, c->stage->keys))
            return true;
    return false;
}

/* The parts of a group are a range that starts at FIRST. */
static uint32_t end_of_group(const struct staging *s, uint32_t first)
{
    uint32_t end = first;
    while (end < s->part_count && s->group_of[end] == s->group_of[first])
        end++;
    return end;
}

static void add_criterion(struct forge_stage *stage, uint32_t group, bool negative)
{
    stage->criteria[stage->criterion_count++] = (struct forge_criterion){group, negative};
}

/* True if a group's value can differ between choices that are compared. */
static bool varies(const struct choosing *c, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if ((known_symbols(c->s->goals, &c->s->parts[i], c->k) & ~c->stage->keys) != 0)
            return true;
    return false;
}

static bool is_sum_of_singles(const struct choosing *c, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct part *part = &c->s->parts[i];
        bool constant = (known_symbols(c->s->goals, part, c->k) & ~c->stage->keys) == 0;
        if (!constant && (part->coefficient < 0 || !is_single(c, part)))
            return false;
    }
    return true;
}

/* Groups of one positive term first, each once; then others, if these do not imply them. */
static void choose(struct choosing *c, bool single)
{
    const struct staging *s = c->s;
    for (uint32_t first = 0; first < s->part_count;) {
        uint32_t end = end_of_group(s, first);
        const struct part *part = &s->parts[first];
        const struct forge_goal *goal = &s->goals->list[part->goal];
        const struct forge_stage_goal *state = &c->stage->goals[part->goal];
        bool plain = end - first == 1 && part->coefficient > 0 && goal->small && !goal->large;
        uint32_t group = s->group_of[first];

        /* Rows that use a fan-out most are chosen once all of its loops are known. */
        bool passed = goal->passes && (goal->purpose != FORGE_FOR_USAGE || c->before == NULL ||
                                       c->before->goals[part->goal].complete);
        bool done = state->complete && (passed || goal->purpose == FORGE_FOR_LATENCY);
        if (state->complete && goal->purpose == FORGE_FOR_LATENCY)
            c->stage->latency = true;
        if (!done && plain == single && varies(c, first, end)) {
            if (plain && !is_single(c, part)) {
                c->singles[c->single_count++] =
                    (struct single){hash_part(s->goals, part, c->k, c->stage->keys), part};
                add_criterion(c->stage, group, false);
            } else if (!plain) {
                if (goal->small && (goal->large || !is_sum_of_singles(c, first, end)))
                    add_criterion(c->stage, group, false);
                if (goal->large)
                    add_criterion(c->stage, group, true);
            }
        }
        first = end;
    }
}

static bool choose_criteria(struct staging *s, struct forge_stage *stage, uint32_t k)
{
    struct choosing c = {
        .s = s,
        .stage = stage,
        .before = k > 0 ? stage - 1 : NULL,
        .k = k,
        .singles = forge_arena_take(s->arena, stage->group_count, sizeof *c.singles),
    };
    stage->keys = keys_of(s->goals, k);
    stage->criteria =
        forge_arena_take(s->arena, 2 * (size_t)stage->group_count, sizeof *stage->criteria);
    if (c.singles == NULL || stage->criteria == NULL)
        return false;
    choose(&c, true);
    choose(&c, false);
    return true;
}

/* --- stages --- */

static bool note_last(struct staging *s, struct forge_stage *stage, uint32_t k)
{
    stage->last = forge_arena_take(s->arena, s->variable_count, sizeof *stage->last);
    if (stage->last == NULL)
        return false;
    for (uint32_t v = 0; v < s->variable_count; v++)
        stage->last[v] = FORGE_NONE;
    for (uint32_t i = 0; i < k; i++)
        stage->last[s->goals->symbols[i].variable] = i;
    return true;
}

static bool powers_fit(const struct forge_goals *goals)
{
    for (uint32_t g = 0; g < goals->count; g++) {
        const struct forge_polynomial *polynomial = &goals->list[g].polynomial;
        size_t numbers = (size_t)polynomial->count * goals->ring.symbol_count;
        for (size_t i = 0; i < numbers; i++)
            if (polynomial->exponents[i] > FORGE_MOST_POWER ||
                polynomial->exponents[i] < -FORGE_MOST_POWER)
                return false;
    }
    return true;
}

enum forge_status forge_stages_make(struct forge_stages *stages, struct forge_arena *arena,
                                    const struct forge_goals *goals, uint32_t variable_count)
{
    memset(stages, 0, sizeof *stages);
    stages->goals = goals;
    if (!powers_fit(goals))
        return FORGE_TOO_LARGE;
    struct staging s = {
        .stages = stages, .goals = goals, .arena = arena, .variable_count = variable_count};
    stages->list = forge_arena_take(arena, (size_t)goals->symbol_count + 1, sizeof *stages->list);
    if (stages->list == NULL || !make_parts(&s))
        return FORGE_OUT_OF_MEMORY;
    uint32_t *before = forge_arena_take(arena, s.part_count, sizeof *before);
    stages->first = forge_arena_take(arena, s.part_count, sizeof *stages->first);
    if (before == NULL || stages->first == NULL)
        return FORGE_OUT_OF_MEMORY;

    for (uint32_t k = 0; k <= goals->symbol_count; k++) {
        struct forge_stage *stage = &stages->list[k];
        if (!make_groups(&s, stage, k) || !choose_criteria(&s, stage, k) ||
            !note_last(&s, stage, k))
            return FORGE_OUT_OF_MEMORY;
        for (uint32_t i = 0; i < s.part_count; i++) {
            if (k == 0)
                stages->first[s.group_of[i]] += s.parts[i].coefficient;
            else
                stages->list[k - 1].groups[before[i]].next = s.group_of[i];
        }
        if (s.part_count > 0)
            memcpy(before, s.group_of, s.part_count * sizeof *before);
    }
    return FORGE_OK;
}
