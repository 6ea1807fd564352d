/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of accl.h, once: the function table, the names that are looked up and the report
 * of missing symbols all derive from this list. Types come from the declarations in include/.
 */
#ifndef ACCL_SYMBOLS_H
#define ACCL_SYMBOLS_H

#define ACCL_SYMBOLS(X) \
    X(accl_abi_version) \
    X(accl_version) \
    X(accl_error_message) \
    X(accl_status_text) \
    X(accl_error_name) \
    X(accl_error_text) \
    X(accl_open) \
    X(accl_close) \
    X(accl_set_interrupt_check) \
    X(accl_setup_rx_buffers) \
    X(accl_create_communicator) \
    X(accl_split_communicator) \
    X(accl_free_communicator) \
    X(accl_communicator_info) \
    X(accl_communicator_ranks) \
    X(accl_communicator_at) \
    X(accl_exchange_read) \
    X(accl_exchange_write) \
    X(accl_get_settings) \
    X(accl_buffer_create) \
    X(accl_buffer_slice) \
    X(accl_buffer_free) \
    X(accl_buffer_host) \
    X(accl_buffer_address) \
    X(accl_buffer_bytes) \
    X(accl_buffer_flags) \
    X(accl_buffer_sync_to_device) \
    X(accl_buffer_sync_from_device) \
    X(accl_memory_read) \
    X(accl_memory_write) \
    X(accl_memory_info) \
    X(accl_call_sync) \
    X(accl_call_start) \
    X(accl_request_wait) \
    X(accl_request_state) \
    X(accl_request_retcode) \
    X(accl_request_message) \
    X(accl_request_duration) \
    X(accl_request_free) \
    X(accl_completion_fd) \
    X(accl_last_call) \
    X(accl_stream_mode) \
    X(accl_stream_push) \
    X(accl_stream_pull) \
    X(accl_next_tags) \
    X(accl_dump_rx_buffers) \
    X(accl_dump_communicator) \
    X(accl_dump_exchange_memory) \
    X(accl_dump_waits) \
    X(accl_packet_next) \
    X(accl_packet_done) \
    X(accl_packet_space) \
    X(accl_packet_arrived) \
    X(accl_packet_wait) \
    X(accl_packet_wake) \
    X(accl_packet_outstanding) \
    X(accl_packet_leave) \
    X(accl_packet_lost) \
    X(accl_mpi_start) \
    X(accl_mpi_stop)

#endif
