/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_join tsan
 *
 * The join: a pair that can be checked by hand, chains whose result is the same for any number of
 * threads, no worse when memories are larger, and what limits leave.
 */
#include "accelforge/join/fuse.h"

#include <math.h>

#include "join_chain.h"

static struct links links;

static struct fuse_answer join(const struct fuse_request *request)
{
    struct fuse_answer answer;
    struct fuse_fault fault;
    CHECK(fuse_join(request, &answer, &fault) == FUSE_OK);
    CHECK(fault.status == FUSE_OK);
    return answer;
}

static bool alike(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Two Einsums with one pmapping each that share a tensor of 0.5 below a loop over a variable. */
static void test_a_pair(void)
{
    static const struct fuse_einsum einsums[] = {{1, 1, 1, 0}, {1, 1, 1, 0}};
    static const struct fuse_access accesses[] = {{0, 1}, {0, 0}};
    static const struct fuse_group groups[] = {{1, 1, 1, 2, 0}, {1, 1, 1, 2, 0}};
    static const struct fuse_loop loops[] = {{0, 0}, {0, 0}};
    static const struct fuse_holder holders[] = {{0, 0, 1}, {0, 0, 1}};
    /* Above the loop and below it. */
    static const struct fuse_reservation reservations[] = {{0, 0}, {0, 1}, {0, 0}, {0, 1}};
    static const uint32_t ranks[] = {0, 0};
    static const double bounds[] = {4, 4};
    static const double objectives[] = {1, 2};
    static const int64_t tiles[] = {2, 2};
    static const double values[] = {0.5, 0.0625, 0.25, 0.5, 0.125, 0.1875};
    const struct fuse_tables tables = {
        einsums,      2, accesses, 2, groups, 2, loops,  2, holders,    2,
        reservations, 4, NULL,     0, ranks,  2, bounds, 2, objectives, 2,
        tiles,        2, values,   6, 1,      1, 1};
    struct fuse_request request = {
        .tables = &tables,
        .goal = {.wanted = 1},
        .limits = {.threads = 1, .deadline = __builtin_inf(), .bytes = SIZE_MAX},
        .all_memories = true,
    };

    struct fuse_answer answer = join(&request);

    CHECK(answer.row_count == 1 && answer.complete);
    CHECK(alike(answer.objectives[0], 3) && alike(answer.least[0], 3));
    /* Both stand above the loop all the time; those below it take turns. */
    CHECK(alike(answer.usage[0], 0.5 + 0.0625 + 0.125 + 0.25));
    fuse_answer_clear(&answer);
}

static bool same(const struct fuse_answer *a, const struct fuse_answer *b)
{
    size_t picks = a->row_count * links.tables.einsum_count;
    return a->row_count == b->row_count && memcmp(a->rows, b->rows, picks * sizeof *a->rows) == 0 &&
           memcmp(a->groups, b->groups, picks * sizeof *a->groups) == 0 &&
           memcmp(a->objectives, b->objectives, 2 * a->row_count * sizeof(double)) == 0;
}

static void test_threads(uint64_t seed)
{
    links_make(&links, 6, 1e-4, seed);
    struct fuse_request one = links_request(&links, 1);
    struct fuse_request several = links_request(&links, 5);
    struct fuse_answer a = join(&one);
    struct fuse_answer b = join(&several);

    CHECK(a.row_count > 1 && same(&a, &b));
    fuse_answer_clear(&a);
    fuse_answer_clear(&b);
}

static double least_of(const struct fuse_answer *answer, size_t objective)
{
    double least = __builtin_inf();
    for (size_t i = 0; i < answer->row_count; i++)
        least = fmin(least, answer->objectives[2 * i + objective]);
    return least;
}

static void test_larger_memories(uint64_t seed)
{
    double before[2] = {__builtin_inf(), __builtin_inf()};
    for (double scale = 3e-4; scale > 1e-6; scale /= 4) {
        links_make(&links, 5, scale, seed);
        struct fuse_request request = links_request(&links, 2);
        struct fuse_answer answer = join(&request);
        for (size_t i = 0; i < 2; i++) {
            CHECK(least_of(&answer, i) <= before[i]);
            CHECK(alike(least_of(&answer, i), answer.least[i]));
            before[i] = least_of(&answer, i);
        }
        fuse_answer_clear(&answer);
    }
}

static void test_limits(uint64_t seed)
{
    links_make(&links, 5, 1e-4, seed);
    struct fuse_request request = links_request(&links, 2);
    request.goal.usage = true;
    struct fuse_answer best = join(&request);

    bool stopped = false;
    for (size_t bytes = 1 << 10; bytes < (size_t)1 << 30 && !stopped; bytes += bytes / 8) {
        request.limits.bytes = bytes;
        struct fuse_answer some;
        struct fuse_fault fault;
        enum fuse_status status = fuse_join(&request, &some, &fault);
        CHECK(status == FUSE_OK || status == FUSE_STOPPED);
        if (status == FUSE_OK && !some.complete) {
            stopped = true;
            CHECK(some.least[0] <= best.least[0] * (1 + 1e-12));
            CHECK(least_of(&some, 0) >= best.least[0] * (1 - 1e-12));
        }
        fuse_answer_clear(&some);
    }
    CHECK(stopped);

    volatile uint8_t stop = 1;
    request.limits.stop = &stop;
    struct fuse_answer none;
    struct fuse_fault fault;
    CHECK(fuse_join(&request, &none, &fault) == FUSE_STOPPED && none.row_count == 0);
    fuse_answer_clear(&none);
    fuse_answer_clear(&best);
}

int main(void)
{
    uint64_t seed = check_seed(1);
    test_a_pair();
    test_threads(seed);
    test_larger_memories(seed);
    test_limits(seed);
    return 0;
}
