/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libveo, once: the function table, the names that are looked up, the report of
 * missing symbols and the check of the twin's signatures all derive from these two lists. Types
 * come from the declarations in include/.
 */
#ifndef VEO_SYMBOLS_H
#define VEO_SYMBOLS_H

/* The vendor's API, version 16. */
#define VEO_SYMBOLS(X) \
    X(veo_api_version) \
    X(veo_version_string) \
    X(veo_proc_create) \
    X(veo_proc_create_static) \
    X(veo_proc_destroy) \
    X(veo_proc_identifier) \
    X(veo_get_ve_arch) \
    X(veo_load_library) \
    X(veo_unload_library) \
    X(veo_get_sym) \
    X(veo_context_open) \
    X(veo_context_open_with_attr) \
    X(veo_context_close) \
    X(veo_get_context_state) \
    X(veo_context_sync) \
    X(veo_num_contexts) \
    X(veo_get_context) \
    X(veo_req_block_begin) \
    X(veo_req_block_end) \
    X(veo_alloc_thr_ctxt_attr) \
    X(veo_free_thr_ctxt_attr) \
    X(veo_set_thr_ctxt_stacksize) \
    X(veo_get_thr_ctxt_stacksize) \
    X(veo_args_alloc) \
    X(veo_args_clear) \
    X(veo_args_free) \
    X(veo_args_set_i64) \
    X(veo_args_set_u64) \
    X(veo_args_set_i32) \
    X(veo_args_set_u32) \
    X(veo_args_set_i16) \
    X(veo_args_set_u16) \
    X(veo_args_set_i8) \
    X(veo_args_set_u8) \
    X(veo_args_set_double) \
    X(veo_args_set_float) \
    X(veo_args_set_hmem) \
    X(veo_args_set_stack) \
    X(veo_call_async) \
    X(veo_call_async_by_name) \
    X(veo_call_async_vh) \
    X(veo_call_peek_result) \
    X(veo_call_wait_result) \
    X(veo_call_sync) \
    X(veo_alloc_mem) \
    X(veo_free_mem) \
    X(veo_read_mem) \
    X(veo_write_mem) \
    X(veo_async_read_mem) \
    X(veo_async_write_mem) \
    X(veo_alloc_mem_async) \
    X(veo_free_mem_async) \
    X(veo_register_hook) \
    X(veo_get_hook) \
    X(veo_unregister_hook) \
    X(veo_register_hmem_hook_functions) \
    X(veo_unregister_hmem_hook_functions) \
    X(veo_shared_mem_open) \
    X(veo_shared_mem_close) \
    X(veo_shared_mem_attach) \
    X(veo_shared_mem_detach) \
    X(veo_shmget) \
    X(veo_shmat) \
    X(veo_shmdt) \
    X(veo_dma_post) \
    X(veo_dma_poll) \
    X(veo_dma_post_wait) \
    X(veo_register_mem_to_dmaatb) \
    X(veo_unregister_mem_from_dmaatb) \
    X(veo_access_pcircvsyc_register) \
    X(veo_alloc_hmem) \
    X(veo_free_hmem) \
    X(veo_hmemcpy) \
    X(veo_is_ve_addr) \
    X(veo_get_hmem_addr) \
    X(veo_get_max_proc_identifier) \
    X(veo_get_proc_identifier_from_hmem) \
    X(veo_get_proc_handle_from_hmem) \
    X(veo_get_pid_from_hmem) \
    X(veo_get_venum_from_hmem) \
    X(veo_set_proc_identifier)

#endif
