/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/search/pareto.h"

#include <stdlib.h>
#include <string.h>

struct table {
    const double *rows;
    uint32_t width;
};

/* By their numbers from the first on, then by their place. */
static int compare_rows(const void *a, const void *b, void *argument)
{
    const struct table *table = argument;
    uint32_t i = *(const uint32_t *)a;
    uint32_t j = *(const uint32_t *)b;
    const double *x = &table->rows[(size_t)i * table->width];
    const double *y = &table->rows[(size_t)j * table->width];
    for (uint32_t c = 0; c < table->width; c++) {
        if (x[c] < y[c])
            return -1;
        if (x[c] > y[c])
            return 1;
    }
    return (i > j) - (i < j);
}

static int compare_places(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a;
    uint32_t j = *(const uint32_t *)b;
    return (i > j) - (i < j);
}

static bool is_as_good(const double *a, const double *b, uint32_t width, const double *tolerances)
{
    for (uint32_t c = 0; c < width; c++)
        if (!forge_at_most(a[c], b[c], tolerances == NULL ? 0 : tolerances[c]))
            return false;
    return true;
}

static uint32_t least(const double *rows, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (rows[i] < rows[best])
            best = i;
    return best;
}

uint32_t forge_pareto(const double *rows, uint32_t count, uint32_t width, const double *tolerances,
                      uint32_t *kept, uint32_t *scratch)
{
    if (count == 0)
        return 0;
    if (count == 1 || width == 0) {
        kept[0] = 0;
        return 1;
    }
    if (width == 1) {
        kept[0] = least(rows, count);
        return 1;
    }

    for (uint32_t i = 0; i < count; i++)
        scratch[i] = i;
    struct table table = {rows, width};
    qsort_r(scratch, count, sizeof *scratch, compare_rows, &table);

    /* Whoever dropped a row last is likely to drop the next: it comes first. */
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = &rows[(size_t)scratch[i] * width];
        uint32_t k = 0;
        while (k < kept_count &&
               !is_as_good(&rows[(size_t)kept[k] * width], row, width, tolerances))
            k++;
        if (k == kept_count) {
            kept[kept_count++] = scratch[i];
            continue;
        }
        uint32_t better = kept[k];
        kept[k] = kept[k / 2];
        kept[k / 2] = better;
    }
    qsort(kept, kept_count, sizeof *kept, compare_places);
    return kept_count;
}
