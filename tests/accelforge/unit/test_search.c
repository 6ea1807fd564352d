/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @accelforge_search -Wl,--wrap=forge_step_loop -Wl,--wrap=forge_least_of_template tsan
 *
 * The search: no tiles of any template are better than what it finds, threads and bounds of
 * templates do not change that, incumbents leave what is as good as they are, and what a stop or a
 * limit of memory leaves has bounds that the best results keep.
 */
#include "accelforge/search/groups.h"
#include "accelforge/search/results.h"
#include "accelforge/search/steps.h"
#include "accelforge/search/template.h"

#include <math.h>

#include "accelforge/model/scratch.h"
#include "product_space.h"

static struct product product;

/* Number of the step, counted from now on, before or after which a stop comes; 0: none. */
static _Atomic uint32_t stop_before, stop_after;

enum forge_status __real_forge_step_loop(struct forge_searching *s, const struct forge_plan *plan,
                                         uint32_t k);
enum forge_status __wrap_forge_step_loop(struct forge_searching *s, const struct forge_plan *plan,
                                         uint32_t k);

static void count_down(_Atomic uint32_t *left, const struct forge_searching *s)
{
    if (atomic_load(left) > 0 && atomic_fetch_sub(left, 1) == 1)
        atomic_store(s->search->stop, true);
}

enum forge_status __wrap_forge_step_loop(struct forge_searching *s, const struct forge_plan *plan,
                                         uint32_t k)
{
    count_down(&stop_before, s);
    enum forge_status status = __real_forge_step_loop(s, plan, k);
    count_down(&stop_after, s);
    return status;
}

/* Bounds of templates are 0, so that none is left out by its own. */
static bool unbounded;

void __real_forge_least_of_template(const struct forge_facts *facts,
                                    const struct forge_template *template, double *low);
void __wrap_forge_least_of_template(const struct forge_facts *facts,
                                    const struct forge_template *template, double *low);

void __wrap_forge_least_of_template(const struct forge_facts *facts,
                                    const struct forge_template *template, double *low)
{
    if (unbounded)
        memset(low, 0, FORGE_OBJECTIVES * sizeof *low);
    else
        __real_forge_least_of_template(facts, template, low);
}

/* Outcome of a search, with its groups. */
struct outcome {
    struct forge_search *search;
    struct forge_found found;
    struct forge_groups groups;
    struct forge_progress progress;
};

static void begin(struct outcome *outcome, unsigned threads, size_t bytes)
{
    struct forge_fault fault;
    struct forge_search_request request = {
        .space = &product.space, .threads = threads, .memory_limit = bytes};
    CHECK(forge_search_start(&outcome->search, &request, &fault) == FORGE_OK);
}

static void end(struct outcome *outcome)
{
    struct forge_fault fault;
    while (!forge_search_wait(outcome->search, 10))
        ;
    CHECK(forge_search_finish(outcome->search, &outcome->found, &fault) == FORGE_OK);
    CHECK(forge_groups_make(&outcome->groups, &outcome->found) == FORGE_OK);
    outcome->progress = forge_search_progress(outcome->search);
}

static void release(struct outcome *outcome)
{
    forge_groups_clear(&outcome->groups);
    forge_search_destroy(outcome->search);
}

static struct outcome search_with(const struct forge_search_request *request)
{
    struct outcome outcome;
    struct forge_fault fault;
    CHECK(forge_search_start(&outcome.search, request, &fault) == FORGE_OK);
    end(&outcome);
    return outcome;
}

static struct outcome search(unsigned threads, size_t bytes)
{
    struct outcome outcome;
    begin(&outcome, threads, bytes);
    end(&outcome);
    return outcome;
}

static double least_of(const struct outcome *outcome, uint32_t objective)
{
    double least = INFINITY;
    for (uint32_t g = 0; g < outcome->groups.count; g++)
        for (uint32_t r = 0; r < outcome->groups.list[g].row_count; r++)
            least =
                fmin(least, outcome->groups.list[g].objectives[FORGE_OBJECTIVES * r + objective]);
    return least;
}

/* --- all tiles --- */

struct trial {
    const struct outcome *outcome;
    const struct forge_template *template;
    struct forge_model *model;
    struct forge_scratch *scratch;
    double *row;
    uint32_t count;
};

/* Some result is as good in both objectives as what the scratch holds the tiles of. */
static void compare(struct trial *trial)
{
    struct forge_fault fault;
    if (forge_model_evaluate(trial->model, trial->scratch, trial->scratch->values, trial->row,
                             &fault) != FORGE_OK)
        return;
    trial->count++;
    const struct forge_groups *groups = &trial->outcome->groups;
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t r = 0; r < groups->list[g].row_count; r++) {
            const double *found = &groups->list[g].objectives[FORGE_OBJECTIVES * r];
            if (found[FORGE_TOTAL_ENERGY] <= trial->row[FORGE_TOTAL_ENERGY] * (1 + 1e-9) &&
                found[FORGE_TOTAL_LATENCY] <= trial->row[FORGE_TOTAL_LATENCY] * (1 + 1e-9))
                return;
        }
    CHECK(!"a result is as good");
}

/* Every chain of divisors, from loop L on. */
static void try_tiles(struct trial *trial, uint32_t l)
{
    const struct forge_plan *plan = &trial->model->plans[0];
    if (l == plan->loop_count) {
        compare(trial);
        return;
    }
    const struct forge_loop *loop = &plan->loops[l];
    double *values = trial->scratch->values;
    uint32_t outer =
        (uint32_t)(loop->outer == FORGE_NONE ? product.chain.values[product.chain.bound]
                                             : values[plan->loops[loop->outer].tile]);
    bool innermost = true;
    for (uint32_t k = l + 1; k < plan->loop_count; k++)
        innermost = innermost && plan->loops[k].variable != loop->variable;
    for (uint32_t tile = 1; tile <= (innermost ? 1 : outer); tile++)
        if (outer % tile == 0) {
            values[loop->tile] = tile;
            try_tiles(trial, l + 1);
        }
}

static void test_no_tiles_are_better(double bound, double buffer_bits)
{
    product_build(&product, bound, buffer_bits, 0);
    struct outcome outcome = search(1, SIZE_MAX);
    CHECK(outcome.found.complete && outcome.groups.rows > 1);
    struct trial trial = {.outcome = &outcome};
    for (uint32_t t = 0; t < outcome.found.templates->count; t++) {
        struct forge_arena arena = {NULL};
        struct forge_problem problem;
        struct forge_fault fault;
        trial.template = &outcome.found.templates->list[t];
        CHECK(forge_template_problem(outcome.found.templates, trial.template, &arena, &problem) ==
              FORGE_OK);
        CHECK(forge_model_create(&trial.model, &problem, &fault) == FORGE_OK);
        trial.scratch = forge_scratch_create(trial.model);
        trial.row = calloc(trial.model->column_count, sizeof *trial.row);
        CHECK(trial.scratch != NULL && trial.row != NULL);
        try_tiles(&trial, 0);
        free(trial.row);
        forge_scratch_destroy(trial.scratch);
        forge_model_destroy(trial.model);
        forge_arena_clear(&arena);
    }
    CHECK(trial.count > 100);
    release(&outcome);
}

/* --- threads --- */

static bool same(const struct outcome *a, const struct outcome *b)
{
    if (a->groups.count != b->groups.count || a->groups.rows != b->groups.rows)
        return false;
    for (uint32_t g = 0; g < a->groups.count; g++) {
        const struct forge_pmapping_group *x = &a->groups.list[g];
        const struct forge_pmapping_group *y = &b->groups.list[g];
        if (x->row_count != y->row_count || x->loop_count != y->loop_count ||
            memcmp(x->objectives, y->objectives,
                   FORGE_OBJECTIVES * x->row_count * sizeof(double)) != 0 ||
            (x->loop_count > 0 &&
             memcmp(x->tiles, y->tiles, (size_t)x->row_count * x->loop_count * sizeof *x->tiles) !=
                 0))
            return false;
    }
    return true;
}

static void test_threads_do_not_matter(void)
{
    product_build(&product, 24, 8 * 200, 1u << TENSOR_A | 1u << TENSOR_Z);
    struct outcome one = search(1, SIZE_MAX);
    CHECK(one.found.complete && one.groups.count > 4);
    const unsigned threads[] = {2, 3, 8};
    for (size_t i = 0; i < sizeof(threads) / sizeof *threads; i++) {
        struct outcome several = search(threads[i], SIZE_MAX);
        CHECK(several.found.complete && same(&one, &several));
        release(&several);
    }
    release(&one);
}

/* --- bounds of templates --- */

/* Under ThreadSanitizer a search takes 20 times as long, and in a small one threads meet as often.
 */
#if defined(__SANITIZE_THREAD__)
#define SIDE 24
#define LONG_SIDE 360
#define STEPS 4
#else
#define SIDE 96
#define LONG_SIDE 2520
#define STEPS 100
#endif

/* Templates that are left out by their bounds would not have been found anyway. */
static void test_bounds_change_nothing_but_work(unsigned shared, bool wants_latency)
{
    product_build(&product, SIDE, 8 * 500, shared);
    product.space.wanted[FORGE_TOTAL_LATENCY] = wants_latency;
    if (shared == 0)
        product.space.tracked = product.no;
    unbounded = true;
    struct outcome all = search(1, SIZE_MAX);
    unbounded = false;
    struct outcome bounded = search(1, SIZE_MAX);
    CHECK(all.found.complete && bounded.found.complete && same(&all, &bounded));
    CHECK(all.progress.done == bounded.progress.done);
    /* With latency too, none of this product is left out. */
    if (shared == 0 && !wants_latency)
        CHECK(bounded.progress.evaluated < all.progress.evaluated);
    release(&bounded);
    release(&all);
}

/* --- incumbents --- */

/* Returns the least cost of each template, by a search with few choices. */
static double *take_a_look(void)
{
    struct forge_search_request request = {
        .space = &product.space, .threads = 2, .memory_limit = SIZE_MAX, .width = 2};
    struct outcome quick = search_with(&request);
    size_t count = quick.found.templates->count;
    double *low = calloc(count * FORGE_OBJECTIVES, sizeof *low);
    CHECK(low != NULL);
    for (uint32_t t = 0; t < count; t++)
        forge_search_low(quick.search, t, &low[t * FORGE_OBJECTIVES]);
    release(&quick);
    return low;
}

/* An incumbent with the least energy, or the least product, leaves what is as good as it. */
static void test_an_incumbent(bool product_counts)
{
    product_build(&product, SIDE, 8 * 500, 1u << TENSOR_A | 1u << TENSOR_Z);
    struct outcome all = search(2, SIZE_MAX);
    double incumbent[FORGE_OBJECTIVES] = {0};
    double best = INFINITY;
    for (uint32_t g = 0; g < all.groups.count; g++)
        for (uint32_t r = 0; r < all.groups.list[g].row_count; r++) {
            const double *row = &all.groups.list[g].objectives[FORGE_OBJECTIVES * r];
            double cost = row[FORGE_TOTAL_ENERGY] * (product_counts ? row[FORGE_TOTAL_LATENCY] : 1);
            if (cost < best) {
                best = cost;
                memcpy(incumbent, row, sizeof(incumbent));
            }
        }

    double *low = take_a_look();
    for (unsigned known = 0; known < 2; known++) {
        struct forge_search_request request = {
            .space = &product.space,
            .threads = 2,
            .memory_limit = SIZE_MAX,
            .incumbents = {.points = incumbent, .count = 1, .product = product_counts},
        };
        request.incumbents.compared[FORGE_TOTAL_ENERGY] = !product_counts;
        request.incumbents.low = known != 0 ? low : NULL;
        request.incumbents.low_count = known != 0 ? all.found.templates->count : 0;
        struct outcome some = search_with(&request);
        CHECK(some.found.complete && some.groups.rows > 0 && some.groups.rows < all.groups.rows);
        double least = INFINITY;
        for (uint32_t g = 0; g < some.groups.count; g++)
            for (uint32_t r = 0; r < some.groups.list[g].row_count; r++) {
                const double *row = &some.groups.list[g].objectives[FORGE_OBJECTIVES * r];
                least = fmin(least, row[FORGE_TOTAL_ENERGY] *
                                        (product_counts ? row[FORGE_TOTAL_LATENCY] : 1));
            }
        CHECK(fabs(least - best) <= 1e-9 * best);
        release(&some);
    }
    free(low);
    release(&all);
}

/* --- limits --- */

/* BEST: of a complete search. */
static void check_bounds(const struct outcome *some, const struct outcome *best)
{
    for (uint32_t i = FORGE_TOTAL_ENERGY; i <= FORGE_TOTAL_LATENCY; i++) {
        double found = least_of(some, i);
        double least = least_of(best, i);
        CHECK(found >= least * (1 - 1e-12));
        CHECK(fmin(found, some->found.bound[i]) <= least * (1 + 1e-12));
    }
}

static void test_a_limit_of_memory(void)
{
    product_build(&product, LONG_SIDE, 8 * 3000, 1u << TENSOR_A | 1u << TENSOR_Z);
    product.space.settings.max_fused_loops_per_rank_variable = __builtin_inf();
    struct outcome best = search(2, SIZE_MAX);
    CHECK(best.found.complete);
    uint32_t stopped = 0;
    for (size_t bytes = 1 << 12; bytes < (size_t)1 << 26; bytes *= 4) {
        struct outcome some = search(2, bytes);
        if (!some.found.complete) {
            stopped++;
            check_bounds(&some, &best);
        }
        release(&some);
    }
    CHECK(stopped > 0);
    release(&best);
}

/* The best so far and the bound on what is left are never both above the best of all. */
static void check_standing(struct outcome *some, const double *best, bool ended)
{
    double least[FORGE_OBJECTIVES];
    double bound[FORGE_OBJECTIVES];
    forge_search_standing(some->search, least, bound);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++) {
        if (!product.space.wanted[i])
            continue;
        CHECK(least[i] >= best[i] * (1 - 1e-9));
        CHECK(fmin(least[i], bound[i]) <= best[i] * (1 + 1e-9));
        CHECK(!ended || bound[i] == INFINITY);
    }
}

/* Stopped before, while or after templates are searched. */
static void test_a_stop(void)
{
    product_build(&product, SIDE, 8 * 500, 1u << TENSOR_A | 1u << TENSOR_Z);
    struct outcome best = search(2, SIZE_MAX);
    CHECK(best.found.complete);
    double least[FORGE_OBJECTIVES];
    double bound[FORGE_OBJECTIVES];
    forge_search_standing(best.search, least, bound);
    check_standing(&best, least, true);
    for (uint64_t done = 0; done < best.progress.done; done += 1 + done / 4) {
        struct outcome some;
        begin(&some, 2, SIZE_MAX);
        while (forge_search_progress(some.search).done < done &&
               !forge_search_wait(some.search, 20e-6))
            check_standing(&some, least, false);
        forge_search_stop(some.search);
        end(&some);
        check_bounds(&some, &best);
        release(&some);
    }
    release(&best);
}

/* After each step of some template: the bound is that of all its tiles, or better. */
static void test_a_stop_after_a_step(void)
{
    product_build(&product, 96, 8 * 500, 1u << TENSOR_A | 1u << TENSOR_Z);
    struct outcome best = search(1, SIZE_MAX);
    atomic_store(&stop_before, 1);
    struct outcome none = search(1, SIZE_MAX);
    CHECK(best.found.complete);
    CHECK(!none.found.complete);

    uint32_t stopped = 0;
    for (uint32_t step = 1; step < STEPS; step++) {
        atomic_store(&stop_after, step);
        struct outcome some = search(1, SIZE_MAX);
        check_bounds(&some, &best);
        for (uint32_t i = FORGE_TOTAL_ENERGY; i <= FORGE_TOTAL_LATENCY; i++)
            CHECK(some.found.bound[i] >= none.found.bound[i] * (1 - 1e-9));
        stopped += !some.found.complete;
        release(&some);
    }
    CHECK(stopped > STEPS / 2);
    atomic_store(&stop_after, 0);
    release(&none);
    release(&best);
}

int main(void)
{
    test_no_tiles_are_better(12, 8 * 14);
    test_no_tiles_are_better(8, 8 * 1000);
    test_threads_do_not_matter();
    test_bounds_change_nothing_but_work(0, false);
    test_bounds_change_nothing_but_work(0, true);
    test_bounds_change_nothing_but_work(1u << TENSOR_A | 1u << TENSOR_Z, true);
    test_an_incumbent(false);
    test_an_incumbent(true);
    test_a_limit_of_memory();
    test_a_stop();
    test_a_stop_after_a_step();
    puts("ok");
    return 0;
}
