/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/pair.h"

#include <string.h>

/* --- the right side --- */

size_t fuse_right_width(const struct fuse_pairing *p)
{
    return p->objectives + (size_t)p->memories * (1 + p->from_depths + p->to_depths) +
           p->to->live_count;
}

static void add_shared(const struct fuse_pieces *pieces, const struct fuse_piece *piece,
                       uint64_t set, size_t row, double *above, uint32_t loops)
{
    for (uint32_t s = 0; s < piece->shared_count; s++) {
        const struct fuse_shared *shared = &piece->shared[s];
        uint32_t memory = pieces->tracked[shared->memory];
        if (!(set >> s & 1) || memory == FUSE_NONE)
            continue;
        double *sums = above + (size_t)memory * (loops + 1);
        for (uint32_t d = shared->persistent ? 0 : shared->depth + 1; d <= loops; d++)
            sums[d] += shared->sizes[row];
    }
}

void fuse_fill_right(const struct fuse_pairing *p, size_t row, double *right)
{
    const struct fuse_pieces *pieces = p->pieces;
    const struct fuse_piece *piece = &pieces->pieces[p->match->piece];
    uint32_t memories = p->memories;
    memcpy(right, piece->objectives + row * p->objectives, p->objectives * sizeof(double));
    right += p->objectives;

    const double *loads = piece->loads + row * fuse_load_width(pieces, piece->loop_count);
    if (memories > 0)
        memcpy(right, loads, memories * sizeof(double));
    double *added = right + memories;
    double *staying = added + (size_t)memories * p->from_depths;
    for (uint32_t i = 0; i < memories; i++) {
        const double *own = loads + memories + (size_t)i * (piece->loop_count + 1);
        memcpy(added + (size_t)i * p->from_depths, own, p->from_depths * sizeof(double));
        memcpy(staying + (size_t)i * p->to_depths, own, p->to_depths * sizeof(double));
    }
    add_shared(pieces, piece, p->match->fresh, row, added, p->from->loop_count);
    add_shared(pieces, piece, p->match->dying, row, staying, p->to->loop_count);

    double *sizes = staying + (size_t)memories * p->to_depths;
    for (uint32_t i = 0; i < p->to->live_count; i++) {
        uint32_t s = p->match->from_piece[i];
        bool counts = s != FUSE_NONE && pieces->tracked[piece->shared[s].memory] != FUSE_NONE;
        sizes[i] = counts ? piece->shared[s].sizes[row] : 0;
    }
}

/* --- both sides --- */

void fuse_find_waiting(const struct fuse_pairing *p, const double *left, double *waiting)
{
    const double *stays = left + p->objectives + p->memories * p->from_depths;
    const double *sizes = stays + p->memories * p->from_depths;
    for (uint32_t i = 0; i < p->memories; i++)
        waiting[i] = stays[i * p->from_depths + p->from_depths - 1];
    for (uint32_t i = 0; i < p->from->live_count; i++) {
        uint32_t memory = p->pieces->tracked[p->from->lives[i].memory];
        if ((p->match->waiting >> i & 1) && memory != FUSE_NONE)
            waiting[memory] += sizes[i];
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Sets what a memory has held at most. False: it is too small. */
static bool join_peaks(const struct fuse_pairing *p, const double *left, const double *added,
                       double running, double *peaks)
{
    for (uint32_t d = 0; d < p->to_depths; d++)
        peaks[d] = 0;
    uint32_t top = p->to_depths - 1;
    peaks[top] = running;
    for (uint32_t d = 0; d < p->from_depths; d++) {
        uint32_t to = d < top ? d : top;
        peaks[to] = larger(peaks[to], left[d] + added[d]);
    }
    for (uint32_t d = top; d-- > 0;)
        peaks[d] = larger(peaks[d], peaks[d + 1]);
    return peaks[0] <= FUSE_FULL;
}

/* Joins all memories; false: one is too small. */
static bool join_memories(const struct fuse_pairing *p, const double *left, const double *waiting,
                          const double *right, double *out)
{
    const double *own = right + p->objectives;
    const double *added = own + p->memories;
    const double *staying = added + p->memories * p->from_depths;
    const double *left_peaks = left + p->objectives;
    const double *left_stays = left_peaks + p->memories * p->from_depths;
    double *peaks = out + p->objectives;
    double *stays = peaks + p->memories * p->to_depths;

    for (uint32_t i = 0; i < p->memories; i++)
        if (!join_peaks(p, left_peaks + i * p->from_depths, added + i * p->from_depths,
                        waiting[i] + own[i], peaks + i * p->to_depths))
            return false;
    for (uint32_t i = 0; i < p->memories; i++)
        for (uint32_t d = 0; d < p->to_depths; d++) {
            uint32_t from = d < p->from_depths - 1 ? d : p->from_depths - 1;
            stays[i * p->to_depths + d] =
                left_stays[i * p->from_depths + from] + staying[i * p->to_depths + d];
        }
    return true;
}

static void join_sizes(const struct fuse_pairing *p, const double *left, const double *right,
                       double *out)
{
    const double *left_sizes = left + p->objectives + 2 * p->memories * p->from_depths;
    const double *right_sizes =
        right + p->objectives + p->memories * (1 + p->from_depths + p->to_depths);
    double *sizes = out + p->objectives + 2 * p->memories * p->to_depths;
    for (uint32_t i = 0; i < p->to->live_count; i++) {
        uint32_t from = p->match->from_left[i];
        sizes[i] = from == FUSE_NONE ? right_sizes[i] : left_sizes[from];
    }
}

bool fuse_join_rows(const struct fuse_pairing *p, const double *left, const double *waiting,
                    const double *right, double *out)
{
    for (uint32_t i = 0; i < p->objectives; i++)
        out[i] = left[i] + right[i];
    if (!join_memories(p, left, waiting, right, out))
        return false;
    join_sizes(p, left, right, out);
    return true;
}

void fuse_clip(const struct fuse_pairing *p, const struct fuse_harmless *harmless, double *compared)
{
    double *peaks = compared + p->objectives;
    double *stays = peaks + p->memories * p->to_depths;
    double *sizes = stays + p->memories * p->to_depths;

    for (uint32_t i = 0; i < p->memories; i++) {
        for (uint32_t d = 0; d < p->to_depths; d++) {
            double *peak = &peaks[i * p->to_depths + d];
            if (*peak <= (d > 0 ? harmless->shared[i] : harmless->alone[i]))
                *peak = 0;
        }
        double all = stays[i * p->to_depths + p->to_depths - 1];
        for (uint32_t t = 0; t < p->to->live_count; t++)
            if (p->pieces->tracked[p->to->lives[t].memory] == i)
                all += sizes[t];
        if (all > harmless->staying[i])
            continue;
        memset(stays + i * p->to_depths, 0, p->to_depths * sizeof(double));
        for (uint32_t t = 0; t < p->to->live_count; t++)
            if (p->pieces->tracked[p->to->lives[t].memory] == i)
                sizes[t] = 0;
    }
}
