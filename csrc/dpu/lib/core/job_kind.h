/* SPDX-License-Identifier: BSD-3-Clause */
/* job_kind.h: what the text of an asynchronous error calls the operation that failed. The numbers
 * are part of the error code (DPU_ERROR_ASYNC_JOB_TYPE_SHIFT). */
#ifndef OFFCHIP_DPU_LIB_JOB_KIND_H
#define OFFCHIP_DPU_LIB_JOB_KIND_H

/* X(name, value, text) */
#define DPULIB_JOBS(X) \
    X(UNKNOWN, 0, "unknown job type") \
    X(LAUNCH_RANK, 1, "launch_rank") \
    X(LAUNCH_DPU, 2, "launch_dpu") \
    X(SYNC, 3, "synchronization") \
    X(SYNC_PARALLEL, 4, "synchronization parallel") \
    X(WRAM_TO_MATRIX, 5, "copy_wram_to_matrix") \
    X(PARALLEL_WRAM_TO_MATRIX, 6, "parallel_copy_wram_to_matrix") \
    X(PARALLEL_WRAM_TO_FIFO, 7, "parallel_copy_wram_to_fifo") \
    X(IRAM_TO_MATRIX, 8, "copy_iram_to_matrix") \
    X(MRAM_TO_MATRIX, 9, "copy_mram_to_matrix") \
    X(WRAM_FROM_MATRIX, 10, "copy_wram_from_matrix") \
    X(PARALLEL_WRAM_FROM_MATRIX, 11, "parallel_copy_wram_from_matrix") \
    X(PARALLEL_WRAM_FROM_FIFO, 12, "parallel_copy_wram_from_fifo") \
    X(IRAM_FROM_MATRIX, 13, "copy_iram_from_matrix") \
    X(MRAM_FROM_MATRIX, 14, "copy_mram_from_matrix") \
    X(WRAM_TO_RANK, 15, "copy_wram_to_rank") \
    X(IRAM_TO_RANK, 16, "copy_iram_to_rank") \
    X(MRAM_TO_RANK, 17, "copy_mram_to_rank") \
    X(CALLBACK, 18, "callback")

enum dpulib_job_kind {
#define DPULIB_JOB_(name, value, text) DPULIB_JOB_##name = value,
    DPULIB_JOBS(DPULIB_JOB_)
#undef DPULIB_JOB_
};

#endif
