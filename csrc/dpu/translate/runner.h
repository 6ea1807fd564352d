/* SPDX-License-Identifier: BSD-3-Clause */
/* runner.h: running tasklets with translated code, and what a program has of it. */
#ifndef OFFCHIP_DPU_RUNNER_H
#define OFFCHIP_DPU_RUNNER_H

#include "dpu/machine/program.h"
#include "module.h"

/* Translated code of a program. What replaces it covers more; both stay until the program goes. */
struct dpu_host_code {
    struct dpu_loaded loaded;
    struct dpu_host_code *older;
};

/* Translation of a program, from when it is first looked for. */
struct dpu_record {
    struct dpu_translation base;          /* first, so that a pointer to it is one to the record */
    _Atomic(struct dpu_host_code *) code; /* NULL: none yet */
    _Atomic uint32_t state;               /* for translate.c */
    uint32_t attempts;                    /* likewise, with its lock */
    uint64_t counted;                     /* instructions when the code was put there; likewise */
    _Atomic uint64_t missed; /* instructions that the interpreter executed in its place */
    /* Where tasklets came from outside and could not enter. Any thread sets a byte to 1. */
    _Atomic uint8_t missed_at[DPU_MACHINE_IRAM];
};

/* NULL if out of memory. It is freed by base.release(). */
struct dpu_record *dpu_record_new(void);
static inline struct dpu_record *dpu_record_of(struct dpu_program *program)
{
    return (struct dpu_record *)(void *)atomic_load_explicit(&program->translation,
                                                             memory_order_acquire);
}

/* A dpu_runner, for programs with a record: translated code where there is some, and the
 * interpreter for the rest. */
uint32_t dpu_run_translated(struct dpu_machine *machine, struct dpu_thread *t, uint32_t budget);

#endif
