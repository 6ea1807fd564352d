/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, offsets and values that programs built against the vendor's headers rely on. */
#include <dpu.h>
#include <dpu_bank_interface_pmc.h>
#include <dpu_checkpoint.h>
#include <dpu_fifo.h>
#include <dpu_log.h>
#include <dpu_log_internals.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <dpu_program.h>
#include <dpu_runner.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type " " #field)
#define VALUE(name, value) _Static_assert((name) == (value), #name)

SIZE(dpu_error_t, 4);
SIZE(dpu_rank_id_t, 2);
SIZE(dpu_id_t, 4);
SIZE(dpu_slice_id_t, 1);
SIZE(dpu_member_id_t, 1);
SIZE(dpu_thread_t, 1);
SIZE(iram_addr_t, 2);
SIZE(iram_size_t, 2);
SIZE(wram_addr_t, 4);
SIZE(mram_addr_t, 4);
SIZE(dpuinstruction_t, 8);
SIZE(dpuword_t, 4);

SIZE(struct dpu_set_t, 24);
AT(struct dpu_set_t, kind, 0);
AT(struct dpu_set_t, list.nr_ranks, 8);
AT(struct dpu_set_t, list.ranks, 16);
AT(struct dpu_set_t, dpu, 8);

SIZE(struct dpu_set_rank_iterator_t, 48);
AT(struct dpu_set_rank_iterator_t, set, 0);
AT(struct dpu_set_rank_iterator_t, count, 8);
AT(struct dpu_set_rank_iterator_t, next_idx, 12);
AT(struct dpu_set_rank_iterator_t, has_next, 16);
AT(struct dpu_set_rank_iterator_t, next, 24);

SIZE(struct dpu_set_dpu_iterator_t, 88);
AT(struct dpu_set_dpu_iterator_t, rank_iterator, 0);
AT(struct dpu_set_dpu_iterator_t, count, 48);
AT(struct dpu_set_dpu_iterator_t, next_idx, 52);
AT(struct dpu_set_dpu_iterator_t, has_next, 56);
AT(struct dpu_set_dpu_iterator_t, next, 64);

SIZE(struct dpu_symbol_t, 8);
SIZE(struct dpu_incbin_t, 24);
AT(struct dpu_incbin_t, size, 8);
AT(struct dpu_incbin_t, path, 16);

SIZE(struct dpu_context_t, 120);
AT(struct dpu_context_t, info.iram_size, 12);
AT(struct dpu_context_t, info.mram_size, 16);
AT(struct dpu_context_t, info.wram_size, 20);
AT(struct dpu_context_t, iram, 24);
AT(struct dpu_context_t, mram, 32);
AT(struct dpu_context_t, wram, 40);
AT(struct dpu_context_t, registers, 48);
AT(struct dpu_context_t, pcs, 56);
AT(struct dpu_context_t, atomic_register, 64);
AT(struct dpu_context_t, zero_flags, 72);
AT(struct dpu_context_t, carry_flags, 80);
AT(struct dpu_context_t, nr_of_running_threads, 88);
AT(struct dpu_context_t, scheduling, 96);
AT(struct dpu_context_t, bkp_fault, 104);
AT(struct dpu_context_t, mem_fault, 106);
AT(struct dpu_context_t, bkp_fault_thread_index, 107);
AT(struct dpu_context_t, mem_fault_thread_index, 109);
AT(struct dpu_context_t, bkp_fault_id, 112);

SIZE(struct sg_block_info, 16);
SIZE(struct sg_xfer_buffer, 32);
AT(struct sg_xfer_buffer, nr_blocks, 24);
SIZE(get_block_t, 24);
AT(get_block_t, args_size, 16);
SIZE(struct dpu_transfer_matrix, 528);
AT(struct dpu_transfer_matrix, sg_ptr, 0);
AT(struct dpu_transfer_matrix, offset, 512);
AT(struct dpu_transfer_matrix, type, 520);
VALUE(DPU_SG_XFER_MATRIX, 1);
SIZE(bank_interface_pmc_config_t, 12);
SIZE(bank_interface_pmc_result_t, 8);
VALUE(BANK_INTERFACE_PMC_CYCLES, 0x80);
SIZE(struct dpu_fifo_rank_t, 2104);
AT(struct dpu_fifo_rank_t, dpu_fifo_pointers, 16);
AT(struct dpu_fifo_rank_t, transfer_matrix, 1568);
AT(struct dpu_fifo_rank_t, max_retries, 2096);

SIZE(struct dpu_program_t, 80);
AT(struct dpu_program_t, printf_buffer_address, 4);
AT(struct dpu_program_t, printf_buffer_size, 8);
AT(struct dpu_program_t, printf_write_pointer_address, 12);
AT(struct dpu_program_t, printf_buffer_has_wrapped_address, 16);
AT(struct dpu_program_t, symbols, 24);
AT(struct dpu_program_t, mcount_address, 32);
AT(struct dpu_program_t, ret_mcount_address, 36);
AT(struct dpu_program_t, thread_profiling_address, 40);
AT(struct dpu_program_t, perfcounter_end_value_address, 44);
AT(struct dpu_program_t, profiling_symbols, 48);
AT(struct dpu_program_t, open_print_sequence_addr, 56);
AT(struct dpu_program_t, close_print_sequence_addr, 60);
AT(struct dpu_program_t, reference_count, 64);
AT(struct dpu_program_t, program_path, 72);
SIZE(dpu_elf_symbol_t, 16);
SIZE(dpu_elf_symbols_t, 16);

SIZE(struct dpu_iterator_t, 32);
AT(struct dpu_iterator_t, next, 24);
SIZE(struct _dpu_run_context_t, 24);

VALUE(DPU_SET_RANKS, 0);
VALUE(DPU_SET_DPU, 1);
VALUE(DPU_ASYNCHRONOUS, 0);
VALUE(DPU_SYNCHRONOUS, 1);
VALUE(DPU_XFER_TO_DPU, 0);
VALUE(DPU_XFER_FROM_DPU, 1);
VALUE(DPU_XFER_NO_RESET, 1);
VALUE(DPU_XFER_ASYNC, 2);
VALUE(DPU_XFER_PARALLEL, 4);
VALUE(DPU_SG_XFER_ASYNC, 2);
VALUE(DPU_SG_XFER_DISABLE_LENGTH_CHECK, 4);
VALUE(DPU_CALLBACK_ASYNC, 1);
VALUE(DPU_CALLBACK_NONBLOCKING, 2);
VALUE(DPU_CALLBACK_SINGLE_CALL, 4);
VALUE(DPU_CALLBACK_PARALLEL, 8);
VALUE(DPU_CHECKPOINT_ALL, 0x1b);
VALUE(DPU_ALLOCATE_ALL, 0xFFFFFFFF);
VALUE(DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER, 14);
VALUE(DPU_ERR_DPU_FAULT, 23);
VALUE(DPU_ERR_SG_NOT_MRAM_SYMBOL, 42);
VALUE(DPU_ERR_ASYNC_JOBS, 0x80000000);
VALUE(HW, 3);
