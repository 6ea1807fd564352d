/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_join
 *
 * Fronts: random points against a comparison of all pairs, whatever the number of reductions.
 */
#include "accelforge/join/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

/* More points than are compared with all others. */
enum { POINTS = 2000, WIDTH_MOST = 6 };

static double points[POINTS][WIDTH_MOST];

static bool dominates(size_t a, size_t b, uint32_t width)
{
    bool better = a < b; /* of equal points the first stays */
    for (uint32_t n = 0; n < width; n++) {
        if (points[a][n] > points[b][n])
            return false;
        better = better || points[a][n] < points[b][n];
    }
    return better;
}

static size_t count_front(uint32_t width, bool *in_front)
{
    size_t count = 0;
    for (size_t b = 0; b < POINTS; b++) {
        in_front[b] = true;
        for (size_t a = 0; a < POINTS; a++)
            if (a != b && dominates(a, b, width))
                in_front[b] = false;
        count += in_front[b];
    }
    return count;
}

static bool comes_first(size_t a, size_t b, uint32_t width)
{
    for (uint32_t n = 0; n < width; n++)
        if (points[a][n] < points[b][n] || points[a][n] > points[b][n])
            return points[a][n] < points[b][n];
    return false;
}

static void test_steps(uint32_t width, size_t step, const bool *in_front, size_t count)
{
    struct fuse_front front = {0};
    fuse_front_reset(&front, WIDTH_MOST, width);
    for (size_t i = 0; i < POINTS; i++) {
        CHECK(fuse_front_add(&front, points[i], i));
        if (i % step == 0)
            CHECK(fuse_front_reduce(&front));
    }
    CHECK(fuse_front_reduce(&front));

    CHECK(front.count == count);
    for (size_t i = 0; i < front.count; i++) {
        size_t point = fuse_front_tag(&front, i);
        CHECK(in_front[point]);
        CHECK(memcmp(front.numbers + i * WIDTH_MOST, points[point], sizeof(points[point])) == 0);
        CHECK(i == 0 || comes_first(fuse_front_tag(&front, i - 1), point, width));
    }
    fuse_front_clear(&front);
}

static void test_width(uint32_t width, uint64_t values, uint64_t *seed)
{
    bool in_front[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        for (uint32_t n = 0; n < WIDTH_MOST; n++) {
            uint64_t x = check_random_below(seed, values);
            points[i][n] = x == 0 ? -INFINITY : x == values - 1 ? INFINITY : (double)x;
        }
    size_t count = count_front(width, in_front);
    for (size_t step = 11; step < 2 * POINTS; step *= 7)
        test_steps(width, step, in_front, count);
}

/* Points that are all on the front, most numbers of which are equal. */
static void test_ties(void)
{
    bool in_front[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        points[i][0] = (double)i;
        points[i][1] = -(double)(i % 3);
        points[i][2] = -(double)(i / 2);
        points[i][3] = i % 100 == 0 ? -1 : 0;
    }
    size_t count = count_front(4, in_front);
    CHECK(count > POINTS / 2);
    test_steps(4, 2 * POINTS, in_front, count);
}

static void test_snap(void)
{
    double numbers[] = {0, 1, 0.1 + 0.2, 0.3, 1e300, 1.5};
    fuse_snap(numbers, 6);
    CHECK(memcmp(&numbers[2], &numbers[3], sizeof(double)) == 0);
    CHECK(numbers[0] <= 0 && numbers[1] >= 1 && numbers[1] <= 1 && numbers[5] >= 1.5);
}

int main(void)
{
    uint64_t seed = check_seed(1);
    for (uint32_t width = 1; width <= WIDTH_MOST; width++) {
        test_width(width, 4, &seed);
        test_width(width, 16, &seed);
        test_width(width, 1000, &seed);
    }
    test_ties();
    test_snap();
    return 0;
}
