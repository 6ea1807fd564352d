# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: the tables of csrc/dispatch/dpu_table.h, with the functions that are called."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdio cimport FILE
from offchip.libloader cimport offchip_library


cdef extern from "stdbool.h" nogil:
    ctypedef bint bool


cdef extern from "dpu_table.h" nogil:
    ctypedef unsigned int dpu_error_t
    enum:
        DPU_OK
        DPUSOFT_STEPPED
        DPU_ERR_DPU_FAULT
        DPU_SET_RANKS
        DPU_SET_DPU
        DPU_ASYNCHRONOUS
        DPU_SYNCHRONOUS
        DPU_XFER_TO_DPU
        DPU_XFER_FROM_DPU
        DPU_XFER_DEFAULT
        DPU_CHECKPOINT_INTERNAL
        DPU_CHECKPOINT_IRAM
        DPU_CHECKPOINT_MRAM
        DPU_CHECKPOINT_WRAM
        DPU_XFER_ASYNC
        DPU_CALLBACK_DEFAULT
        DPU_CALLBACK_ASYNC
        DPU_CALLBACK_NONBLOCKING
        DPU_CALLBACK_SINGLE_CALL

    struct dpu_rank_t:
        pass
    struct dpu_t:
        pass
    struct _ranks "":
        uint32_t nr_ranks
        dpu_rank_t **ranks
    struct dpu_set_t:
        int kind
        _ranks list
        dpu_t *dpu
    struct dpu_symbol_t:
        uint32_t address
        uint32_t size

    ctypedef struct dpu_elf_symbol_t:
        char *name
        unsigned int value
        unsigned int size
    ctypedef struct dpu_elf_symbols_t:
        unsigned int nr_symbols
        dpu_elf_symbol_t *map
    struct dpu_program_t:
        dpu_elf_symbols_t *symbols
        char *program_path

    struct dpu_set_rank_iterator_t:
        bool has_next
        dpu_set_t next
    struct dpu_set_dpu_iterator_t:
        bool has_next
        dpu_set_t next

    struct _context_info "":
        uint32_t nr_threads
        uint32_t nr_registers
        uint32_t nr_atomic_bits
        uint16_t iram_size
        uint32_t mram_size
        uint32_t wram_size
    struct dpu_context_t:
        _context_info info
        uint64_t *iram
        uint8_t *mram
        uint32_t *wram
        uint32_t *registers
        uint16_t *pcs
        bool *atomic_register
        bool *zero_flags
        bool *carry_flags
        uint8_t nr_of_running_threads
        bool bkp_fault
        bool dma_fault
        bool mem_fault
        uint8_t bkp_fault_thread_index
        uint8_t dma_fault_thread_index
        uint8_t mem_fault_thread_index
        uint32_t bkp_fault_id

    struct _signature "":
        unsigned int chip_id
    struct _memories "":
        uint32_t mram_size
        uint32_t wram_size
        uint32_t iram_size
    struct _dpu_description "":
        uint8_t nr_of_threads
    struct dpu_hw_description_t:
        _signature signature
        _memories memories
        _dpu_description dpu
    struct _dpu_description_t:
        dpu_hw_description_t hw
    ctypedef _dpu_description_t *dpu_description_t

    struct dpu_table:
        const char *(*dpu_error_to_string)(dpu_error_t) noexcept nogil
        dpu_error_t (*dpu_alloc)(uint32_t, const char *, dpu_set_t *) noexcept nogil
        dpu_error_t (*dpu_alloc_ranks)(uint32_t, const char *, dpu_set_t *) noexcept nogil
        dpu_error_t (*dpu_free)(dpu_set_t) noexcept nogil
        dpu_error_t (*dpu_get_nr_ranks)(dpu_set_t, uint32_t *) noexcept nogil
        dpu_error_t (*dpu_get_nr_dpus)(dpu_set_t, uint32_t *) noexcept nogil
        dpu_set_rank_iterator_t (*dpu_set_rank_iterator_from)(dpu_set_t *) noexcept nogil
        void (*dpu_set_rank_iterator_next)(dpu_set_rank_iterator_t *) noexcept nogil
        dpu_set_dpu_iterator_t (*dpu_set_dpu_iterator_from)(dpu_set_t *) noexcept nogil
        void (*dpu_set_dpu_iterator_next)(dpu_set_dpu_iterator_t *) noexcept nogil
        dpu_error_t (*dpu_load)(dpu_set_t, const char *, dpu_program_t **) noexcept nogil
        dpu_error_t (*dpu_load_from_memory)(dpu_set_t, uint8_t *, size_t,
                                            dpu_program_t **) noexcept nogil
        dpu_error_t (*dpu_get_symbol)(dpu_program_t *, const char *,
                                      dpu_symbol_t *) noexcept nogil
        dpu_error_t (*dpu_launch)(dpu_set_t, int) noexcept nogil
        dpu_error_t (*dpu_status)(dpu_set_t, bool *, bool *) noexcept nogil
        dpu_error_t (*dpu_sync)(dpu_set_t) noexcept nogil
        dpu_error_t (*dpu_prepare_xfer)(dpu_set_t, void *) noexcept nogil
        dpu_error_t (*dpu_push_xfer)(dpu_set_t, int, const char *, uint32_t, size_t,
                                     int) noexcept nogil
        dpu_error_t (*dpu_push_xfer_symbol)(dpu_set_t, int, dpu_symbol_t, uint32_t, size_t,
                                            int) noexcept nogil
        dpu_error_t (*dpu_broadcast_to)(dpu_set_t, const char *, uint32_t, const void *, size_t,
                                        int) noexcept nogil
        dpu_error_t (*dpu_broadcast_to_symbol)(dpu_set_t, dpu_symbol_t, uint32_t, const void *,
                                               size_t, int) noexcept nogil
        dpu_error_t (*dpu_callback)(dpu_set_t, dpu_error_t (*)(dpu_set_t, uint32_t, void *)
                                    noexcept nogil, void *, int) noexcept nogil
        dpu_error_t (*dpu_log_read)(dpu_set_t, FILE *) noexcept nogil
        dpu_error_t (*dpu_checkpoint_save)(dpu_set_t, int, dpu_context_t *) noexcept nogil
        dpu_error_t (*dpu_checkpoint_restore)(dpu_set_t, int, dpu_context_t *) noexcept nogil
        uint32_t (*dpu_checkpoint_get_serialized_context_size)(dpu_context_t *) noexcept nogil
        dpu_error_t (*dpu_checkpoint_serialize)(dpu_context_t *, uint8_t **,
                                                uint32_t *) noexcept nogil
        dpu_error_t (*dpu_checkpoint_deserialize)(const uint8_t *, uint32_t,
                                                  dpu_context_t *) noexcept nogil
        dpu_error_t (*dpu_checkpoint_free)(dpu_context_t *) noexcept nogil
        dpu_t *(*dpu_from_set)(dpu_set_t) noexcept nogil
        uint32_t (*dpu_get_id)(dpu_t *) noexcept nogil
        dpu_description_t (*dpu_get_description)(dpu_rank_t *) noexcept nogil

    struct dpusoft_report:
        uint32_t size
        uint32_t status
        uint32_t fault
        uint32_t fault_thread
        uint32_t fault_pc
        uint32_t breakpoint
        uint32_t fault_address
        uint32_t nr_threads
        uint64_t cycles
        uint64_t instructions
        uint64_t dma_read_bytes
        uint64_t dma_write_bytes
        uint64_t *thread_instructions
        double seconds
        uint32_t engine
        uint32_t runtime
        double joules
        uint64_t *more_thread_instructions
        uint64_t cache_bytes
        uint64_t cache_hits
        uint64_t cache_misses
        uint64_t cache_write_backs
        uint64_t cache_fill_bytes

    struct dpusoft_thread:
        uint32_t size
        uint32_t *registers
        uint32_t pc
        uint8_t zero
        uint8_t carry
        uint8_t running

    struct dpusoft_table:
        uint32_t (*dpusoft_version)() noexcept nogil
        const char *(*dpusoft_last_error_detail)() noexcept nogil
        void (*dpusoft_tell_reasons)(bool) noexcept nogil
        dpu_error_t (*dpusoft_get_report)(dpu_set_t, dpusoft_report *) noexcept nogil
        dpu_error_t (*dpusoft_describe_fault)(dpu_set_t, char *, size_t) noexcept nogil
        dpu_error_t (*dpusoft_wait)(dpu_set_t, int64_t, bool *) noexcept nogil
        dpu_error_t (*dpusoft_wait_for_room)(dpu_set_t, int64_t, bool *) noexcept nogil
        dpu_error_t (*dpusoft_waits_for)(dpu_set_t, char *, size_t) noexcept nogil
        dpu_error_t (*dpusoft_interrupt)(dpu_set_t) noexcept nogil
        dpu_error_t (*dpusoft_serve)(int, uint32_t) noexcept nogil
        dpu_error_t (*dpusoft_keep_warnings)(dpu_set_t, bool) noexcept nogil
        dpu_error_t (*dpusoft_take_warning)(dpu_set_t, char *, size_t, uint32_t *) noexcept nogil
        dpu_error_t (*dpusoft_debug_boot)(dpu_set_t) noexcept nogil
        dpu_error_t (*dpusoft_debug_step)(dpu_set_t, uint32_t, uint64_t,
                                          dpusoft_report *) noexcept nogil
        dpu_error_t (*dpusoft_debug_continue)(dpu_set_t, uint64_t,
                                              dpusoft_report *) noexcept nogil
        dpu_error_t (*dpusoft_debug_set_breakpoint)(dpu_set_t, uint32_t, bool) noexcept nogil
        dpu_error_t (*dpusoft_debug_get_thread)(dpu_set_t, uint32_t,
                                                dpusoft_thread *) noexcept nogil
        dpu_error_t (*dpusoft_debug_set_thread)(dpu_set_t, uint32_t,
                                                const dpusoft_thread *) noexcept nogil

    enum:
        DPU_REQUIRED_COUNT
    const char *const *dpu_symbol_names
    int dpu_table_open(const char *path, dpu_table *table, dpusoft_table *soft,
                       offchip_library *lib)
    bint dpu_table_trace(dpu_table *table, dpusoft_table *soft)
    void dpu_table_untrace(dpu_table *table, dpusoft_table *soft)
