/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h: a program that was read, behind the dpu_program_t that callers see.
 *
 * Programs are counted references: one for each DPU that has it, and one for whoever is about to
 * load it. A dpu_program_t may also be one that a caller filled by dpu_load_elf_program(), behind
 * which there is nothing more.
 */
#ifndef OFFCHIP_DPU_LIB_PROGRAM_H
#define OFFCHIP_DPU_LIB_PROGRAM_H

#include "dpu_error.h"
#include "dpu_program.h"
#include "formats/dpu_elf.h"

#include <stddef.h>
#include <stdint.h>

/* The public part is first, so that a pointer to it is one to the whole. */
struct dpulib_program {
    struct dpu_program_t public;
    struct dpu_elf elf; /* of image */
    uint8_t *image;
    size_t image_size;
    dpu_elf_symbols_t symbols;   /* by name */
    dpu_elf_symbols_t profiling; /* none; its address tells our programs from those of callers */
    struct dpulib_meetings *meetings; /* meetings.h */
    uint64_t *iram;                   /* words of the segments, one after the other */
};

/* NULL for one that a caller made by dpu_load_elf_program(). */
static inline struct dpulib_program *dpulib_program_of(struct dpu_program_t *program)
{
    struct dpulib_program *ours = (struct dpulib_program *)program;
    return program != NULL && program->profiling_symbols == &ours->profiling ? ours : NULL;
}

/*
 * Reads IMAGE, which then belongs to the program, also if this fails. The program has one
 * reference, for dpu_free_program(). PATH is copied, and may be NULL.
 */
dpu_error_t dpulib_program_create(uint8_t *image, size_t size, const char *path,
                                  struct dpulib_program **made);

#endif
