/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_program.h: a program that was loaded.
 *
 * It lives for as long as a DPU has it, or a reference to it is held; it is only read.
 * Addresses are -1 for what the program does not have.
 */
#ifndef DPU_PROGRAM_H
#define DPU_PROGRAM_H

#include "dpu_elf.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpu_program_t {
    uint8_t nr_threads_enabled; /* NR_TASKLETS */
    int32_t printf_buffer_address;
    int32_t printf_buffer_size;
    int32_t printf_write_pointer_address;
    int32_t printf_buffer_has_wrapped_address;
    dpu_elf_symbols_t *symbols; /* those that the host may access */
    int32_t mcount_address;
    int32_t ret_mcount_address;
    int32_t thread_profiling_address;
    int32_t perfcounter_end_value_address;
    dpu_elf_symbols_t *profiling_symbols;
    int32_t open_print_sequence_addr;
    int32_t close_print_sequence_addr;
    int32_t reference_count;
    char *program_path; /* NULL if it was loaded from memory */
};

/* No user yet; for programs of dpu_load_elf_program(). */
void dpu_init_program_ref(struct dpu_program_t *program);
/* One more user of a program, and one fewer: the last one frees it. */
void dpu_take_program_ref(struct dpu_program_t *program);
void dpu_free_program(struct dpu_program_t *program);
/* NULL if nothing has been loaded. */
struct dpu_program_t *dpu_get_program(struct dpu_t *dpu);
/* Tells the library what a DPU has, without writing to its memories or counting users: each DPU
 * that keeps the program gives up one user when it is loaded or freed. */
void dpu_set_program(struct dpu_t *dpu, struct dpu_program_t *program);
/* The program that all DPUs of a set have, or the error of dpu_copy_to(). */
dpu_error_t dpu_get_common_program(struct dpu_set_t *dpu_set, struct dpu_program_t **program);

/*
 * Reads a file into a structure that the caller has allocated by malloc(), and opens it as
 * *elf_info, to be closed by dpu_elf_close(). No DPU is touched. MRAM_SIZE_HINT is where the symbol
 * __sys_used_mram_end ends.
 */
dpu_error_t dpu_load_elf_program(dpu_elf_file_t *elf_info, const char *path,
                                 struct dpu_program_t *program, mram_size_t mram_size_hint);
dpu_error_t dpu_load_elf_program_from_memory(dpu_elf_file_t *elf_info, const char *path,
                                             uint8_t *buffer_start, size_t buffer_size,
                                             struct dpu_program_t *program,
                                             mram_size_t mram_size_hint);

#ifdef __cplusplus
}
#endif

#endif
