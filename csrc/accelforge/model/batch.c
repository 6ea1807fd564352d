/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/batch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "accelforge/model/scratch.h"

/* Rows that a thread takes at once, and threads at most. */
#define CHUNK 32
#define MAX_THREADS 256

/* State that the threads of one run share. */
struct run {
    struct forge_batch *batch;
    _Atomic size_t next;
    atomic_bool late;
    double deadline;
};

struct worker {
    struct run *run;
    struct forge_scratch *scratch;
    double *row;
    pthread_t thread;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- rows --- */

static enum forge_status set_values(const struct forge_batch *batch, struct forge_scratch *scratch,
                                    size_t row)
{
    for (size_t i = 0; i < batch->series_count; i++) {
        uint32_t value = batch->series[i].value;
        double number = batch->series[i].numbers[row];
        if (!forge_number_fits((enum forge_number)batch->model->problem.numbers[value], number))
            return FORGE_BAD_NUMBER;
        scratch->values[value] = number;
    }
    return FORGE_OK;
}

static void do_row(const struct worker *worker, size_t row)
{
    const struct forge_batch *batch = worker->run->batch;
    struct forge_fault fault;
    enum forge_status status = set_values(batch, worker->scratch, row);
    bool set = status == FORGE_OK;
    if (set)
        status = forge_model_evaluate(batch->model, worker->scratch, worker->scratch->values,
                                      worker->row, &fault);

    double *results = batch->results + row * batch->selected_count;
    for (size_t i = 0; i < batch->selected_count; i++)
        results[i] = set ? worker->row[batch->selected[i]] : NAN;
    batch->statuses[row] = (uint8_t)status;
}

/* Every chunk that is taken is finished: what is done is a prefix of the rows. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct run *run = worker->run;
    while (!atomic_load(&run->late)) {
        size_t first = atomic_fetch_add(&run->next, CHUNK);
        if (first >= run->batch->rows)
            break;
        size_t left = run->batch->rows - first;
        size_t end = first + (left < CHUNK ? left : CHUNK);
        for (size_t row = first; row < end; row++)
            do_row(worker, row);
        if (now() > run->deadline)
            atomic_store(&run->late, true);
    }
    return NULL;
}

/* --- threads --- */

static bool prepare(struct worker *worker, struct run *run)
{
    worker->run = run;
    worker->scratch = forge_scratch_create(run->batch->model);
    worker->row = calloc(run->batch->model->column_count, sizeof(double));
    return worker->scratch != NULL && worker->row != NULL;
}

static void release(struct worker *worker)
{
    forge_scratch_destroy(worker->scratch);
    free(worker->row);
}

static enum forge_status check(const struct forge_batch *batch)
{
    for (size_t i = 0; i < batch->series_count; i++)
        if (batch->series[i].value >= batch->model->problem.value_count)
            return FORGE_BAD_INDEX;
    for (size_t i = 0; i < batch->selected_count; i++)
        if (batch->selected[i] >= batch->model->column_count)
            return FORGE_BAD_INDEX;
    return batch->rows > SIZE_MAX / 2 || batch->next > batch->rows ? FORGE_BAD_INDEX : FORGE_OK;
}

/* No more threads than chunks. */
static unsigned useful_threads(const struct forge_batch *batch, unsigned threads)
{
    size_t chunks = (batch->rows - batch->next + CHUNK - 1) / CHUNK;
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (threads > chunks)
        threads = (unsigned)chunks;
    return threads > 0 ? threads : 1;
}

enum forge_status forge_batch_run(struct forge_batch *batch, unsigned threads, double seconds)
{
    enum forge_status status = check(batch);
    if (status != FORGE_OK || batch->next == batch->rows)
        return status;

    threads = useful_threads(batch, threads);
    struct run run = {.batch = batch, .deadline = now() + seconds};
    atomic_init(&run.next, batch->next);
    atomic_init(&run.late, false);
    struct worker *workers = calloc(threads, sizeof *workers);
    if (workers == NULL || !prepare(&workers[0], &run)) {
        if (workers != NULL)
            release(&workers[0]);
        free(workers);
        return FORGE_OUT_OF_MEMORY;
    }

    /* Fewer threads than asked for do the same work. */
    unsigned started = 1;
    for (; started < threads; started++) {
        struct worker *worker = &workers[started];
        if (!prepare(worker, &run) || pthread_create(&worker->thread, NULL, work, worker) != 0) {
            release(worker);
            break;
        }
    }
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < started; i++)
        release(&workers[i]);
    free(workers);

    size_t done = atomic_load(&run.next);
    batch->next = done < batch->rows ? done : batch->rows;
    return FORGE_OK;
}
