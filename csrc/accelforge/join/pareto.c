/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/pareto.h"

#include <stdlib.h>
#include <string.h>

#include "accelforge/join/dominance.h"
#include "accelforge/join/map.h"

/* Points that fuse_front_covers() looks at. */
#define LOOKS 8
/* Points that are compared at once. */
#define LANES 8
/* Points that are compared with all others; sets of more are halved. */
#define FEW 512

void fuse_front_reset(struct fuse_front *front, uint32_t width, uint32_t compared)
{
    front->width = width;
    front->compared = compared;
    front->count = 0;
    front->reduced = 0;
}

bool fuse_front_add(struct fuse_front *front, const double *numbers, uint64_t tag)
{
    size_t width = front->width;
    if (!fuse_reserve(&front->numbers, &front->numbers_room, (front->count + 1) * width,
                      sizeof(double)) ||
        !fuse_reserve(&front->tags, &front->tags_room, front->count + 1, sizeof *front->tags))
        return false;

    memcpy(front->numbers + front->count * width, numbers, width * sizeof(double));
    front->tags[front->count++] = tag;
    return true;
}

void fuse_snap(double *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof(bits));
        bits = (bits + (UINT64_C(1) << 11)) & ~((UINT64_C(1) << 12) - 1);
        memcpy(&numbers[i], &bits, sizeof(bits));
    }
}

bool fuse_front_covers(const struct fuse_front *front, const double *numbers)
{
    size_t step = front->reduced / LOOKS + 1;
    for (size_t i = 0; i < front->reduced; i += step) {
        const double *other = front->numbers + i * front->width;
        uint32_t n = 0;
        while (n < front->compared && other[n] <= numbers[n])
            n++;
        if (n == front->compared)
            return true;
    }
    return false;
}

/* --- order --- */

static int compare(const struct fuse_front *front, uint32_t a, uint32_t b)
{
    const double *x = front->numbers + (size_t)a * front->width;
    const double *y = front->numbers + (size_t)b * front->width;
    for (uint32_t n = 0; n < front->compared; n++) {
        if (x[n] < y[n])
            return -1;
        if (x[n] > y[n])
            return 1;
    }
    return a < b ? -1 : 1;
}

/* Merges two sorted runs of ORDER through SPARE. */
static void merge(const struct fuse_front *front, uint32_t *order, uint32_t *spare, size_t middle,
                  size_t end)
{
    size_t i = 0;
    size_t j = middle;
    size_t out = 0;
    memcpy(spare, order, end * sizeof *order);
    while (i < middle && j < end)
        order[out++] = compare(front, spare[j], spare[i]) < 0 ? spare[j++] : spare[i++];
    while (i < middle)
        order[out++] = spare[i++];
    while (j < end)
        order[out++] = spare[j++];
}

static void sort(const struct fuse_front *front, uint32_t *order, uint32_t *spare, size_t count)
{
    if (count <= 12) {
        for (size_t i = 1; i < count; i++) {
            uint32_t moved = order[i];
            size_t j = i;
            for (; j > 0 && compare(front, moved, order[j - 1]) < 0; j--)
                order[j] = order[j - 1];
            order[j] = moved;
        }
        return;
    }
    size_t middle = count / 2;
    sort(front, order, spare, middle);
    sort(front, order + middle, spare, count - middle);
    merge(front, order, spare, middle, count);
}

/* --- dominance --- */

/* The numbers that differ between points. */
static uint32_t find_varying(const struct fuse_front *front, uint32_t *varying)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < front->compared; n++)
        for (size_t i = 1; i < front->count; i++)
            if (front->numbers[i * front->width + n] < front->numbers[n] ||
                front->numbers[i * front->width + n] > front->numbers[n]) {
                varying[count++] = n;
                break;
            }
    return count;
}

/* True if one of the first COUNT survivors is at least as good as POINT in numbers 1, ... Survivors
 * are in blocks of LANES, number by number. */
static bool is_covered(const double *sifted, size_t count, uint32_t width, const double *point)
{
    for (size_t block = 0; block * LANES < count; block++) {
        const double *numbers = sifted + block * LANES * width;
        uint64_t good[LANES];
        uint64_t any = 0;
        for (int lane = 0; lane < LANES; lane++)
            any |= good[lane] = numbers[lane] <= point[0];
        for (uint32_t n = 1; n < width && any; n++) {
            any = 0;
            for (int lane = 0; lane < LANES; lane++)
                any |= good[lane] &= numbers[n * LANES + (uint32_t)lane] <= point[n];
        }
        if (any)
            return true;
    }
    return false;
}

static void sift_in(double *sifted, size_t count, uint32_t width, const double *point)
{
    double *numbers = sifted + count / LANES * LANES * width;
    size_t lane = count % LANES;
    for (uint32_t n = 0; n < width; n++) {
        if (lane == 0)
            for (size_t other = 1; other < LANES; other++)
                numbers[n * LANES + other] = __builtin_inf();
        numbers[n * LANES + lane] = point[n];
    }
}

/* Keeps in ORDER, which is sorted, what is not dominated. */
static size_t sift(struct fuse_front *front, uint32_t *order, size_t count, const uint32_t *varying,
                   uint32_t width, double *point)
{
    size_t kept = 0;
    size_t sifted = 0;
    for (size_t i = 0; i < count; i++) {
        /* The first number is in order already. */
        const double *numbers = front->numbers + (size_t)order[i] * front->width;
        for (uint32_t n = 1; n < width; n++)
            point[n - 1] = numbers[varying[n]];
        uint32_t rest = width > 1 ? width - 1 : 0;
        if (kept > 0 && (rest == 0 || is_covered(front->sifted, sifted, rest, point)))
            continue;

        order[kept++] = order[i];
        if (rest == 1)
            sifted = 0; /* the last one is the best of all in the only other number */
        if (rest > 0)
            sift_in(front->sifted, sifted++, rest, point);
    }
    return kept;
}

static size_t take_kept(const struct fuse_dominance *d, uint32_t *points, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!d->dropped[points[i]])
            points[kept++] = points[i];
    return kept;
}

/* Keeps in TARGETS, whose order stays, what no source dominates in AXES axes. */
static size_t drop(const struct fuse_dominance *d, const uint32_t *sources, size_t source_count,
                   uint32_t *targets, size_t target_count, uint32_t axes, uint32_t *spare)
{
    memcpy(spare, sources, source_count * sizeof *spare);
    memcpy(spare + source_count, targets, target_count * sizeof *spare);
    fuse_drop_dominated(d, spare, source_count, spare + source_count, target_count, axes);
    return take_kept(d, targets, target_count);
}

/* Keeps in ORDER, which is sorted, what is not dominated: sift() for many points. */
static size_t thin(struct fuse_front *front, const struct fuse_dominance *d, uint32_t *order,
                   size_t count, uint32_t width, double *point)
{
    if (count <= FEW || width <= 2)
        return sift(front, order, count, d->axes, width, point);

    uint32_t *spare = front->order + front->count;
    uint32_t *after = order + count / 2;
    size_t kept = thin(front, d, order, count / 2, width, point);
    size_t others = thin(front, d, after, count - count / 2, width, point);
    /* The first number is in order already. */
    struct fuse_dominance rest = *d;
    rest.axes++;
    others = drop(&rest, order, kept, after, others, width - 1, spare);
    memmove(order + kept, after, others * sizeof *order);
    return kept + others;
}

/* Keeps in ORDER what is not dominated, in order. The first OLD are in order already, and none of
 * them dominates another; they were there before the others, which are sorted too. */
static size_t join(struct fuse_front *front, const struct fuse_dominance *d, size_t old,
                   uint32_t width, double *point)
{
    uint32_t *order = front->order;
    uint32_t *spare = order + front->count;
    uint32_t *new = order + old;
    size_t count = thin(front, d, new, front->count - old, width, point);
    if (old == 0)
        return count;

    count = drop(d, order, old, new, count, width, spare);
    old = drop(d, new, count, order, old, width, spare);
    memmove(order + old, new, count * sizeof *order);
    merge(front, order, spare, old, old + count);
    return old + count;
}

static bool make_room(struct fuse_front *front)
{
    size_t count = front->count;
    size_t lanes = (count / LANES + 1) * LANES;
    return fuse_reserve(&front->order, &front->order_room, 2 * count + 2 * front->width,
                        sizeof *front->order) &&
           fuse_reserve(&front->dropped, &front->dropped_room, count, sizeof *front->dropped) &&
           fuse_reserve(&front->sifted, &front->sifted_room, (lanes + 1) * (front->width + 1),
                        sizeof(double)) &&
           fuse_reserve(&front->moved, &front->moved_room, count * front->width, sizeof(double)) &&
           fuse_reserve(&front->moved_tags, &front->moved_tags_room, count,
                        sizeof *front->moved_tags);
}

bool fuse_front_reduce(struct fuse_front *front)
{
    if (front->count == front->reduced || front->count == 0)
        return true;
    if (front->count > UINT32_MAX / 4 || !make_room(front))
        return false;

    size_t count = front->count;
    uint32_t *order = front->order;
    uint32_t *varying = order + 2 * count;
    size_t old = count <= FEW ? 0 : front->reduced;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort(front, order + old, order + count, count - old);
    memset(front->dropped, 0, count * sizeof *front->dropped);

    uint32_t width = find_varying(front, varying);
    double *point = front->sifted + front->sifted_room - front->width;
    struct fuse_dominance dominance = {front->numbers, front->width, varying, front->dropped};
    size_t kept = join(front, &dominance, old, width, point);
    for (size_t i = 0; i < kept; i++) {
        memcpy(front->moved + i * front->width, front->numbers + (size_t)order[i] * front->width,
               front->width * sizeof(double));
        front->moved_tags[i] = front->tags[order[i]];
    }
    memcpy(front->numbers, front->moved, kept * front->width * sizeof(double));
    memcpy(front->tags, front->moved_tags, kept * sizeof *front->tags);
    front->count = kept;
    front->reduced = kept;
    return true;
}

void fuse_front_clear(struct fuse_front *front)
{
    free(front->numbers);
    free(front->tags);
    free(front->order);
    free(front->dropped);
    free(front->sifted);
    free(front->moved);
    free(front->moved_tags);
    memset(front, 0, sizeof *front);
}
