/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.h: profiles of this process, if DPU_PROFILE asks for them (options.h): each DPU that is
 * profiled has an observer at its machine, and what comes of it goes to a file (raw_file.h).
 *
 * What DPUs have executed is merged per program, and written when the last profiled DPU is freed
 * and when the process exits; launches and operations are written when they are over.
 */
#ifndef OFFCHIP_DPU_LIB_RECORDER_H
#define OFFCHIP_DPU_LIB_RECORDER_H

#include "dpu/lib/ranks/rank.h"

#include <stdbool.h>
#include <stdint.h>

/* True if anything is recorded; else the other functions do nothing. */
bool dpulib_records(void);
/* Numbers the launches of sets: 1, 2, ...; 0 if nothing is recorded. */
uint64_t dpulib_record_number(void);
/* For operations on DPUs: a launch is about to begin, and is over. Both without the lock. */
void dpulib_record_begin(struct dpu_t *dpu, uint64_t number);
void dpulib_record_end(struct dpu_t *dpu);
/* That launch did not complete: where and why. Without the lock. */
void dpulib_record_ending(struct dpu_t *dpu, const char *text);
/* Another program was loaded. */
void dpulib_record_load(struct dpu_t *dpu);

struct dpulib_record {
    uint64_t number; /* of a launch */
    int64_t begin;   /* clock_now() when it was submitted */
    double seconds;  /* modelled */
    uint64_t bytes, cycles, instructions, dpus;
    uint32_t what; /* enum dpulib_raw_operation_kind */
};

/* An operation is over. With or without the lock. */
void dpulib_record_operation(const struct dpulib_record *record);

#endif
