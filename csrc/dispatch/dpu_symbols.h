/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libdpu, once: the function table, the names that are looked up, the report of
 * missing symbols and the check of the twin's signatures all derive from these lists. Types come
 * from the declarations in include/.
 */
#ifndef DPU_SYMBOLS_H
#define DPU_SYMBOLS_H

/* Functions that the Python package calls: in the vendor's libraries since 2021. */
#define DPU_SYMBOLS(X) \
    X(dpu_error_to_string) \
    X(dpu_alloc) \
    X(dpu_alloc_ranks) \
    X(dpu_free) \
    X(dpu_get_nr_ranks) \
    X(dpu_get_nr_dpus) \
    X(dpu_set_rank_iterator_from) \
    X(dpu_set_rank_iterator_next) \
    X(dpu_set_dpu_iterator_from) \
    X(dpu_set_dpu_iterator_next) \
    X(dpu_load) \
    X(dpu_load_from_memory) \
    X(dpu_get_symbol) \
    X(dpu_launch) \
    X(dpu_status) \
    X(dpu_sync) \
    X(dpu_prepare_xfer) \
    X(dpu_push_xfer) \
    X(dpu_push_xfer_symbol) \
    X(dpu_broadcast_to) \
    X(dpu_broadcast_to_symbol) \
    X(dpu_callback) \
    X(dpu_log_read) \
    X(dpu_checkpoint_save) \
    X(dpu_checkpoint_restore) \
    X(dpu_checkpoint_get_serialized_context_size) \
    X(dpu_checkpoint_serialize) \
    X(dpu_checkpoint_deserialize) \
    X(dpu_checkpoint_free) \
    X(dpu_from_set) \
    X(dpu_get_id)

/* The rest of the API of 2025.1 that programs use: reported when it is missing, and no fault. */
#define DPU_OTHER_SYMBOLS(X) \
    X(dpu_load_from_incbin) \
    X(dpu_copy_to) \
    X(dpu_copy_from) \
    X(dpu_copy_to_symbol) \
    X(dpu_copy_from_symbol) \
    X(dpu_push_sg_xfer) \
    X(dpu_push_sg_xfer_symbol) \
    X(dpu_fifo_prepare_xfer) \
    X(dpu_fifo_push_xfer) \
    X(dpu_link_input_fifo) \
    X(dpu_link_output_fifo) \
    X(dpu_fifo_link_free) \
    X(dpulog_read_for_dpu) \
    X(dpu_get_rank_of_type) \
    X(dpu_free_rank) \
    X(dpu_get) \
    X(dpu_get_rank) \
    X(dpu_get_rank_id) \
    X(dpu_get_slice_id) \
    X(dpu_get_member_id) \
    X(dpu_set_from_rank) \
    X(dpu_set_from_dpu) \
    X(dpu_rank_from_set) \
    X(dpu_get_description)

#endif
