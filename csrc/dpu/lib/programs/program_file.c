/* SPDX-License-Identifier: BSD-3-Clause */
/* program_file.c: programs that callers read into structures of their own. */
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/programs/image.h"
#include "dpu/lib/programs/program.h"
#include "dpu_elf.h"
#include "dpu_program.h"

#include <stdlib.h>
#include <string.h>

static dpu_elf_symbols_t *copy_symbols(const dpu_elf_symbols_t *from, mram_size_t mram_size)
{
    dpu_elf_symbols_t *to = calloc(1, sizeof *to);
    if (to == NULL)
        return NULL;

    to->map = calloc((size_t)from->nr_symbols + 1, sizeof *to->map);
    bool complete = to->map != NULL;
    for (unsigned int i = 0; complete && i < from->nr_symbols; i++) {
        dpu_elf_symbol_t *symbol = &to->map[i];
        *symbol = from->map[i];
        symbol->name = strdup(from->map[i].name);
        complete = symbol->name != NULL;
        to->nr_symbols = i + 1;
        uint32_t used = symbol->value - DPU_ELF_MRAM_BASE;
        if (complete && strcmp(symbol->name, DPU_MRAM_HEAP_POINTER_NAME) == 0 && used <= mram_size)
            symbol->size = mram_size - used;
    }

    if (complete)
        return to;

    dpu_elf_free_symbols(to);
    return NULL;
}

DPU_EXPORT dpu_error_t dpu_load_elf_program_from_memory(dpu_elf_file_t *elf_info, const char *path,
                                                        uint8_t *buffer_start, size_t buffer_size,
                                                        struct dpu_program_t *program,
                                                        mram_size_t mram_size_hint)
{
    if (elf_info == NULL || program == NULL)
        return dpulib_fail(DPU_ERR_INTERNAL, "elf_info and program must not be NULL");

    *elf_info = NULL;
    if (buffer_start == NULL || buffer_size > UINT32_MAX)
        return dpulib_fail(DPU_ERR_ELF_INVALID_FILE,
                           "buffer_start must not be NULL, nor larger than 4 GiB");

    uint8_t *image = malloc(buffer_size + 1);
    if (image == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");

    memcpy(image, buffer_start, buffer_size);
    struct dpulib_program *read;
    dpu_error_t status = dpulib_program_create(image, buffer_size, path, &read);
    if (status != DPU_OK)
        return status;

    struct dpu_program_t made = read->public;
    made.reference_count = program->reference_count;
    made.profiling_symbols = NULL;
    made.symbols = copy_symbols(&read->symbols, mram_size_hint);
    made.program_path = path != NULL ? strdup(path) : NULL;
    dpu_free_program(&read->public);
    if (made.symbols == NULL || (path != NULL && made.program_path == NULL))
        status = dpulib_fail(DPU_ERR_SYSTEM, "out of memory (program)");
    else
        status = dpu_elf_map(buffer_start, (unsigned int)buffer_size, elf_info, path);
    if (status == DPU_OK) {
        *program = made;
        return DPU_OK;
    }

    dpu_elf_free_symbols(made.symbols);
    free(made.program_path);
    return status;
}

DPU_EXPORT dpu_error_t dpu_load_elf_program(dpu_elf_file_t *elf_info, const char *path,
                                            struct dpu_program_t *program,
                                            mram_size_t mram_size_hint)
{
    uint8_t *image;
    size_t size;
    if (path == NULL)
        return dpulib_fail(DPU_ERR_ELF_NO_SUCH_FILE, "no file is named");
    if (dpulib_read_file(path, &image, &size) != DPU_OK)
        return DPU_ERR_ELF_NO_SUCH_FILE;

    dpu_error_t status =
        dpu_load_elf_program_from_memory(elf_info, path, image, size, program, mram_size_hint);
    free(image);
    return status;
}
