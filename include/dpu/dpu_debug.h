/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_debug.h: the state of the tasklets of one DPU.
 *
 * A context gets its arrays from dpu_context_fill_from_rank(). These functions wait for the rank's
 * queue. dpusoft.h has breakpoints and steps that need no context.
 */
#ifndef DPU_DEBUG_H
#define DPU_DEBUG_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates the arrays of a context (not its memories); dpu_free_dpu_context() frees all. */
dpu_error_t dpu_context_fill_from_rank(struct dpu_context_t *context, struct dpu_rank_t *rank);
void dpu_free_dpu_context(struct dpu_context_t *context);

dpu_error_t dpu_extract_pcs_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
/* Registers, flags and atomic bits. */
dpu_error_t dpu_extract_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_restore_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);

/* Fault, pcs, and which tasklets run, of a DPU in fault; this ends the fault. ERROR_STORE_ADDR is
 * where real chips keep what they need meanwhile; nothing is written there. */
dpu_error_t dpu_initialize_fault_process_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context,
                                                 mram_addr_t error_store_addr);
/* One instruction of one tasklet. */
dpu_error_t dpu_execute_thread_step_in_fault_for_dpu(struct dpu_t *dpu, dpu_thread_t thread,
                                                     struct dpu_context_t *context);
/* Lets the tasklets go on. */
dpu_error_t dpu_finalize_fault_process_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);

/* Calls of tools that attach to a running rank of real chips. In simulated ones the host can
 * always reach MRAM, and a debugger uses the functions above: these succeed and do nothing. */
dpu_error_t dpu_set_debug_slice_info(struct dpu_rank_t *rank, uint32_t slice_id,
                                     uint64_t structure_value, uint64_t slice_target,
                                     dpu_bitfield_t host_mux_mram_state);
dpu_error_t dpu_save_context_for_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_restore_context_for_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_restore_mux_context_for_rank(struct dpu_rank_t *rank);

/* Writes a core file, see dpu_elf_create_core_dump(); CONTEXT without its memories is in it. */
dpu_error_t dpu_create_core_dump(struct dpu_rank_t *rank, const char *exe_path,
                                 const char *core_file_path, struct dpu_context_t *context,
                                 uint8_t *wram, uint8_t *mram, uint8_t *iram, uint32_t wram_size,
                                 uint32_t mram_size, uint32_t iram_size);

/* The context that a debugger attached to the DPU: here there is none, *debug_context is NULL. */
dpu_error_t dpu_pop_debug_context(struct dpu_t *dpu, struct dpu_context_t **debug_context);

#ifdef __cplusplus
}
#endif

#endif
