# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: the tables of csrc/dispatch/veo_table.h, with the functions that are called."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from offchip.libloader cimport offchip_library
from posix.types cimport pid_t


cdef extern from "ve_offload.h" nogil:
    struct veo_args
    struct veo_proc_handle
    struct veo_thr_ctxt

    enum: VEO_API_VERSION
    enum: VEO_SYMNAME_LEN_MAX
    enum: VEO_MAX_NUM_ARGS
    uint64_t VEO_REQUEST_ID_INVALID

    enum veo_args_intent:
        VEO_INTENT_IN
        VEO_INTENT_INOUT
        VEO_INTENT_OUT

    enum:
        VEO_COMMAND_OK
        VEO_COMMAND_EXCEPTION
        VEO_COMMAND_ERROR
        VEO_COMMAND_UNFINISHED


cdef extern from "veosoft.h" nogil:
    struct veosoft_column:
        const uint64_t *values
        size_t step

    struct veosoft_calls:
        uint64_t address
        size_t count
        size_t ncolumns
        const veosoft_column *columns
        uint64_t *results
        uint64_t *ended


cdef extern from "veo_table.h" nogil:
    struct veo_table:
        int (*veo_api_version)() noexcept nogil
        const char *(*veo_version_string)() noexcept nogil
        veo_proc_handle *(*veo_proc_create)(int) noexcept nogil
        veo_proc_handle *(*veo_proc_create_static)(int, const char *) noexcept nogil
        int (*veo_proc_destroy)(veo_proc_handle *) noexcept nogil
        int (*veo_proc_identifier)(veo_proc_handle *) noexcept nogil
        int (*veo_get_ve_arch)(int) noexcept nogil
        uint64_t (*veo_load_library)(veo_proc_handle *, const char *) noexcept nogil
        int (*veo_unload_library)(veo_proc_handle *, uint64_t) noexcept nogil
        uint64_t (*veo_get_sym)(veo_proc_handle *, uint64_t, const char *) noexcept nogil
        veo_thr_ctxt *(*veo_context_open)(veo_proc_handle *) noexcept nogil
        int (*veo_context_close)(veo_thr_ctxt *) noexcept nogil
        int (*veo_get_context_state)(veo_thr_ctxt *) noexcept nogil
        void (*veo_context_sync)(veo_thr_ctxt *) noexcept nogil
        veo_thr_ctxt *(*veo_get_context)(veo_proc_handle *, int) noexcept nogil
        veo_args *(*veo_args_alloc)() noexcept nogil
        void (*veo_args_clear)(veo_args *) noexcept nogil
        void (*veo_args_free)(veo_args *) noexcept nogil
        int (*veo_args_set_i64)(veo_args *, int, int64_t) noexcept nogil
        int (*veo_args_set_u64)(veo_args *, int, uint64_t) noexcept nogil
        int (*veo_args_set_i32)(veo_args *, int, int32_t) noexcept nogil
        int (*veo_args_set_u32)(veo_args *, int, uint32_t) noexcept nogil
        int (*veo_args_set_double)(veo_args *, int, double) noexcept nogil
        int (*veo_args_set_float)(veo_args *, int, float) noexcept nogil
        int (*veo_args_set_stack)(veo_args *, veo_args_intent, int, char *, size_t) noexcept nogil
        uint64_t (*veo_call_async)(veo_thr_ctxt *, uint64_t, veo_args *) noexcept nogil
        int (*veo_call_peek_result)(veo_thr_ctxt *, uint64_t, uint64_t *) noexcept nogil
        int (*veo_call_wait_result)(veo_thr_ctxt *, uint64_t, uint64_t *) noexcept nogil
        int (*veo_alloc_mem)(veo_proc_handle *, uint64_t *, size_t) noexcept nogil
        int (*veo_free_mem)(veo_proc_handle *, uint64_t) noexcept nogil
        int (*veo_read_mem)(veo_proc_handle *, void *, uint64_t, size_t) noexcept nogil
        int (*veo_write_mem)(veo_proc_handle *, uint64_t, const void *, size_t) noexcept nogil
        uint64_t (*veo_async_read_mem)(veo_thr_ctxt *, void *, uint64_t, size_t) noexcept nogil
        uint64_t (*veo_async_write_mem)(veo_thr_ctxt *, uint64_t, const void *,
                                        size_t) noexcept nogil
        uint64_t (*veo_free_mem_async)(veo_thr_ctxt *, uint64_t) noexcept nogil
        int (*veo_alloc_hmem)(veo_proc_handle *, void **, size_t) noexcept nogil
        int (*veo_free_hmem)(void *) noexcept nogil
        int (*veo_hmemcpy)(void *, const void *, size_t) noexcept nogil
        int (*veo_is_ve_addr)(const void *) noexcept nogil
        void *(*veo_get_hmem_addr)(void *) noexcept nogil
        int (*veo_get_proc_identifier_from_hmem)(const void *) noexcept nogil
        veo_proc_handle *(*veo_get_proc_handle_from_hmem)(const void *) noexcept nogil
        void *(*veo_set_proc_identifier)(void *, int) noexcept nogil

    struct veosoft_table:
        const char *(*veosoft_version)() noexcept nogil
        int (*veosoft_args_set_signature)(veo_args *, const char *, char) noexcept nogil
        size_t (*veosoft_signature)(veo_proc_handle *, uint64_t, char *, size_t) noexcept nogil
        uint64_t (*veosoft_call_many)(veo_thr_ctxt *, const veosoft_calls *,
                                      const veo_args *) noexcept nogil
        int (*veosoft_call_wait_timed)(veo_thr_ctxt *, uint64_t, uint64_t *,
                                       int64_t) noexcept nogil
        int (*veosoft_call_cancel)(veo_thr_ctxt *, uint64_t) noexcept nogil
        int (*veosoft_context_drain)(veo_thr_ctxt *, int64_t) noexcept nogil
        int64_t (*veosoft_set_wait_limit)(int64_t) noexcept nogil
        size_t (*veosoft_waits_for)(veo_thr_ctxt *, char *, size_t) noexcept nogil
        int (*veosoft_write_at_once)(veo_proc_handle *, uint64_t, const void *,
                                     size_t) noexcept nogil
        veo_thr_ctxt *(*veosoft_main_context)(veo_proc_handle *) noexcept nogil
        const char *(*veosoft_error)() noexcept nogil
        const char *(*veosoft_death_report)(veo_proc_handle *) noexcept nogil
        int (*veosoft_set_quiet)(int) noexcept nogil
        pid_t (*veosoft_worker_pid)(veo_proc_handle *) noexcept nogil
        int (*veosoft_proc_kill)(veo_proc_handle *) noexcept nogil
        int (*veosoft_set_output)(int, int) noexcept nogil
        int (*veosoft_transfers_are_ordered)(veo_proc_handle *) noexcept nogil
        int (*veosoft_node_count)() noexcept nogil
        size_t (*veosoft_heap_used)(veo_proc_handle *) noexcept nogil

    int veo_table_open(const char *path, veo_table *table, veosoft_table *soft,
                       offchip_library *lib)
    bint veo_table_trace(veo_table *table, veosoft_table *soft)
    void veo_table_untrace(veo_table *table, veosoft_table *soft)
