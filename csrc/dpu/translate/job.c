/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include "generate.h"
#include "hostcode/carried_text.h"
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* Digests of the sources of this folder and of what they use. */
TEXT_OF(dpu_translator_sums, "translator.sums");

static void make_key(const struct dpu_program *program, const struct host_compiler *compiler,
                     uint32_t lanes, uint8_t key[SHA256_SIZE])
{
    const uint32_t numbers[] = {program->switches, program->wram_size, lanes};
    struct sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, dpu_translator_sums, strlen(dpu_translator_sums));
    sha256_add(&hash, numbers, sizeof numbers);
    sha256_add(&hash, program->iram, sizeof program->iram);
    sha256_add(&hash, compiler->stamp, strlen(compiler->stamp));
    sha256_end(&hash, key);
}

/* A program, whether all of it is translated, and for how many DPUs; 0: for one. */
struct choice {
    struct dpu_program *program;
    bool everything;
    uint32_t lanes;
};

static void choose(struct dpu_plan *plan, struct dpu_program *program, bool everything,
                   uint32_t lanes)
{
    struct dpu_record *record = dpu_record_of(program);
    const struct dpu_host_code *code = atomic_load(&record->code);
    const struct dpu_lanes_module *older = atomic_load(&record->lanes);
    uint8_t missed[DPU_MACHINE_IRAM];
    dpu_plan_decode(plan, program->iram, program->switches);
    if (lanes != 0)
        dpu_plan_for_lanes(plan);
    if (everything)
        dpu_plan_want_reachable(plan, 0);

    for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM; pc++) {
        bool ran =
            __atomic_load_n(&program->operations[pc].code, __ATOMIC_ACQUIRE) != DPU_CODE_DECODE;
        bool covered = code != NULL && code->loaded.module->wanted[pc] != 0;
        covered |= lanes != 0 && older != NULL && older->loaded.module->wanted[pc] != 0;
        plan->wanted[pc] |= ran || covered;
        missed[pc] = atomic_load_explicit(&record->missed_at[pc], memory_order_relaxed);
    }

    dpu_plan_find_blocks(plan, missed);
}

static void write_source(FILE *out, void *argument)
{
    const struct choice *choice = argument;
    struct dpu_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return; /* no compiler takes that for a program with the symbol */

    choose(plan, choice->program, choice->everything, choice->lanes);
    dpu_generate(out, plan, choice->program->switches, choice->program->wram_size, choice->lanes);
    free(plan);
}

bool dpu_job_find(const struct dpu_program *program, uint32_t lanes, struct dpu_loaded *loaded)
{
    struct host_compiler compiler;
    struct host_build build = {.symbol = DPU_MODULE_NAME};
    if (!host_compiler_find(&compiler, "DPU_SOFT_CC"))
        return false;

    make_key(program, &compiler, lanes, build.key);
    return host_build_find(&build, &loaded->object) && dpu_module_take(loaded);
}

bool dpu_job_compile(struct dpu_program *program, bool everything, uint32_t lanes,
                     struct dpu_loaded *loaded, struct host_build_figures *figures)
{
    struct host_compiler compiler;
    struct choice choice = {program, everything, lanes};
    struct host_build build = {
        .compiler = &compiler,
        .write = write_source,
        .argument = &choice,
        .symbol = DPU_MODULE_NAME,
    };
    *figures = (struct host_build_figures){0};
    if (!host_compiler_find(&compiler, "DPU_SOFT_CC"))
        return false;
    /* A launch waits for the compiler then. */
    if (everything)
        compiler.nice = 0;

    make_key(program, &compiler, lanes, build.key);
    return host_build_make(&build, &loaded->object, figures) && dpu_module_take(loaded);
}
