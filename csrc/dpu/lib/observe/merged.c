/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/observe/merged.h"

#include "common/sha256.h"
#include "common/text.h"
#include "dpu/profile/arcs.h"

#include <stdlib.h>
#include <string.h>

#define DPUS_MAX 65536
#define NAMELESS ""

struct dpulib_merged {
    struct dpulib_merged *next;
    uint8_t digest[SHA256_SIZE];
    uint32_t number, dpus;
    uint64_t count; /* sites that are not 0 */
    uint32_t rows;  /* of the sites, up to the last tasklet that has one */
    uint8_t seen[DPUS_MAX / 8];
    struct dpulib_raw_site sites[DPU_MACHINE_THREADS_ROOM][DPU_MACHINE_IRAM];
    struct dpu_arcs calls;
};

static struct dpulib_merged *first;
static uint32_t numbers;

#define ENERGY "softInstructionPicojoules"

/* The options of a machine, and the energy of its instructions, as a profile has them. */
static void describe_options(const struct dpu_t *dpu, struct text text)
{
    struct dpu_machine_options options;
    dpu_machine_get_options(dpu->machine, &options);
    text_add(&text, ENERGY "=%u", dpu->rank->configuration.instruction_picojoules);
#define X(key, type, field, ...) \
    text_add(&text, "," key "=%llu", (unsigned long long)options.field);
    DPU_MACHINE_NUMBERS(X)
#undef X
}

static void write_program(struct dpulib_raw_file *file, const struct dpulib_merged *merged,
                          const struct dpulib_program *program, const struct dpu_t *dpu)
{
    /* Each key with a number of at most 20 digits. */
#define X(key, ...) +sizeof key "=,18446744073709551615"
    char options[DPU_MACHINE_NUMBERS(X) X(ENERGY)];
#undef X
    describe_options(dpu, text_new(options, sizeof options));
    const char *path = program->public.program_path;
    path = path != NULL ? path : NAMELESS;
    const struct dpulib_raw_program head = {
        .program = merged->number,
        .path_size = (uint32_t)strlen(path),
        .image_size = (uint32_t)program->image_size,
        .clock_hz = dpulib_clock(&dpu->rank->configuration),
        .options_size = (uint32_t)strlen(options),
    };
    const struct dpulib_raw_part parts[] = {
        {&head, sizeof head},
        {path, head.path_size},
        {program->image, head.image_size},
        {options, head.options_size},
    };
    dpulib_raw_write(file, DPULIB_RAW_PROGRAM, parts, sizeof parts / sizeof *parts);
}

struct dpulib_merged *dpulib_merged_find(struct dpulib_raw_file *file,
                                         const struct dpulib_program *program,
                                         const struct dpu_t *dpu)
{
    struct sha256 hash;
    uint8_t digest[SHA256_SIZE];
    sha256_begin(&hash);
    sha256_add(&hash, program->image, program->image_size);
    sha256_end(&hash, digest);
    for (struct dpulib_merged *merged = first; merged != NULL; merged = merged->next)
        if (memcmp(merged->digest, digest, sizeof digest) == 0)
            return merged;

    struct dpulib_merged *merged = calloc(1, sizeof *merged);
    if (merged == NULL)
        return NULL;

    memcpy(merged->digest, digest, sizeof digest);
    merged->number = ++numbers;
    merged->next = first;
    first = merged;
    write_program(file, merged, program, dpu);
    return merged;
}

uint32_t dpulib_merged_number(const struct dpulib_merged *merged)
{
    return merged->number;
}

static void add(void *context, const struct dpu_profile_site *site)
{
    struct dpulib_merged *merged = context;
    struct dpulib_raw_site *sum = &merged->sites[site->thread][site->pc];
    merged->count += sum->instructions == 0;
    if (merged->rows <= site->thread)
        merged->rows = site->thread + 1u;
    sum->pc = site->pc;
    sum->thread = site->thread;
    sum->instructions += site->instructions;
    sum->issue += site->issue;
    sum->spin += site->spin;
    sum->dma += site->dma;
    sum->sleep += site->sleep;
}

static void add_call(void *context, const struct dpu_profile_call *call)
{
    struct dpulib_merged *merged = context;
    struct dpu_profile_call *sum = dpu_arcs_find(&merged->calls, call->site, call->target);
    if (sum == NULL)
        return;

    sum->count += call->count;
    sum->instructions += call->instructions;
    sum->issue += call->issue;
    sum->spin += call->spin;
    sum->dma += call->dma;
    sum->sleep += call->sleep;
}

void dpulib_merged_take(struct dpulib_merged *merged, struct dpu_profile *profile, uint32_t dpu)
{
    uint8_t *byte = &merged->seen[dpu / 8 % sizeof merged->seen];
    const uint8_t bit = (uint8_t)(1u << dpu % 8);
    merged->dpus += (*byte & bit) == 0;
    *byte |= bit;
    dpu_profile_take_sites(profile, add, merged);
    dpu_profile_take_calls(profile, add_call, merged);
}

static void write_sites(struct dpulib_raw_file *file, struct dpulib_merged *merged)
{
    const struct dpulib_raw_sites head = {merged->number, merged->dpus, merged->count};
    struct dpulib_raw_site *sites = malloc(merged->count * sizeof *sites);
    if (sites == NULL)
        return;

    uint64_t at = 0;
    for (uint32_t thread = 0; thread < merged->rows; thread++)
        for (uint32_t pc = 0; pc < DPU_MACHINE_IRAM && at < merged->count; pc++)
            if (merged->sites[thread][pc].instructions != 0)
                sites[at++] = merged->sites[thread][pc];

    const struct dpulib_raw_part parts[] = {{&head, sizeof head}, {sites, at * sizeof *sites}};
    dpulib_raw_write(file, DPULIB_RAW_SITES, parts, 2);
    free(sites);
}

static void write_calls(struct dpulib_raw_file *file, const struct dpulib_merged *merged)
{
    const struct dpulib_raw_calls head = {.program = merged->number, .count = merged->calls.count};
    struct dpulib_raw_call *calls = malloc(head.count * sizeof *calls);
    if (calls == NULL)
        return;

    uint64_t at = 0;
    for (uint32_t i = 0; i < DPU_ARCS && at < head.count; i++) {
        const struct dpu_profile_call *row = &merged->calls.rows[i];
        if (row->count != 0)
            calls[at++] = (struct dpulib_raw_call){
                .count = row->count,
                .instructions = row->instructions,
                .issue = row->issue,
                .spin = row->spin,
                .dma = row->dma,
                .sleep = row->sleep,
                .site = row->site,
                .target = row->target,
            };
    }

    const struct dpulib_raw_part parts[] = {{&head, sizeof head}, {calls, at * sizeof *calls}};
    dpulib_raw_write(file, DPULIB_RAW_CALLS, parts, 2);
    free(calls);
}

void dpulib_merged_write(struct dpulib_raw_file *file)
{
    for (struct dpulib_merged *merged = first; merged != NULL; merged = merged->next) {
        if (merged->count == 0)
            continue;
        write_sites(file, merged);
        if (merged->calls.count != 0)
            write_calls(file, merged);
        memset(merged->sites, 0, merged->rows * sizeof *merged->sites);
        memset(&merged->calls, 0, sizeof merged->calls);
        memset(merged->seen, 0, sizeof merged->seen);
        merged->count = merged->dpus = merged->rows = 0;
    }
}

void dpulib_merged_reset(void)
{
    while (first != NULL) {
        struct dpulib_merged *next = first->next;
        free(first);
        first = next;
    }

    numbers = 0;
}
