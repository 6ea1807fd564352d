/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_load.c: the functions of dpu_loader.h. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/programs/elf_file.h"
#include "dpu/lib/ranks/check.h"
#include "dpu_elf.h"
#include "dpu_loader.h"
#include "dpu_memory.h"

#include <stdlib.h>
#include <string.h>

DPU_EXPORT void dpu_loader_fill_dpu_context(dpu_loader_context_t context, struct dpu_t *dpu)
{
    memset(context, 0, sizeof *context);
    context->env.target = DPU_LOADER_TARGET_DPU;
    context->env.dpu = dpu;
}

DPU_EXPORT void dpu_loader_fill_rank_context(dpu_loader_context_t context, struct dpu_rank_t *rank)
{
    memset(context, 0, sizeof *context);
    context->env.target = DPU_LOADER_TARGET_RANK;
    context->env.rank = rank;
}

static dpu_error_t write_iram(const struct _dpu_loader_env_t *env, uint32_t at, const void *words,
                              uint32_t count)
{
    if (env->target == DPU_LOADER_TARGET_DPU)
        return dpu_copy_to_iram_for_dpu(env->dpu, (iram_addr_t)at, words, (iram_size_t)count);
    return dpu_copy_to_iram_for_rank(env->rank, (iram_addr_t)at, words, (iram_size_t)count);
}

static dpu_error_t write_wram(const struct _dpu_loader_env_t *env, uint32_t at, const void *words,
                              uint32_t count)
{
    if (env->target == DPU_LOADER_TARGET_DPU)
        return dpu_copy_to_wram_for_dpu(env->dpu, at, words, count);
    return dpu_copy_to_wram_for_rank(env->rank, at, words, count);
}

static dpu_error_t write_mram(const struct _dpu_loader_env_t *env, uint32_t at, void *bytes,
                              uint32_t count)
{
    if (env->target == DPU_LOADER_TARGET_DPU)
        return dpu_copy_to_mram(env->dpu, at, bytes, count);
    struct dpu_transfer_matrix matrix = {.offset = at, .size = count};
    dpu_transfer_matrix_set_all(env->rank, &matrix, bytes);
    return dpu_copy_to_mrams(env->rank, &matrix);
}

static dpu_error_t load_segment(const struct dpu_elf_segment *segment, dpu_loader_context_t context)
{
    uint32_t unit = segment->memory == DPU_ELF_IRAM ? 8 : segment->memory == DPU_ELF_WRAM ? 4 : 1;
    uint32_t at = segment->offset / unit, count = (segment->size + unit - 1) / unit;
    mem_patch_function_t patch = segment->memory == DPU_ELF_IRAM   ? context->patch_iram
                                 : segment->memory == DPU_ELF_WRAM ? context->patch_wram
                                                                   : context->patch_mram;
    if (segment->offset % unit != 0)
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS, "a segment begins within a word");

    uint8_t *content = calloc((size_t)count + 1, unit);
    if (content == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (segment)");

    dpu_elf_copy(segment, 0, content, segment->size);
    dpu_error_t status = DPU_OK;
    if (patch != NULL)
        status = patch(&context->env, content, at, count, true);
    if (status == DPU_OK && segment->memory == DPU_ELF_IRAM) {
        status = write_iram(&context->env, at, content, count);
        context->nr_of_instructions += status == DPU_OK ? count : 0;
    } else if (status == DPU_OK && segment->memory == DPU_ELF_WRAM) {
        status = write_wram(&context->env, at, content, count);
        context->nr_of_wram_words += status == DPU_OK ? count : 0;
    } else if (status == DPU_OK) {
        status = write_mram(&context->env, at, content, count);
        context->nr_of_mram_bytes += status == DPU_OK ? count : 0;
    }

    free(content);
    return status;
}

DPU_EXPORT dpu_error_t dpu_elf_load(dpu_elf_file_t file, dpu_loader_context_t context)
{
    const struct dpulib_elf_file *opened = file;
    if (opened == NULL || context == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "file and context must not be NULL");

    dpu_error_t status = context->env.target == DPU_LOADER_TARGET_DPU
                             ? dpulib_check_dpu(context->env.dpu)
                             : dpulib_check_rank(context->env.rank);
    for (size_t i = 0; i < opened->elf.nsegments && status == DPU_OK; i++) {
        const struct dpu_elf_segment *segment = &opened->elf.segments[i];
        if (segment->memory == DPU_ELF_IRAM || segment->memory == DPU_ELF_WRAM ||
            segment->memory == DPU_ELF_MRAM)
            status = load_segment(segment, context);
    }

    return status;
}
