# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: the table of csrc/dispatch/accl_table.h, with the functions that are called."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from offchip.libloader cimport offchip_library


cdef extern from "accl_table.h" nogil:
    enum:
        ACCL_OK
        ACCL_PENDING
        ACCL_CALL_FAILED
        ACCL_INVALID
        ACCL_NO_MEMORY
        ACCL_NOT_READY
        ACCL_CLOSED
        ACCL_FORKED
        ACCL_UNSUPPORTED
        ACCL_INTERRUPTED
        ACCL_IN_USE
        ACCL_SYSTEM
        ACCL_NOT_FOUND

        ACCL_ABI_VERSION
        ACCL_SYMBOL_COUNT
        ACCL_EXCHANGE_SIZE

        ACCL_CONFIG
        ACCL_COPY
        ACCL_COMBINE
        ACCL_SEND
        ACCL_RECV
        ACCL_BCAST
        ACCL_REDUCE
        ACCL_ALLREDUCE
        ACCL_REDUCE_SCATTER
        ACCL_BARRIER
        ACCL_NOP

        ACCL_COMPLETED
        ACCL_REACH_AUTO
        ACCL_REACH_SHARED
        ACCL_REACH_PACKETS

        ACCL_KIND_ROOTED
        ACCL_WORK_COMPUTES
        ACCL_SHARE_ONE
        ACCL_SHARE_EACH

        ACCL_PROD

        ACCL_ARITHMETIC_NONE

        ACCL_NONE
        ACCL_INT8
        ACCL_INT64
        ACCL_BITS8
        ACCL_BITS16
        ACCL_BITS32
        ACCL_BITS64

        ACCL_OP0_COMPRESSED
        ACCL_OP1_COMPRESSED
        ACCL_RES_COMPRESSED
        ACCL_ETH_COMPRESSED
        ACCL_OP0_STREAM
        ACCL_RES_STREAM
        ACCL_OP0_HOST
        ACCL_OP1_HOST
        ACCL_RES_HOST
        ACCL_OP0_ARRAY
        ACCL_RES_ARRAY
        ACCL_OP0_SYNC
        ACCL_RES_SYNC
        ACCL_STREAM_LOOPBACK
        ACCL_STREAM_HOOK
        ACCL_STREAM_QUEUE
        ACCL_MEMORY_SEPARATE
        ACCL_MEMORY_UNIFIED
        ACCL_BUFFER_HOST_ONLY
        ACCL_BUFFER_ZERO

    struct accl_operation_facts:
        const char *name
        uint32_t operation
        uint8_t kind
        uint8_t work
        uint8_t root_reads
        uint8_t root_writes
        uint8_t reads
        uint8_t writes

    struct accl_device:
        pass
    struct accl_buffer:
        pass
    struct accl_request:
        pass
    struct accl_config:
        uint32_t size
        uint32_t memory_mode
        uint32_t stack
        uint64_t memory_bytes
        const char *job
        const char *xclbin
        const char *endpoint
        int32_t board_index
        int32_t cclo_index
    struct accl_rank:
        uint32_t ip
        uint32_t port
        uint32_t inbound_sequence
        uint32_t outbound_sequence
        uint32_t session
        uint32_t max_segment_size
        uint32_t reach
    struct accl_communicator_info_t "accl_communicator_info":
        uint32_t size
        uint32_t ranks
        uint32_t local_rank
        uint32_t exchange_address
        uint64_t key
    struct accl_memory_info_t "accl_memory_info":
        uint32_t size
        uint32_t memory_mode
        uint64_t capacity
        uint64_t allocated
        uint64_t base
    struct accl_call:
        uint32_t size
        uint32_t operation
        uint64_t count
        uint32_t comm
        uint32_t root_src_dst
        uint32_t function
        uint32_t tag
        uint32_t dtype
        uint32_t compressed_dtype
        uint32_t compression_flags
        uint32_t stream_flags
        uint32_t host_flags
        uint32_t meaning
        uint64_t address[3]
    struct accl_packet:
        uint32_t size
        uint32_t rank
        uint64_t id
        void *data
        uint64_t bytes
    struct accl_mpi:
        uint32_t size
        const char *library
        uint64_t comm
        uint64_t byte
        uint32_t handle_bytes
        uint32_t status_bytes
        uint32_t status_source
        uint32_t status_tag
        int32_t any_source
        int32_t any_tag
        uint32_t any_thread
        uint32_t reductions
        uint64_t reduction_comm
        uint64_t reduction_types[4]
        uint64_t reduction_functions[4]

    struct accl_table:
        int (*accl_abi_version)() noexcept nogil
        const char *(*accl_version)() noexcept nogil
        const char *(*accl_error_message)() noexcept nogil
        const char *(*accl_status_text)(int) noexcept nogil
        const char *(*accl_error_name)(unsigned) noexcept nogil
        const char *(*accl_error_text)(unsigned) noexcept nogil
        int (*accl_open)(const accl_config *, accl_device **) noexcept nogil
        void (*accl_close)(accl_device *) noexcept nogil
        void (*accl_set_interrupt_check)(accl_device *, int (*)(void *) noexcept nogil,
                                         void *) noexcept nogil
        int (*accl_setup_rx_buffers)(accl_device *, uint32_t, uint64_t) noexcept nogil
        int (*accl_create_communicator)(accl_device *, const accl_rank *, uint32_t, uint32_t,
                                        uint32_t *) noexcept nogil
        int (*accl_split_communicator)(accl_device *, uint32_t, const uint32_t *, uint32_t,
                                       uint32_t *) noexcept nogil
        int (*accl_free_communicator)(accl_device *, uint32_t) noexcept nogil
        int (*accl_communicator_info)(accl_device *, uint32_t,
                                      accl_communicator_info_t *) noexcept nogil
        int (*accl_communicator_ranks)(accl_device *, uint32_t, accl_rank *,
                                       uint32_t) noexcept nogil
        int (*accl_communicator_at)(accl_device *, uint32_t, uint32_t *) noexcept nogil
        int (*accl_exchange_read)(accl_device *, uint32_t, uint32_t *) noexcept nogil
        int (*accl_exchange_write)(accl_device *, uint32_t, uint32_t) noexcept nogil
        int (*accl_get_settings)(accl_device *, uint32_t *, uint64_t *) noexcept nogil
        int (*accl_buffer_create)(accl_device *, uint64_t, uint32_t, uint32_t,
                                  accl_buffer **) noexcept nogil
        void (*accl_buffer_free)(accl_buffer *) noexcept nogil
        void *(*accl_buffer_host)(const accl_buffer *) noexcept nogil
        uint64_t (*accl_buffer_address)(const accl_buffer *) noexcept nogil
        uint64_t (*accl_buffer_bytes)(const accl_buffer *) noexcept nogil
        int (*accl_buffer_sync_to_device)(accl_buffer *, uint64_t, uint64_t) noexcept nogil
        int (*accl_buffer_sync_from_device)(accl_buffer *, uint64_t, uint64_t) noexcept nogil
        int (*accl_memory_read)(accl_device *, uint64_t, void *, uint64_t) noexcept nogil
        int (*accl_memory_write)(accl_device *, uint64_t, const void *, uint64_t) noexcept nogil
        int (*accl_memory_info)(accl_device *, accl_memory_info_t *) noexcept nogil
        int (*accl_call_sync)(accl_device *, const accl_call *, uint32_t *) noexcept nogil
        int (*accl_call_start)(accl_device *, const accl_call *, accl_request **, size_t,
                               accl_request **) noexcept nogil
        int (*accl_request_wait)(accl_request *, int64_t) noexcept nogil
        int (*accl_request_state)(const accl_request *) noexcept nogil
        uint32_t (*accl_request_retcode)(const accl_request *) noexcept nogil
        const char *(*accl_request_message)(const accl_request *) noexcept nogil
        uint64_t (*accl_request_duration)(const accl_request *) noexcept nogil
        void (*accl_request_free)(accl_request *) noexcept nogil
        int (*accl_last_call)(accl_device *, uint32_t *, uint64_t *) noexcept nogil
        int (*accl_stream_mode)(accl_device *, int,
                                void (*)(void *, uint32_t, const void *, size_t) noexcept nogil,
                                void *) noexcept nogil
        int (*accl_stream_push)(accl_device *, const void *, size_t) noexcept nogil
        int (*accl_stream_pull)(accl_device *, uint32_t *, void *, size_t, size_t *,
                                int64_t) noexcept nogil
        int (*accl_next_tags)(accl_device *, uint32_t, int64_t *, uint32_t) noexcept nogil
        int (*accl_dump_rx_buffers)(accl_device *, char *, size_t, size_t *) noexcept nogil
        int (*accl_dump_communicator)(accl_device *, uint32_t, char *, size_t,
                                      size_t *) noexcept nogil
        int (*accl_dump_exchange_memory)(accl_device *, char *, size_t, size_t *) noexcept nogil
        int (*accl_dump_waits)(accl_device *, char *, size_t, size_t *) noexcept nogil
        int (*accl_packet_next)(accl_device *, accl_packet *) noexcept nogil
        int (*accl_packet_done)(accl_device *, uint64_t) noexcept nogil
        int (*accl_packet_space)(accl_device *, uint64_t, accl_packet *) noexcept nogil
        int (*accl_packet_arrived)(accl_device *, uint32_t, uint64_t) noexcept nogil
        int (*accl_packet_wait)(accl_device *, int64_t) noexcept nogil
        int (*accl_packet_wake)(accl_device *) noexcept nogil
        int (*accl_packet_outstanding)(accl_device *, uint64_t *) noexcept nogil
        int (*accl_packet_leave)(accl_device *) noexcept nogil
        int (*accl_packet_lost)(accl_device *, uint32_t, const char *) noexcept nogil
        int (*accl_mpi_start)(accl_device *, const accl_mpi *) noexcept nogil
        int (*accl_mpi_stop)(accl_device *, int64_t) noexcept nogil

    const char *const accl_symbol_names[]
    int accl_table_open(const char *path, accl_table *table, offchip_library *lib)
    bint accl_table_trace(accl_table *table)
    void accl_table_untrace(accl_table *table)
