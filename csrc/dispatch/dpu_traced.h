/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_traced.h: the functions of libdpu that take time, once: X(result, name, bytes, parameters,
 * arguments).
 */
#ifndef DPU_TRACED_H
#define DPU_TRACED_H

#define DPU_TRACED(X) \
    X(dpu_error_t, dpu_alloc, 0, (uint32_t dpus, const char *profile, struct dpu_set_t *set), \
      (dpus, profile, set)) \
    X(dpu_error_t, dpu_alloc_ranks, 0, \
      (uint32_t ranks, const char *profile, struct dpu_set_t *set), (ranks, profile, set)) \
    X(dpu_error_t, dpu_free, 0, (struct dpu_set_t set), (set)) \
    X(dpu_error_t, dpu_load, 0, \
      (struct dpu_set_t set, const char *path, struct dpu_program_t **program), \
      (set, path, program)) \
    X(dpu_error_t, dpu_load_from_memory, size, \
      (struct dpu_set_t set, uint8_t *image, size_t size, struct dpu_program_t **program), \
      (set, image, size, program)) \
    X(dpu_error_t, dpu_launch, 0, (struct dpu_set_t set, dpu_launch_policy_t policy), \
      (set, policy)) \
    X(dpu_error_t, dpu_sync, 0, (struct dpu_set_t set), (set)) \
    X(dpu_error_t, dpu_push_xfer, size, \
      (struct dpu_set_t set, dpu_xfer_t direction, const char *symbol, uint32_t offset, \
       size_t size, dpu_xfer_flags_t flags), \
      (set, direction, symbol, offset, size, flags)) \
    X(dpu_error_t, dpu_push_xfer_symbol, size, \
      (struct dpu_set_t set, dpu_xfer_t direction, struct dpu_symbol_t symbol, uint32_t offset, \
       size_t size, dpu_xfer_flags_t flags), \
      (set, direction, symbol, offset, size, flags)) \
    X(dpu_error_t, dpu_broadcast_to, size, \
      (struct dpu_set_t set, const char *symbol, uint32_t offset, const void *from, size_t size, \
       dpu_xfer_flags_t flags), \
      (set, symbol, offset, from, size, flags)) \
    X(dpu_error_t, dpu_broadcast_to_symbol, size, \
      (struct dpu_set_t set, struct dpu_symbol_t symbol, uint32_t offset, const void *from, \
       size_t size, dpu_xfer_flags_t flags), \
      (set, symbol, offset, from, size, flags)) \
    X(dpu_error_t, dpu_log_read, 0, (struct dpu_set_t set, FILE * stream), (set, stream))

/* The soft twin's own. */
#define DPUSOFT_TRACED(X) \
    X(dpu_error_t, dpusoft_wait, 0, (struct dpu_set_t set, int64_t timeout, bool *done), \
      (set, timeout, done))

#endif
