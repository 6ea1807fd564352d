/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/search.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accelforge/search/results.h"
#include "accelforge/search/template.h"

#define MAX_THREADS 256

/* Choices at each loop in the first search: fewer where incumbents leave little to search for. */
#define FIRST_WIDTH 256
#define FIRST_WIDTH_WITH_INCUMBENTS 16

struct forge_search {
    struct forge_search_request request;
    struct forge_templates templates;
    struct forge_rows *rows;
    double (*least)[FORGE_OBJECTIVES]; /* by template: what no tiles are below */
    uint32_t *order;                   /* of the templates: what promises most first */
    struct forge_fronts fronts;
    struct forge_counts counts;
    struct forge_fault fault;
    _Atomic size_t memory;
    atomic_bool stop;
    _Atomic uint32_t next;
    _Atomic uint64_t done;
    _Atomic uint64_t total; /* templates; 0 while they are made */
    bool exact;             /* the second search */
    pthread_t leader;
    bool started;
    pthread_mutex_t lock; /* of what follows, and of rows while threads search */
    double best[FORGE_OBJECTIVES];
    pthread_cond_t ended_signal;
    bool ended;
};

/* --- templates --- */

static uint32_t width_of(const struct forge_search *search)
{
    if (search->exact)
        return 0;
    if (search->request.width > 0)
        return search->request.width;
    return search->request.incumbents.count > 0 ? FIRST_WIDTH_WITH_INCUMBENTS : FIRST_WIDTH;
}

/* Rows that use a fan-out too little may be allowed in the end, and are not in `low`. */
static bool has_usages(const struct forge_space *space, const struct forge_template *template)
{
    for (uint32_t i = 0; i < template->usages.count; i++)
        if (space->numbers[space->usages[template->usages.first + i].value] > 0)
            return true;
    return false;
}

/* All of a template is pruned. */
static void leave_template(struct forge_search *search, struct forge_rows *rows)
{
    pthread_mutex_lock(&search->lock);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        rows->low[i] = INFINITY;
    rows->searched = true;
    rows->beaten = true;
    rows->complete = true;
    pthread_mutex_unlock(&search->lock);
    atomic_fetch_add(&search->done, 1);
}

/* True if a result without fused loops is better than all tiles of such a template. Where a fan-out
 * must be used, what is better may not be allowed in the end. */
static bool front_beats_template(struct forge_search *search, uint32_t t,
                                 struct forge_front_copy *front)
{
    const struct forge_template *template = &search->templates.list[t];
    const struct forge_space *space = search->request.space;
    if (template->fused_count > 0 || has_usages(space, template))
        return false;
    forge_front_refresh(&search->fronts, forge_structure_of(space, template), front);
    const double *low = search->least[t];
    double point[FORGE_OBJECTIVES + FORGE_MAX_LEVELS] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        if (space->wanted[i])
            point[count++] = low[i];
    return forge_front_beats(front, search->fronts.width, point);
}

/* Takes what was found of a template; rows that are not complete do not replace what there is, but
 * may say more about the rest. */
static void keep_rows(struct forge_search *search, struct forge_rows *rows,
                      struct forge_rows *found, enum forge_status status)
{
    pthread_mutex_lock(&search->lock);
    for (uint32_t r = 0; r < found->count; r++)
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            search->best[i] =
                fmin(search->best[i], found->objectives[FORGE_OBJECTIVES * (size_t)r + i]);
    if (!search->exact || found->complete) {
        forge_rows_clear(rows);
        *rows = *found;
    } else {
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            rows->low[i] = fmax(rows->low[i], found->low[i]);
        forge_rows_clear(found);
    }
    rows->searched = true;
    if (status != FORGE_OK)
        rows->complete = false;
    pthread_mutex_unlock(&search->lock);
}

static void search_template(struct forge_search *search, uint32_t t, struct forge_front_copy *front)
{
    struct forge_rows *rows = &search->rows[t];
    if (search->exact && rows->complete)
        return;
    struct forge_incumbents incumbents =
        forge_incumbents_of_template(&search->request.incumbents, t, search->templates.count);
    if (forge_incumbents_beat_template(&incumbents, t, search->templates.count) ||
        front_beats_template(search, t, front)) {
        leave_template(search, rows);
        return;
    }
    struct forge_tile_search request = {
        .templates = &search->templates,
        .template = &search->templates.list[t],
        .fronts = &search->fronts,
        .front = front,
        .counts = &search->counts,
        .stop = &search->stop,
        .memory = &search->memory,
        .memory_limit = search->request.memory_limit,
        .width = width_of(search),
        .incumbents = incumbents.count > 0 ? &incumbents : NULL,
    };
    struct forge_rows found;
    struct forge_fault fault = forge_fault_of(FORGE_OK);
    enum forge_status status = forge_tiles_search(&request, &found, &fault);

    keep_rows(search, rows, &found, status);
    if (status != FORGE_OK && status != FORGE_OUT_OF_MEMORY) {
        pthread_mutex_lock(&search->lock);
        if (search->fault.status == FORGE_OK)
            search->fault = fault;
        pthread_mutex_unlock(&search->lock);
    }
    if (rows->complete)
        atomic_fetch_add(&search->done, 1);
}

static void *work(void *argument)
{
    struct forge_search *search = argument;
    struct forge_front_copy front;
    memset(&front, 0, sizeof(front));
    while (!atomic_load(&search->stop)) {
        uint32_t i = atomic_fetch_add(&search->next, 1);
        if (i >= search->templates.count)
            break;
        search_template(search, search->order[i], &front);
    }
    free(front.points);
    return NULL;
}

/* --- threads --- */

/* One search of all templates; fewer threads than asked for do the same work. */
static void search_all(struct forge_search *search)
{
    pthread_t threads[MAX_THREADS];
    unsigned wanted = search->request.threads;
    if (wanted > search->templates.count)
        wanted = search->templates.count > 0 ? search->templates.count : 1;
    atomic_store(&search->next, 0);
    unsigned started = 0;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, search) == 0)
        started++;
    work(search);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

struct promise {
    double least; /* the product of what is wanted */
    uint32_t template;
};

static int compare_promises(const void *a, const void *b)
{
    const struct promise *x = a;
    const struct promise *y = b;
    if (x->least < y->least)
        return -1;
    if (x->least > y->least)
        return 1;
    return (x->template > y->template) - (x->template < y->template);
}

/* Bounds all templates, and puts them in order. */
static bool order_templates(struct forge_search *search)
{
    size_t count = search->templates.count;
    search->least = calloc(count + 1, sizeof *search->least);
    search->order = calloc(count + 1, sizeof *search->order);
    struct promise *promises = calloc(count + 1, sizeof *promises);
    bool made = search->least != NULL && search->order != NULL && promises != NULL;
    for (uint32_t t = 0; made && t < count; t++) {
        forge_least_of_template(&search->templates.facts, &search->templates.list[t],
                                search->least[t]);
        promises[t] = (struct promise){1, t};
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            if (search->request.space->wanted[i])
                promises[t].least *= search->least[t][i];
    }
    if (made)
        qsort(promises, count, sizeof *promises, compare_promises);
    for (uint32_t i = 0; made && i < count; i++)
        search->order[i] = promises[i].template;
    free(promises);
    return made;
}

static enum forge_status lead(struct forge_search *search)
{
    enum forge_status status = forge_templates_make(&search->templates, search->request.space,
                                                    &search->stop, &search->fault);
    if (status != FORGE_OK)
        return status;
    search->rows = calloc((size_t)search->templates.count + 1, sizeof *search->rows);
    if (search->rows == NULL || !order_templates(search))
        return FORGE_OUT_OF_MEMORY;
    atomic_store(&search->total, search->templates.count);

    search_all(search);
    if (search->request.width == 0) {
        search->exact = true;
        search_all(search);
    }
    return search->fault.status;
}

static void *lead_thread(void *argument)
{
    struct forge_search *search = argument;
    search->fault.status = lead(search);
    pthread_mutex_lock(&search->lock);
    search->ended = true;
    pthread_cond_broadcast(&search->ended_signal);
    pthread_mutex_unlock(&search->lock);
    return NULL;
}

/* --- the search --- */

static enum forge_status prepare(struct forge_search *search)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&search->ended_signal, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&search->lock, NULL);

    const struct forge_space *space = search->request.space;
    uint32_t tracked = forge_tracked_levels(space, NULL);
    forge_fronts_start(&search->fronts, tracked + forge_space_objectives(space));
    search->fault = forge_fault_of(FORGE_OK);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        search->best[i] = INFINITY;
    if (pthread_create(&search->leader, NULL, lead_thread, search) != 0)
        return FORGE_OUT_OF_MEMORY;
    search->started = true;
    return FORGE_OK;
}

enum forge_status forge_search_start(struct forge_search **search,
                                     const struct forge_search_request *request,
                                     struct forge_fault *fault)
{
    *search = NULL;
    enum forge_status status = forge_space_check(request->space, fault);
    if (status != FORGE_OK)
        return status;
    struct forge_search *made = calloc(1, sizeof *made);
    if (made == NULL) {
        fault->status = FORGE_OUT_OF_MEMORY;
        return FORGE_OUT_OF_MEMORY;
    }

    made->request = *request;
    if (request->threads < 1)
        made->request.threads = 1;
    if (request->threads > MAX_THREADS)
        made->request.threads = MAX_THREADS;
    fault->status = prepare(made);
    if (fault->status != FORGE_OK) {
        forge_search_destroy(made);
        return fault->status;
    }
    *search = made;
    return FORGE_OK;
}

bool forge_search_wait(struct forge_search *search, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(seconds);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }

    pthread_mutex_lock(&search->lock);
    int error = 0;
    while (!search->ended && error == 0)
        error = pthread_cond_timedwait(&search->ended_signal, &search->lock, &until);
    bool ended = search->ended;
    pthread_mutex_unlock(&search->lock);
    return ended;
}

void forge_search_stop(struct forge_search *search)
{
    atomic_store(&search->stop, true);
}

struct forge_progress forge_search_progress(struct forge_search *search)
{
    struct forge_progress progress = {
        .templates = atomic_load(&search->total),
        .done = atomic_load(&search->done),
        .evaluated = atomic_load(&search->counts.evaluated),
        .valid = atomic_load(&search->counts.valid),
        .kept = atomic_load(&search->counts.kept),
    };
    return progress;
}

void forge_search_standing(struct forge_search *search, double *best, double *bound)
{
    bool known = atomic_load(&search->total) > 0;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        bound[i] = known ? INFINITY : 0;
    pthread_mutex_lock(&search->lock);
    memcpy(best, search->best, sizeof(search->best));
    for (uint32_t t = 0; known && t < search->templates.count; t++) {
        const struct forge_rows *rows = &search->rows[t];
        bool usages = has_usages(search->request.space, &search->templates.list[t]);
        for (uint32_t i = 0; i < FORGE_OBJECTIVES && !rows->complete; i++)
            bound[i] = fmin(bound[i], rows->searched && !usages ? rows->low[i] : 0);
    }
    pthread_mutex_unlock(&search->lock);
}

/* --- what was found --- */

/* Sets the bound that no tiles of a template are below. */
static void bound_template(const struct forge_search *search, uint32_t t, double *low)
{
    atomic_bool stop;
    atomic_init(&stop, true);
    struct forge_tile_search request = {
        .templates = &search->templates,
        .template = &search->templates.list[t],
        .stop = &stop,
    };
    struct forge_rows rows;
    struct forge_fault fault;
    enum forge_status status = forge_tiles_search(&request, &rows, &fault);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        low[i] = status == FORGE_OK ? rows.low[i] : 0;
    /* Rows without tiles to choose are found nevertheless. */
    for (uint32_t r = 0; r < rows.count; r++)
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            low[i] = fmin(low[i], rows.objectives[FORGE_OBJECTIVES * (size_t)r + i]);
    forge_rows_clear(&rows);
}

void forge_search_low(const struct forge_search *search, uint32_t t, double *low)
{
    const struct forge_rows *rows = &search->rows[t];
    bool known = search->templates.complete && rows->searched &&
                 !has_usages(search->request.space, &search->templates.list[t]);
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        low[i] = known ? rows->low[i] : 0;
    for (uint32_t r = 0; r < rows->count; r++)
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            low[i] = fmin(low[i], rows->objectives[FORGE_OBJECTIVES * (size_t)r + i]);
}

/* Bounds the best result of a template that is not finished. */
static void bound(const struct forge_search *search, struct forge_found *found)
{
    found->complete = search->templates.complete;
    for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
        found->bound[i] = search->templates.complete ? INFINITY : 0;
    for (uint32_t t = 0; t < search->templates.count; t++) {
        const struct forge_rows *rows = &search->rows[t];
        if (rows->complete)
            continue;
        found->complete = false;
        double low[FORGE_OBJECTIVES];
        memcpy(low, rows->low, sizeof(low));
        if (!rows->searched)
            bound_template(search, t, low);
        for (uint32_t i = 0; i < FORGE_OBJECTIVES; i++)
            found->bound[i] = fmin(found->bound[i], low[i]);
    }
}

enum forge_status forge_search_finish(struct forge_search *search, struct forge_found *found,
                                      struct forge_fault *fault)
{
    if (search->started) {
        pthread_join(search->leader, NULL);
        search->started = false;
    }
    memset(found, 0, sizeof *found);
    *fault = search->fault;
    found->status = fault->status;
    if (found->status != FORGE_OK)
        return found->status;
    found->templates = &search->templates;
    found->rows = search->rows;
    bound(search, found);
    return FORGE_OK;
}

void forge_search_destroy(struct forge_search *search)
{
    if (search == NULL)
        return;
    forge_search_stop(search);
    if (search->started)
        pthread_join(search->leader, NULL);
    for (uint32_t t = 0; search->rows != NULL && t < search->templates.count; t++)
        forge_rows_clear(&search->rows[t]);
    free(search->rows);
    free(search->least);
    free(search->order);
    forge_templates_clear(&search->templates);
    forge_fronts_clear(&search->fronts);
    pthread_cond_destroy(&search->ended_signal);
    pthread_mutex_destroy(&search->lock);
    free(search);
}
