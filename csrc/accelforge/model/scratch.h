/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.h: the arrays that an evaluation works in, and the costs of one Einsum.
 */
#ifndef OFFCHIP_FORGE_SCRATCH_H
#define OFFCHIP_FORGE_SCRATCH_H

#include "accelforge/model/model.h"

struct forge_scratch {
    const struct forge_model *model;
    void *block;                   /* one allocation for all of the arrays */
    struct forge_pace *paces;      /* of all loops of all Einsums */
    double *shares;                /* of all holders: reserved / size */
    double *values;                /* for a caller that changes some */
    struct forge_traffic *traffic; /* of the holders of one Einsum */
    double *prefixes;
    double *unit_reads; /* by level */
    double *unit_writes;
    double *reserved;          /* by level: bits */
    double *used;              /* by dimension, those of one level after those of another */
    double *calls;             /* by action of one level */
    uint32_t *dimension_bases; /* by level */
    bool *unit_tile;           /* by variable */
    bool *busy;                /* by level */
};

/*
 * Counts and costs of Einsum E: sets its columns of ROW, its paces and its shares, and adds to the
 * totals of ROW.
 */
enum forge_status forge_cost_einsum(const struct forge_model *model, struct forge_scratch *scratch,
                                    uint32_t e, const double *values, double *row,
                                    struct forge_fault *fault);

#endif
