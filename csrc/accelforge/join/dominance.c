/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/join/dominance.h"

/* Pairs of points that are compared one by one. */
#define FEW_PAIRS 4096
/* Splits before all pairs are compared: only points in an order made for it get there. */
#define MOST_SPLITS 96
/* Points whose middle one splits a set. */
#define SAMPLES 9

/* Points and what they are split by. */
struct set {
    uint32_t *points;
    size_t count;
};

struct range {
    double least;
    double most;
};

static double number(const struct fuse_dominance *d, uint32_t point, uint32_t axis)
{
    return d->numbers[(size_t)point * d->width + d->axes[axis]];
}

static void compare_pairs(const struct fuse_dominance *d, struct set sources, struct set targets,
                          uint32_t axes)
{
    for (size_t t = 0; t < targets.count; t++)
        for (size_t s = 0; s < sources.count && !d->dropped[targets.points[t]]; s++) {
            uint32_t n = 0;
            while (n < axes && number(d, sources.points[s], n) <= number(d, targets.points[t], n))
                n++;
            d->dropped[targets.points[t]] = n == axes;
        }
}

static struct range find_range(const struct fuse_dominance *d, struct set set, uint32_t axis)
{
    double first = number(d, set.points[0], axis);
    struct range range = {first, first};
    for (size_t i = 1; i < set.count; i++) {
        double x = number(d, set.points[i], axis);
        range.least = x < range.least ? x : range.least;
        range.most = x > range.most ? x : range.most;
    }
    return range;
}

/* Puts the points below LIMIT first, or at LIMIT too, and returns how many there are. */
static size_t split(const struct fuse_dominance *d, struct set set, uint32_t axis, double limit,
                    bool equal)
{
    size_t low = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint32_t point = set.points[i];
        double x = number(d, point, axis);
        if (x < limit || (equal && x <= limit)) {
            set.points[i] = set.points[low];
            set.points[low++] = point;
        }
    }
    return low;
}

/* Puts the points that are not dropped first, and returns how many there are. */
static size_t put_kept_first(const struct fuse_dominance *d, struct set set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint32_t point = set.points[i];
        if (!d->dropped[point]) {
            set.points[i] = set.points[kept];
            set.points[kept++] = point;
        }
    }
    return kept;
}

static double middle_of(const struct fuse_dominance *d, struct set set, uint32_t axis)
{
    double sorted[SAMPLES];
    for (size_t n = 0; n < SAMPLES; n++) {
        double x = number(d, set.points[set.count * n / SAMPLES], axis);
        size_t i = n;
        for (; i > 0 && x < sorted[i - 1]; i--)
            sorted[i] = sorted[i - 1];
        sorted[i] = x;
    }
    return sorted[SAMPLES / 2];
}

static struct set part(struct set set, size_t begin, size_t end)
{
    return (struct set){set.points + begin, end - begin};
}

static void drop(const struct fuse_dominance *d, struct set sources, struct set targets,
                 uint32_t axes, uint32_t splits)
{
    if (sources.count == 0 || targets.count == 0)
        return;
    if (sources.count <= FEW_PAIRS / targets.count || splits == MOST_SPLITS || axes == 0) {
        compare_pairs(d, sources, targets, axes);
        return;
    }

    /* Sources above all targets, and targets below all sources, are out. */
    uint32_t axis = axes - 1;
    sources.count = split(d, sources, axis, find_range(d, targets, axis).most, true);
    if (sources.count == 0)
        return;
    struct range there = find_range(d, sources, axis);
    targets = part(targets, split(d, targets, axis, there.least, false), targets.count);
    if (targets.count == 0)
        return;
    struct range here = find_range(d, targets, axis);
    if (there.most <= here.least) {
        drop(d, sources, targets, axis, splits + 1);
        return;
    }

    /* No source of the high part is below a target of the low one. In the parts that are left, the
     * axis is settled for low sources and high targets. */
    double limit = middle_of(d, sources.count > targets.count ? sources : targets, axis);
    bool equal = limit < there.most || limit < here.most;
    size_t low = split(d, sources, axis, limit, equal);
    size_t low_targets = split(d, targets, axis, limit, equal);
    struct set high = part(targets, low_targets, targets.count);
    drop(d, part(sources, 0, low), high, axis, splits + 1);
    high.count = put_kept_first(d, high);
    drop(d, part(sources, low, sources.count), high, axes, splits + 1);
    drop(d, part(sources, 0, low), part(targets, 0, low_targets), axes, splits + 1);
}

void fuse_drop_dominated(const struct fuse_dominance *d, uint32_t *sources, size_t source_count,
                         uint32_t *targets, size_t target_count, uint32_t axes)
{
    drop(d, (struct set){sources, source_count}, (struct set){targets, target_count}, axes, 0);
}
