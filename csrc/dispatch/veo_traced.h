/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * veo_traced.h: the functions of libveo that take time, once: X(result, name, bytes, parameters,
 * arguments).
 */
#ifndef VEO_TRACED_H
#define VEO_TRACED_H

#define VEO_TRACED(X) \
    X(struct veo_proc_handle *, veo_proc_create, 0, (int node), (node)) \
    X(struct veo_proc_handle *, veo_proc_create_static, 0, (int node, const char *path), \
      (node, path)) \
    X(int, veo_proc_destroy, 0, (struct veo_proc_handle * proc), (proc)) \
    X(uint64_t, veo_load_library, 0, (struct veo_proc_handle * proc, const char *path), \
      (proc, path)) \
    X(struct veo_thr_ctxt *, veo_context_open, 0, (struct veo_proc_handle * proc), (proc)) \
    X(int, veo_context_close, 0, (struct veo_thr_ctxt * context), (context)) \
    X(uint64_t, veo_call_async, 0, \
      (struct veo_thr_ctxt * context, uint64_t address, struct veo_args *args), \
      (context, address, args)) \
    X(int, veo_call_wait_result, 0, \
      (struct veo_thr_ctxt * context, uint64_t request, uint64_t *result), \
      (context, request, result)) \
    X(int, veo_alloc_mem, size, \
      (struct veo_proc_handle * proc, uint64_t *address, const size_t size), \
      (proc, address, size)) \
    X(int, veo_free_mem, 0, (struct veo_proc_handle * proc, uint64_t address), (proc, address)) \
    X(int, veo_read_mem, size, \
      (struct veo_proc_handle * proc, void *to, uint64_t from, size_t size), \
      (proc, to, from, size)) \
    X(int, veo_write_mem, size, \
      (struct veo_proc_handle * proc, uint64_t to, const void *from, size_t size), \
      (proc, to, from, size)) \
    X(uint64_t, veo_async_read_mem, size, \
      (struct veo_thr_ctxt * context, void *to, uint64_t from, size_t size), \
      (context, to, from, size)) \
    X(uint64_t, veo_async_write_mem, size, \
      (struct veo_thr_ctxt * context, uint64_t to, const void *from, size_t size), \
      (context, to, from, size)) \
    X(int, veo_hmemcpy, size, (void *to, const void *from, size_t size), (to, from, size))

/* Without a result: X(name, parameters, arguments). */
#define VEO_TRACED_VOID(X) X(veo_context_sync, (struct veo_thr_ctxt * context), (context))

/* The soft twin's own. */
#define VEOSOFT_TRACED(X) \
    X(int, veosoft_call_wait_timed, 0, \
      (struct veo_thr_ctxt * context, uint64_t request, uint64_t *result, int64_t timeout), \
      (context, request, result, timeout)) \
    X(int, veosoft_context_drain, 0, (struct veo_thr_ctxt * context, int64_t timeout), \
      (context, timeout))

#endif
