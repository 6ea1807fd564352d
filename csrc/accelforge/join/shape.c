/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/shape.h"

#include <stdlib.h>
#include <string.h>

/* Ways in which loops can be paired up that are looked at for one shape and one piece. */
#define MAX_WAYS 50000

/* --- lists of shapes --- */

static uint64_t hash_shape(const struct fuse_shape *shape)
{
    uint64_t hash = fuse_mix(shape->loop_count);
    for (uint32_t l = 0; l < shape->loop_count; l++)
        hash = fuse_mix(hash ^ shape->kinds[l]) ^ shape->before[l];
    for (uint32_t i = 0; i < shape->live_count; i++) {
        const struct fuse_live *live = &shape->lives[i];
        hash = fuse_mix(hash ^ live->memory) ^ live->above;
        hash = fuse_mix(hash ^ live->depth) ^ live->persistent;
        for (uint32_t l = 0; l < shape->loop_count; l++)
            hash = fuse_mix(hash ^ live->ranks[l]);
    }
    return hash;
}

static bool same(const struct fuse_shape *a, const struct fuse_shape *b)
{
    return a->loop_count == b->loop_count && a->live_count == b->live_count &&
           memcmp(a->kinds, b->kinds, sizeof(a->kinds)) == 0 &&
           memcmp(a->before, b->before, sizeof(a->before)) == 0 &&
           (a->live_count == 0 ||
            memcmp(a->lives, b->lives, a->live_count * sizeof *a->lives) == 0);
}

static bool append(struct fuse_shapes *shapes, const struct fuse_shape *shape)
{
    if (!fuse_reserve(&shapes->shapes, &shapes->room, (size_t)shapes->count + 1,
                      sizeof *shapes->shapes) ||
        !fuse_reserve(&shapes->nexts, &shapes->nexts_room, (size_t)shapes->count + 1,
                      sizeof *shapes->nexts))
        return false;

    struct fuse_shape *copy = &shapes->shapes[shapes->count];
    *copy = *shape;
    copy->lives = NULL;
    if (shape->live_count > 0) {
        copy->lives = malloc(shape->live_count * sizeof *copy->lives);
        if (copy->lives == NULL)
            return false;
        memcpy(copy->lives, shape->lives, shape->live_count * sizeof *copy->lives);
    }
    shapes->count++;
    return true;
}

/* The number of a shape, or FUSE_NONE if memory runs out. */
static uint32_t intern(struct fuse_shapes *shapes, const struct fuse_shape *shape)
{
    uint32_t known = shapes->hashes.count;
    uint32_t hash = fuse_map_add(&shapes->hashes, hash_shape(shape));
    if (hash == FUSE_NONE || !fuse_reserve(&shapes->firsts, &shapes->firsts_room, (size_t)hash + 1,
                                           sizeof *shapes->firsts))
        return FUSE_NONE;
    if (hash == known)
        shapes->firsts[hash] = FUSE_NONE;

    uint32_t i = shapes->firsts[hash];
    while (i != FUSE_NONE && !same(&shapes->shapes[i], shape))
        i = shapes->nexts[i];
    if (i != FUSE_NONE)
        return i;

    if (!append(shapes, shape))
        return FUSE_NONE;
    i = shapes->count - 1;
    shapes->nexts[i] = shapes->firsts[hash];
    shapes->firsts[hash] = i;
    return i;
}

bool fuse_shapes_start(struct fuse_shapes *shapes)
{
    struct fuse_shape nothing = {0};
    return intern(shapes, &nothing) != FUSE_NONE;
}

void fuse_shapes_clear(struct fuse_shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->count; i++)
        free(shapes->shapes[i].lives);
    free(shapes->shapes);
    fuse_map_clear(&shapes->hashes);
    free(shapes->firsts);
    free(shapes->nexts);
    memset(shapes, 0, sizeof *shapes);
}

uint64_t fuse_shape_key(const struct fuse_shape *shape, uint32_t i, const uint32_t *laps)
{
    const struct fuse_live *live = &shape->lives[i];
    uint64_t key = fuse_mix(live->memory) + (live->persistent ? 1 : 0);
    for (uint32_t l = 0; l < shape->loop_count; l++)
        if (live->above >> l & 1) {
            uint64_t loop = fuse_mix(live->ranks[l]);
            loop = fuse_mix(loop ^ shape->kinds[l]);
            key += fuse_mix(loop ^ laps[l]);
        }
    return key;
}

/* --- matching --- */

/* A piece being matched with a shape. */
struct matcher {
    const struct fuse_pieces *pieces;
    const struct fuse_shape *left;
    const struct fuse_piece *piece;
    const uint32_t *lives;
    uint32_t live_count;
    struct fuse_shapes *to;
    struct fuse_matches *matches;
    struct fuse_match match;
    uint32_t ways;
    uint32_t partner[FUSE_MAX_LIVE]; /* live tensor of the left -> of the piece, or FUSE_NONE */
};

static uint32_t bit(uint32_t i)
{
    return UINT32_C(1) << i;
}

static uint32_t find_shared(const struct fuse_piece *piece, uint32_t tensor)
{
    for (uint32_t s = 0; s < piece->shared_count; s++)
        if (piece->shared[s].tensor == tensor)
            return s;
    return FUSE_NONE;
}

static bool stays(const struct matcher *m, uint32_t tensor)
{
    return m->pieces->tensors[tensor].last > m->piece->einsum;
}

/* Pairs up the tensors. */
static bool pair_tensors(struct matcher *m)
{
    uint32_t deepest = 0;
    for (uint32_t s = 0; s < m->piece->shared_count; s++)
        if (stays(m, m->piece->shared[s].tensor) && m->piece->shared[s].depth > deepest)
            deepest = m->piece->shared[s].depth;

    for (uint32_t i = 0; i < m->left->live_count; i++) {
        const struct fuse_live *live = &m->left->lives[i];
        uint32_t s = find_shared(m->piece, live->tensor);
        m->partner[i] = s;
        if (s == FUSE_NONE) {
            /* Later Einsums need these loops, and this one is in between. */
            if (live->depth > deepest)
                return false;
            continue;
        }
        const struct fuse_shared *shared = &m->piece->shared[s];
        if (shared->memory != live->memory || shared->depth != live->depth ||
            shared->persistent != (live->persistent != 0))
            return false;
    }
    return m->left->loop_count <= m->piece->loop_count;
}

/* True if loop L of the shape can be loop P of the piece. */
static bool fits(const struct matcher *m, uint32_t l, uint32_t p)
{
    if (m->left->kinds[l] != m->piece->loops[p].kind)
        return false;
    for (uint32_t i = 0; i < m->left->live_count; i++) {
        if (m->partner[i] == FUSE_NONE)
            continue;
        const struct fuse_live *live = &m->left->lives[i];
        const struct fuse_shared *shared = &m->piece->shared[m->partner[i]];
        uint32_t above = live->above >> l & 1;
        if (above != (shared->above >> p & 1))
            return false;
        if (above != 0 && live->ranks[l] != shared->ranks[m->piece->loops[p].variable])
            return false;
    }
    return true;
}

/* The set of the piece's loops that a set of the shape's loops is. */
static uint32_t translate(const struct matcher *m, uint32_t set)
{
    uint32_t translated = 0;
    for (uint32_t l = 0; l < m->left->loop_count; l++)
        if (set >> l & 1)
            translated |= bit(m->match.in[l]);
    return translated;
}

/* Combines both orders of the loops into BEFORE; false if they contradict each other. */
static bool order_loops(const struct matcher *m, uint32_t *before)
{
    uint32_t n = m->piece->loop_count;
    uint32_t shared =
        translate(m, m->left->loop_count == 0 ? 0 : UINT32_MAX >> (32 - m->left->loop_count));
    for (uint32_t p = 0; p < n; p++)
        before[p] = m->piece->before[p] | (shared >> p & 1 ? 0 : shared);
    for (uint32_t l = 0; l < m->left->loop_count; l++)
        before[m->match.in[l]] |= translate(m, m->left->before[l]);

    for (uint32_t middle = 0; middle < n; middle++)
        for (uint32_t p = 0; p < n; p++)
            if (before[p] >> middle & 1)
                before[p] |= before[middle];
    for (uint32_t p = 0; p < n; p++)
        if (before[p] >> p & 1)
            return false;
    return true;
}

/* --- what comes out --- */

/* Finds what is live after the Einsum, with sets and ranks by the piece's loops. */
static void find_lives(struct matcher *m, struct fuse_live *lives, uint32_t *ranks)
{
    for (uint32_t i = 0; i < m->live_count; i++) {
        struct fuse_live *live = &lives[i];
        memset(live, 0, sizeof *live);
        live->tensor = m->lives[i];
        uint32_t s = find_shared(m->piece, live->tensor);
        m->match.from_piece[i] = s;
        m->match.from_left[i] = FUSE_NONE;

        if (s != FUSE_NONE) {
            const struct fuse_shared *shared = &m->piece->shared[s];
            live->memory = shared->memory;
            live->depth = shared->depth;
            live->persistent = shared->persistent;
            live->above = shared->above;
            for (uint32_t p = 0; p < shared->depth; p++)
                ranks[i * FUSE_MAX_LOOPS + p] = shared->ranks[m->piece->loops[p].variable];
            continue;
        }
        for (uint32_t j = 0; j < m->left->live_count; j++) {
            const struct fuse_live *old = &m->left->lives[j];
            if (old->tensor != live->tensor)
                continue;
            m->match.from_left[i] = j;
            live->memory = old->memory;
            live->depth = old->depth;
            live->persistent = old->persistent;
            live->above = translate(m, old->above);
            for (uint32_t l = 0; l < m->left->loop_count; l++)
                ranks[i * FUSE_MAX_LOOPS + m->match.in[l]] = old->ranks[l];
        }
    }
}

/* True if loop P of the piece is listed before loop Q. */
static bool precedes(const struct matcher *m, const uint32_t *before, const uint32_t *ranks,
                     uint32_t p, uint32_t q)
{
    int outer_p = __builtin_popcount(before[p]);
    int outer_q = __builtin_popcount(before[q]);
    if (outer_p != outer_q)
        return outer_p < outer_q;
    if (m->piece->loops[p].kind != m->piece->loops[q].kind)
        return m->piece->loops[p].kind < m->piece->loops[q].kind;
    for (uint32_t i = 0; i < m->live_count; i++) {
        uint32_t a = ranks[i * FUSE_MAX_LOOPS + p];
        uint32_t b = ranks[i * FUSE_MAX_LOOPS + q];
        if (a != b)
            return a < b;
    }
    return p < q;
}

/* Lists the loops of SET in `out`; returns how many there are. */
static uint32_t list_loops(struct matcher *m, uint32_t set, const uint32_t *before,
                           const uint32_t *ranks)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < m->piece->loop_count; p++) {
        if (!(set >> p & 1))
            continue;
        uint32_t at = count++;
        for (; at > 0 && precedes(m, before, ranks, p, m->match.out[at - 1]); at--)
            m->match.out[at] = m->match.out[at - 1];
        m->match.out[at] = (uint8_t)p;
    }
    return count;
}

static uint32_t renumber(const struct matcher *m, uint32_t set, uint32_t count)
{
    uint32_t renumbered = 0;
    for (uint32_t l = 0; l < count; l++)
        if (set >> m->match.out[l] & 1)
            renumbered |= bit(l);
    return renumbered;
}

/* True if two holders are of the same data in the same memory: one is a copy of the other. */
static bool one_datum(const struct matcher *m, uint32_t tensor, uint32_t memory, uint32_t other,
                      uint32_t other_memory)
{
    return memory == other_memory &&
           m->pieces->tensors[tensor].root == m->pieces->tensors[other].root;
}

static bool held_by_left(const struct matcher *m, const struct fuse_shared *shared, bool staying)
{
    for (uint32_t i = 0; i < m->left->live_count; i++) {
        const struct fuse_live *live = &m->left->lives[i];
        if (one_datum(m, shared->tensor, shared->memory, live->tensor, live->memory) &&
            (!staying || stays(m, live->tensor)))
            return true;
    }
    return false;
}

static bool held_by_piece(const struct matcher *m, uint32_t s, uint32_t end, bool staying)
{
    const struct fuse_shared *shared = &m->piece->shared[s];
    for (uint32_t i = 0; i < end; i++) {
        const struct fuse_shared *other = &m->piece->shared[i];
        if (i != s && one_datum(m, shared->tensor, shared->memory, other->tensor, other->memory) &&
            (!staying || stays(m, other->tensor)))
            return true;
    }
    return false;
}

static void note_lifetimes(struct matcher *m)
{
    m->match.fresh = m->match.dying = m->match.waiting = 0;
    for (uint32_t s = 0; s < m->piece->shared_count; s++) {
        const struct fuse_shared *shared = &m->piece->shared[s];
        if (!held_by_left(m, shared, false) && !held_by_piece(m, s, s, false))
            m->match.fresh |= UINT64_C(1) << s;
        if (!stays(m, shared->tensor) && !held_by_left(m, shared, true) &&
            !held_by_piece(m, s, m->piece->shared_count, true) && !held_by_piece(m, s, s, false))
            m->match.dying |= UINT64_C(1) << s;
    }

    for (uint32_t i = 0; i < m->left->live_count; i++) {
        const struct fuse_live *live = &m->left->lives[i];
        bool counted = false;
        for (uint32_t s = 0; s < m->piece->shared_count; s++)
            counted = counted || one_datum(m, live->tensor, live->memory,
                                           m->piece->shared[s].tensor, m->piece->shared[s].memory);
        for (uint32_t j = 0; j < i; j++)
            counted = counted || one_datum(m, live->tensor, live->memory, m->left->lives[j].tensor,
                                           m->left->lives[j].memory);
        if (!counted)
            m->match.waiting |= UINT64_C(1) << i;
    }
}

/* All loops of the shape are matched: makes the shape that comes out. */
static enum fuse_status finish(struct matcher *m)
{
    uint32_t before[FUSE_MAX_LOOPS];
    if (!order_loops(m, before))
        return FUSE_OK;

    struct fuse_live lives[FUSE_MAX_LIVE];
    uint32_t ranks[FUSE_MAX_LIVE * FUSE_MAX_LOOPS];
    memset(ranks, 0, m->live_count * FUSE_MAX_LOOPS * sizeof *ranks);
    find_lives(m, lives, ranks);

    uint32_t set = 0;
    for (uint32_t i = 0; i < m->live_count; i++)
        set |= lives[i].above;
    struct fuse_shape shape = {.live_count = m->live_count, .lives = lives};
    shape.loop_count = list_loops(m, set, before, ranks);
    for (uint32_t l = 0; l < shape.loop_count; l++) {
        shape.kinds[l] = m->piece->loops[m->match.out[l]].kind;
        shape.before[l] = renumber(m, before[m->match.out[l]], shape.loop_count);
    }
    for (uint32_t i = 0; i < m->live_count; i++) {
        lives[i].above = renumber(m, lives[i].above, shape.loop_count);
        for (uint32_t l = 0; l < shape.loop_count; l++)
            if (lives[i].above >> l & 1)
                lives[i].ranks[l] = ranks[i * FUSE_MAX_LOOPS + m->match.out[l]];
    }

    m->match.shape = intern(m->to, &shape);
    if (m->match.shape == FUSE_NONE ||
        !fuse_reserve(&m->matches->matches, &m->matches->room, m->matches->count + 1,
                      sizeof *m->matches->matches))
        return FUSE_OUT_OF_MEMORY;
    note_lifetimes(m);
    m->matches->matches[m->matches->count++] = m->match;
    return FUSE_OK;
}

/* Matches loop L of the shape and those after it. */
static enum fuse_status match_loops(struct matcher *m, uint32_t l, uint32_t used)
{
    if (l == m->left->loop_count)
        return finish(m);

    enum fuse_status status = FUSE_OK;
    for (uint32_t p = 0; status == FUSE_OK && p < m->piece->loop_count; p++) {
        if (used >> p & 1 || !fits(m, l, p))
            continue;
        if (++m->ways > MAX_WAYS)
            return FUSE_TOO_LARGE;
        m->match.in[l] = (uint8_t)p;
        status = match_loops(m, l + 1, used | bit(p));
    }
    return status;
}

enum fuse_status fuse_match_piece(const struct fuse_pieces *pieces, const struct fuse_shapes *from,
                                  uint32_t left, uint32_t piece, const uint32_t *lives,
                                  uint32_t live_count, struct fuse_shapes *to,
                                  struct fuse_matches *matches)
{
    struct matcher m = {
        .pieces = pieces,
        .left = &from->shapes[left],
        .piece = &pieces->pieces[piece],
        .lives = lives,
        .live_count = live_count,
        .to = to,
        .matches = matches,
        .match = {.left = left, .piece = piece},
    };
    return pair_tensors(&m) ? match_loops(&m, 0, 0) : FUSE_OK;
}
