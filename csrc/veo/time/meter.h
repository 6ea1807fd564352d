/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meter.h: how long a core of a real Vector Engine would take for the instructions that one here
 * executes, and the counters that its performance tools show.
 *
 * Instructions are issued in order and begin when their operands are there and a pipe is free. A
 * vector instruction may begin with the first elements of its operands (chaining). docs/veo_time.md
 * says what is modelled, where each constant is from, and how far it is off.
 *
 * A meter belongs to the thread that its core belongs to. Nothing blocks or fails.
 */
#ifndef OFFCHIP_VE_METER_H
#define OFFCHIP_VE_METER_H

#include "veo/machine/core.h"

/* A model of the machine. */
struct ve_time_model {
    const char *name;
#define TIME(field, ve10b, ve20b, unit, source) double field;
#include "veo/time/models.def"
#undef TIME
};

/* The model called NAME ("VE10B", "VE20B"); NULL if there is none. */
const struct ve_time_model *ve_time_model(const char *name);

struct ve_counters {
    double cycles;
    double core_cycles;     /* of all cores, without what they waited for each other */
    double vector_cycles;   /* of all cores, with a vector instruction under way */
    uint64_t bytes;         /* that vector loads and stores move */
    uint64_t instructions;  /* all */
    uint64_t vectors;       /* vector instructions */
    uint64_t elements;      /* of vector instructions */
    uint64_t load_elements; /* of vector loads and gathers */
    uint64_t fma_elements;  /* of those that multiply and add */
    uint64_t flops;         /* floating-point operations, of vectors and scalars */
    uint64_t lengths[VE_VECTOR_LENGTH + 1]; /* vector instructions by their length */
};

enum { VE_METER_PIPES = 3 };

struct ve_meter {
    const struct ve_time_model *model;
    struct ve_counters counters; /* since ve_meter_start(); core_cycles: of other cores */
    double start;                /* when it began */
    double waited;               /* for other cores since then */
    double now;                  /* when the next instruction is issued */
    double end;                  /* when the last result is there */
    double vector_end;           /* the same of vector instructions */
    double port;                 /* when loads and stores of vectors may go on */
    double fma[VE_METER_PIPES], alu[VE_METER_PIPES], divide[VE_METER_PIPES];
    double s[64];
    double first[VE_VECTORS], last[VE_VECTORS]; /* elements of vectors */
    double vm[VE_MASKS];
};

/* Begins a time at START cycles, with nothing under way. */
void ve_meter_start(struct ve_meter *meter, const struct ve_time_model *model, double start);

/* Adds an instruction that CORE has executed. */
void ve_meter_add(struct ve_meter *meter, const struct ve_core *core,
                  const struct ve_instruction *instruction);

/* When everything has ended. */
double ve_meter_now(const struct ve_meter *meter);

/* Waits for another core until a time, unless that has passed. */
void ve_meter_wait(struct ve_meter *meter, double until);

/* Adds what another core did while this one waited for it. */
void ve_meter_take(struct ve_meter *meter, const struct ve_counters *other);

/* The sum of counters, cycles too. */
void ve_counters_add(struct ve_counters *sum, const struct ve_counters *more);

/* The counters, with the cycles until everything has ended. */
struct ve_counters ve_meter_read(const struct ve_meter *meter);

#endif
