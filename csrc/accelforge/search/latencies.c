/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/latencies.h"

#include <math.h>

/* --- maxima of sums --- */

/* A number, or the largest of some polynomials. */
struct term {
    double constant;
    struct forge_polynomial pieces[FORGE_MAX_PIECES];
    uint32_t count; /* 0: a number */
};

struct reading {
    struct forge_ring *ring;
    const struct forge_problem *problem;
    const struct forge_level *level;
    const struct forge_polynomial *calls;
    struct term *stack;
    uint32_t depth;
};

static struct forge_polynomial sum_of(struct reading *r, const struct forge_polynomial *a,
                                      const struct forge_polynomial *b)
{
    struct forge_polynomial sum = {NULL, NULL, 0, 0};
    forge_polynomial_add(r->ring, &sum, a, NULL, 1);
    forge_polynomial_add(r->ring, &sum, b, NULL, 1);
    return sum;
}

static void make_pieces(struct reading *r, struct term *term)
{
    if (term->count > 0)
        return;
    term->pieces[0] = forge_polynomial_of(r->ring, term->constant);
    term->count = 1;
}

static bool add(struct reading *r, struct term *a, struct term *b)
{
    if (a->count == 0 && b->count == 0) {
        a->constant += b->constant;
        return true;
    }
    make_pieces(r, a);
    make_pieces(r, b);
    if (a->count * b->count > FORGE_MAX_PIECES)
        return false;
    struct term sum = {.count = 0};
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            sum.pieces[sum.count++] = sum_of(r, &a->pieces[i], &b->pieces[j]);
    *a = sum;
    return true;
}

static bool maximum(struct reading *r, struct term *a, struct term *b)
{
    if (a->count == 0 && b->count == 0) {
        a->constant = fmax(a->constant, b->constant);
        return true;
    }
    make_pieces(r, a);
    make_pieces(r, b);
    if (a->count + b->count > FORGE_MAX_PIECES)
        return false;
    for (uint32_t j = 0; j < b->count; j++)
        a->pieces[a->count++] = b->pieces[j];
    return true;
}

static bool multiply(struct reading *r, struct term *a, double factor)
{
    if (!(factor >= 0) || isinf(factor))
        return false;
    a->constant *= factor;
    for (uint32_t i = 0; i < a->count; i++) {
        struct forge_polynomial scaled = {NULL, NULL, 0, 0};
        forge_polynomial_add(r->ring, &scaled, &a->pieces[i], NULL, factor);
        a->pieces[i] = scaled;
    }
    return true;
}

static bool apply(struct reading *r, enum forge_word word)
{
    struct term *a = &r->stack[r->depth - 2];
    struct term *b = &r->stack[r->depth - 1];
    bool known = true;
    switch (word) {
    case FORGE_WORD_ADD: known = add(r, a, b); break;
    case FORGE_WORD_MAXIMUM: known = maximum(r, a, b); break;
    case FORGE_WORD_MULTIPLY:
        if (b->count > 0) {
            struct term swapped = *a;
            *a = *b;
            *b = swapped;
        }
        known = b->count == 0 && multiply(r, a, b->constant);
        break;
    case FORGE_WORD_DIVIDE: known = b->count == 0 && multiply(r, a, 1 / b->constant); break;
    default: known = false;
    }
    r->depth--;
    return known;
}

static bool push(struct reading *r, const struct forge_token *token)
{
    struct term *term = &r->stack[r->depth++];
    const struct forge_action *actions = &r->problem->actions[r->level->actions.first];
    term->count = 0;
    term->constant = 0;
    switch ((enum forge_word)token->word) {
    case FORGE_WORD_NUMBER: term->constant = r->problem->values[token->argument]; return true;
    case FORGE_WORD_CALLS:
        term->pieces[0] = r->calls[token->argument];
        term->count = 1;
        return true;
    case FORGE_WORD_THROUGHPUT:
        term->constant = r->problem->values[actions[token->argument].throughput];
        return true;
    case FORGE_WORD_ENERGY:
        term->constant = r->problem->values[actions[token->argument].energy];
        return true;
    default: return false;
    }
}

static bool read_pieces(struct reading *r)
{
    for (uint32_t i = 0; i < r->level->formula.count; i++) {
        const struct forge_token *token = &r->problem->tokens[r->level->formula.first + i];
        bool known = token->word <= FORGE_WORD_ENERGY ? push(r, token)
                                                      : token->word <= FORGE_WORD_MODULO &&
                                                            apply(r, (enum forge_word)token->word);
        if (!known || r->ring->failed)
            return false;
    }
    make_pieces(r, &r->stack[0]);
    return true;
}

/* --- does it grow? --- */

/* Traits of a value: whether it grows with the calls, and is never negative. */
struct trait {
    bool constant;
    bool grows;
    bool positive;
    double value;
};

static struct trait combine(enum forge_word word, const struct trait *a, const struct trait *b)
{
    struct trait result = {false, false, false, 0};
    bool grow = a->grows && b->grows;
    bool positive = a->positive && b->positive;
    switch (word) {
    case FORGE_WORD_ADD:
    case FORGE_WORD_MINIMUM:
    case FORGE_WORD_MAXIMUM: result.grows = grow; break;
    case FORGE_WORD_SUBTRACT:
        result.grows = a->grows && b->constant;
        positive = false;
        break;
    case FORGE_WORD_MULTIPLY: result.grows = grow && positive; break;
    case FORGE_WORD_DIVIDE:
    case FORGE_WORD_FLOOR_DIVIDE: result.grows = a->grows && b->constant && b->value > 0; break;
    case FORGE_WORD_POWER:
        result.grows = a->grows && a->positive && b->constant && b->value >= 0;
        break;
    default: break;
    }
    result.positive = result.grows && positive;
    return result;
}

static struct trait change(enum forge_word word, const struct trait *a)
{
    struct trait result = *a;
    result.constant = false;
    bool keeps = word == FORGE_WORD_CEIL || word == FORGE_WORD_FLOOR || word == FORGE_WORD_SQRT ||
                 word == FORGE_WORD_EXP || (word == FORGE_WORD_ABS && a->positive) ||
                 word == FORGE_WORD_LOG;
    result.grows = a->grows && keeps;
    result.positive = result.grows && a->positive && word != FORGE_WORD_LOG;
    return result;
}

/* Constants are traits of what they are; combined ones only grow, which is enough. */
static bool formula_grows(const struct forge_problem *problem, const struct forge_level *level)
{
    struct trait stack[FORGE_MAX_STACK + 1];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < level->formula.count; i++) {
        const struct forge_token *token = &problem->tokens[level->formula.first + i];
        enum forge_word word = (enum forge_word)token->word;
        if (word <= FORGE_WORD_ENERGY) {
            struct trait trait = {word != FORGE_WORD_CALLS, true, true, 1};
            if (word == FORGE_WORD_NUMBER) {
                trait.value = problem->values[token->argument];
                trait.positive = trait.value >= 0;
            }
            stack[depth++] = trait;
        } else if (word <= FORGE_WORD_MODULO) {
            depth--;
            stack[depth - 1] = combine(word, &stack[depth - 1], &stack[depth]);
        } else {
            stack[depth - 1] = change(word, &stack[depth - 1]);
        }
    }
    return stack[0].grows;
}

/* --- a latency --- */

static void sum_actions(struct forge_latency *latency, struct forge_ring *ring,
                        const struct forge_problem *problem, const struct forge_level *level,
                        const struct forge_polynomial *calls)
{
    latency->pieces[0] = (struct forge_polynomial){NULL, NULL, 0, 0};
    latency->piece_count = 1;
    for (uint32_t a = 0; a < level->actions.count; a++)
        forge_polynomial_add(
            ring, &latency->pieces[0], &calls[a], NULL,
            1 / problem->values[problem->actions[level->actions.first + a].throughput]);
}

void forge_latency_make(struct forge_latency *latency, struct forge_ring *ring,
                        const struct forge_problem *problem, const struct forge_level *level,
                        const struct forge_polynomial *calls)
{
    latency->piece_count = 0;
    latency->opaque = false;
    latency->grows = true;
    if (level->formula.count == 0) {
        sum_actions(latency, ring, problem, level, calls);
        return;
    }

    struct reading r = {.ring = ring, .problem = problem, .level = level, .calls = calls};
    r.stack = forge_arena_take(ring->arena, FORGE_MAX_STACK + 1, sizeof *r.stack);
    if (r.stack == NULL) {
        ring->failed = true;
        return;
    }
    if (!read_pieces(&r)) {
        latency->opaque = true;
        latency->grows = formula_grows(problem, level);
        return;
    }
    latency->piece_count = r.stack[0].count;
    for (uint32_t p = 0; p < latency->piece_count; p++)
        latency->pieces[p] = r.stack[0].pieces[p];
}
