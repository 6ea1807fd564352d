/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h: what the chosen tiles of a template cost, as the model says.
 */
#ifndef OFFCHIP_FORGE_RESULTS_H
#define OFFCHIP_FORGE_RESULTS_H

#include "accelforge/search/rows.h"
#include "accelforge/search/sorting.h"
#include "accelforge/search/stages.h"
#include "accelforge/search/template.h"

/* The problem of a template; its tables are of ARENA. Tiles are the last values. */
enum forge_status forge_template_problem(const struct forge_templates *templates,
                                         const struct forge_template *template,
                                         struct forge_arena *arena, struct forge_problem *problem);

/* The memories whose reservations matter outside, each once: how many; LEVELS may be NULL. */
uint32_t forge_tracked_levels(const struct forge_space *space, uint32_t *levels);

struct forge_result_request {
    const struct forge_templates *templates;
    const struct forge_template *template;
    const struct forge_model *model;
    const struct forge_goals *goals;
    const struct forge_stage *stage; /* the last one */
    const struct forge_choice_table *choices;
    struct forge_sorting *sorting;
    bool late; /* what uses a fan-out best is chosen here */
};

/*
 * Evaluates all choices, leaves out those that are invalid or use too little of a fan-out, and
 * keeps the best of those with equal fused tiles.
 */
enum forge_status forge_results_make(const struct forge_result_request *request,
                                     struct forge_rows *rows);

/* Sets whether each loop of row R has more than one iteration: REPEATS, one per loop. */
void forge_results_repeats(const struct forge_templates *templates,
                           const struct forge_template *template, const uint32_t *tiles,
                           bool *repeats);

/*
 * Sets the depth of each holder of row R: the fused loops of more than one iteration above its
 * reservation. Returns how many such loops there are.
 */
uint32_t forge_results_depths(const struct forge_template *template, const struct forge_rows *rows,
                              const bool *repeats, uint32_t *depths);

/* Gets the numbers by which rows with equal fused tiles are compared: objectives, then what each
 * tracked memory holds down to each of FUSED + 1 depths. Returns how many numbers these are. */
uint32_t forge_results_criteria(const struct forge_space *space, const struct forge_rows *rows,
                                uint32_t r, const uint32_t *depths, uint32_t fused,
                                const uint32_t *tracked, uint32_t tracked_count, double *criteria);

/* By how much each of WIDTH criteria may be worse. */
void forge_results_tolerances(const struct forge_space *space, double *tolerances, uint32_t width);

/* Sets POINT to what a row of an unfused template is compared by, as in a front. */
void forge_results_point(const struct forge_space *space, const struct forge_rows *rows, uint32_t r,
                         const uint32_t *tracked, uint32_t tracked_count, double *point);

#endif
