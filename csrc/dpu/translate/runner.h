/* SPDX-License-Identifier: BSD-3-Clause */
/* runner.h: running tasklets with translated code, and what a program has of it. */
#ifndef OFFCHIP_DPU_RUNNER_H
#define OFFCHIP_DPU_RUNNER_H

#include "dpu/machine/lockstep.h"
#include "dpu/machine/program.h"
#include "hostcode/shared_object.h"

/* Contents of dpu_module in a generated shared object; generate.c writes the same. */
struct dpu_module {
    uint64_t size; /* of this structure */
    /*
     * Executes a tasklet from PC for at most BUDGET instructions, and stops before what it leaves
     * to the interpreter. STATE is r, zero and carry of struct dpu_thread. Returns what is left of
     * the budget << 32 | the pc.
     */
    uint64_t (*run)(uint32_t *state, uint8_t *wram, uint32_t pc, uint32_t budget);
    /* The same for as many DPUs as LANES says (lockstep.h). One of the two is there. */
    void (*run_lanes)(struct dpu_lanes_call *call, uint8_t *wram, uint32_t id, uint32_t entered);
    uint64_t lanes;
    void (*move_in)(uint8_t *words, uint8_t *const *memories, uint32_t bytes, uint32_t set);
    void (*move_out)(const uint8_t *words, uint8_t *const *memories, uint32_t bytes, uint32_t set);
    /* For each pc, as of dpu_plan_spans(); and whether it is translated. */
    const uint8_t *spans, *wanted;
};

struct dpu_loaded {
    const struct dpu_module *module;
    struct host_object object;
};

#define DPU_MODULE_NAME "dpu_module"

/* Takes the module of an object that was loaded; unloads it and returns false if it is another. */
bool dpu_module_take(struct dpu_loaded *loaded);

/* Loads a shared object from memory, which may be freed afterwards. False if it is not one. */
bool dpu_module_load(struct dpu_loaded *loaded, const void *data, size_t size);
void dpu_module_unload(struct dpu_loaded *loaded);

/* Translated code of a program. What replaces it covers more; both stay until the program goes. */
struct dpu_host_code {
    struct dpu_loaded loaded;
    struct dpu_host_code *older;
};

/* The same for several DPUs. */
struct dpu_lanes_module {
    struct dpu_loaded loaded;
    struct dpu_lanes_code code;
    struct dpu_lanes_module *older;
};

/* Translation of a program, from when it is first looked for. */
struct dpu_record {
    struct dpu_translation base;          /* first, so that a pointer to it is one to the record */
    _Atomic(struct dpu_host_code *) code; /* NULL: none yet */
    _Atomic uint32_t state;               /* for translate.c */
    _Atomic(struct dpu_lanes_module *) lanes; /* as code, lanes_state as state */
    _Atomic uint32_t lanes_state;
    uint32_t lanes_attempts;
    /* Instructions that were interpreted in lockstep, and all, since that code was there. */
    _Atomic uint64_t lanes_missed, lanes_executed;
    /* For gain.c: 1/16 picosecond an instruction, both ways; how often one was tried, and refused.
     */
    _Atomic uint64_t alone, together;
    _Atomic uint32_t trials, refused;
    uint32_t attempts;       /* likewise, with its lock */
    uint64_t counted;        /* instructions when the code was put there; likewise */
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

#endif
