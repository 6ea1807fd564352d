/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_loader.h: bringing the segments of a file into a rank or a DPU, and changing them before. */
#ifndef DPU_LOADER_H
#define DPU_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_elf.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_loader_target_t {
    DPU_LOADER_TARGET_RANK,
    DPU_LOADER_TARGET_DPU
} dpu_loader_target_t;

typedef struct _dpu_loader_env_t {
    dpu_loader_target_t target;
    union {
        struct dpu_rank_t *rank;
        struct dpu_t *dpu;
    };
} *dpu_loader_env_t;

/* May change CONTENT, which is to be written. ADDRESS and SIZE count instructions, words or bytes
 * for IRAM, WRAM, MRAM; an instruction has 8 bytes there. INIT is true for a new program. */
typedef dpu_error_t (*mem_patch_function_t)(dpu_loader_env_t env, void *content,
                                            dpu_mem_max_addr_t address, dpu_mem_max_size_t size,
                                            bool init);

typedef struct _dpu_loader_context_t {
    mem_patch_function_t patch_iram; /* NULL for none, as the others */
    mem_patch_function_t patch_wram;
    mem_patch_function_t patch_mram;
    /* Counts of what dpu_elf_load() has written; it adds. */
    uint32_t nr_of_instructions;
    uint32_t nr_of_wram_words;
    uint32_t nr_of_mram_bytes;
    uint32_t dummy;
    struct _dpu_loader_env_t env;
} *dpu_loader_context_t;

/* A context for the enabled DPUs of a rank, or for one DPU, with no functions and nothing written.
 */
void dpu_loader_fill_dpu_context(dpu_loader_context_t context, struct dpu_t *dpu);
void dpu_loader_fill_rank_context(dpu_loader_context_t context, struct dpu_rank_t *rank);
/* Writes the segments. The DPUs keep the program that they have: see dpu_set_program(). */
dpu_error_t dpu_elf_load(dpu_elf_file_t file, dpu_loader_context_t context);

#ifdef __cplusplus
}
#endif

#endif
