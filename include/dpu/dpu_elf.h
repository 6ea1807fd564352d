/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_elf.h: DPU programs as files: sections, symbols, and what the run time of a program tells.
 *
 * Files are opened by dpu_elf_open() or dpu_elf_map(), and closed by dpu_elf_close(). One file may
 * be read by several threads.
 */
#ifndef DPU_ELF_H
#define DPU_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EM_DPU 245

typedef struct _dpu_elf_symbol_t {
    char *name;
    unsigned int value;
    unsigned int size;
} dpu_elf_symbol_t;

typedef struct _dpu_elf_symbols_t {
    unsigned int nr_symbols;
    dpu_elf_symbol_t *map;
} dpu_elf_symbols_t;

/* A symbol of the run time. For one in IRAM value and size count instructions, for one in MRAM the
 * value counts from its beginning. Without the symbol value is UINT32_MAX, or 0 for mcount,
 * ret_mcount and thread_profiling. */
typedef struct _dpu_elf_runtime_info_item {
    uint32_t value;
    uint32_t size;
    bool exists;
} dpu_elf_runtime_info_item_t;

typedef struct _dpu_elf_runtime_info {
    dpu_elf_runtime_info_item_t sys_heap_pointer_reset;
    dpu_elf_runtime_info_item_t sys_heap_pointer;
    dpu_elf_runtime_info_item_t sys_wq_table;
    dpu_elf_runtime_info_item_t sys_stack_table;
    dpu_elf_runtime_info_item_t printf_buffer;
    dpu_elf_runtime_info_item_t printf_state;
    dpu_elf_runtime_info_item_t sys_end;
    dpu_elf_runtime_info_item_t mcount;
    dpu_elf_runtime_info_item_t ret_mcount;
    dpu_elf_runtime_info_item_t thread_profiling;
    dpu_elf_runtime_info_item_t nr_threads;
    dpu_elf_runtime_info_item_t perfcounter_end_value;
    dpu_elf_runtime_info_item_t open_print_sequence;
    dpu_elf_runtime_info_item_t close_print_sequence;
    /* Names begin with __atomic_bit_, __semaphore_, __barrier_. */
    dpu_elf_symbols_t mutex_info;
    dpu_elf_symbols_t semaphore_info;
    dpu_elf_symbols_t barrier_info;
} dpu_elf_runtime_info_t;

typedef void *dpu_elf_file_t;

/* DPU_ERR_ELF_NO_SUCH_FILE if it cannot be read, else the errors of dpu_load(). */
dpu_error_t dpu_elf_open(const char *path, dpu_elf_file_t *file);
/* SIZE bytes at MEMORY are copied. */
dpu_error_t dpu_elf_map(uint8_t *memory, unsigned int size, dpu_elf_file_t *file,
                        const char *filename_or_null);
void dpu_elf_close(dpu_elf_file_t file);

/* The names belong to the file, the array, to be freed, to the caller. */
dpu_error_t dpu_elf_get_sections(dpu_elf_file_t file, unsigned int *nr_sections, char ***sections);
/* A copy, to be freed; DPU_ERR_ELF_NO_SUCH_SECTION. */
dpu_error_t dpu_elf_load_section(dpu_elf_file_t file, const char *name, unsigned int *size,
                                 uint8_t **buffer);
/* The symbols of a section, with values as in the runtime information; by dpu_elf_free_symbols()
 * they are freed. */
dpu_error_t dpu_elf_load_symbols(dpu_elf_file_t file, const char *name,
                                 dpu_elf_symbols_t **symbols);
void dpu_elf_free_symbols(dpu_elf_symbols_t *symbols);

/* free_runtime_info() frees the three lists. */
void dpu_elf_get_runtime_info(dpu_elf_file_t file, dpu_elf_runtime_info_t *runtime_info);
void free_runtime_info(dpu_elf_runtime_info_t *runtime_info);

/*
 * Writes a core file: IRAM (8 bytes per instruction), WRAM, MRAM and a serialised context, each of
 * which may be NULL with size 0, with the symbols of the program at EXE_PATH, which may be NULL.
 */
dpu_error_t dpu_elf_create_core_dump(const char *exe_path, const char *core_file_path,
                                     uint8_t *wram, uint8_t *mram, uint8_t *iram, uint8_t *context,
                                     uint32_t wram_size, uint32_t mram_size, uint32_t iram_size,
                                     uint32_t context_size);

#ifdef __cplusplus
}
#endif

#endif
