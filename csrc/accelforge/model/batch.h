/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch.h: one model with many sets of values, in several threads.
 */
#ifndef OFFCHIP_FORGE_BATCH_H
#define OFFCHIP_FORGE_BATCH_H

#include "accelforge/model/model.h"

/* A value that changes from row to row. */
struct forge_series {
    uint32_t value;
    const double *numbers; /* one per row */
};

struct forge_batch {
    const struct forge_model *model;
    size_t rows;
    size_t next; /* the first row that is not done; 0 at first */
    const struct forge_series *series;
    size_t series_count;
    const uint32_t *selected; /* columns */
    size_t selected_count;
    double *results;   /* rows * selected_count */
    uint8_t *statuses; /* enum forge_status, one per row */
};

/*
 * Evaluates rows from batch->next on, in up to THREADS threads (at least 1; the caller is one of
 * them), until all are done or about SECONDS have passed, and sets batch->next. A row's numbers do
 * not depend on THREADS. FORGE_BAD_INDEX if a series or a column does not exist, or
 * FORGE_OUT_OF_MEMORY; else FORGE_OK. The arrays must not be changed meanwhile.
 */
enum forge_status forge_batch_run(struct forge_batch *batch, unsigned threads, double seconds);

#endif
