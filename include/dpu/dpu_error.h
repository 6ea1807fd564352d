/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_error.h: what the functions of libdpu return, with the vendor's values and texts. */
#ifndef DPU_ERROR_H
#define DPU_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text) */
#define DPU_ERROR_CODES(X) \
    X(OK, 0, "success") \
    X(ERR_INTERNAL, 1, "internal error") \
    X(ERR_SYSTEM, 2, "system error") \
    X(ERR_DRIVER, 3, "driver error") \
    X(ERR_ALLOCATION, 4, "dpu allocation error") \
    X(ERR_INVALID_DPU_SET, 5, "invalid action for this dpu set") \
    X(ERR_INVALID_THREAD_ID, 6, "invalid thread id") \
    X(ERR_INVALID_NOTIFY_ID, 7, "invalid notify id") \
    X(ERR_INVALID_WRAM_ACCESS, 8, "invalid wram access") \
    X(ERR_INVALID_IRAM_ACCESS, 9, "invalid iram access") \
    X(ERR_INVALID_MRAM_ACCESS, 10, "invalid mram access") \
    X(ERR_INVALID_SYMBOL_ACCESS, 11, "invalid memory symbol access") \
    X(ERR_MRAM_BUSY, 12, "mram is busy") \
    X(ERR_TRANSFER_ALREADY_SET, 13, "dpu transfer is already set") \
    X(ERR_INVALID_PARALLEL_MEMORY_TRANSFER, 14, \
      "invalid parallel transfer (should be to/from WRAM)") \
    X(ERR_WRAM_FIFO_FULL, 15, "cannot push to WRAM FIFO, FIFO full") \
    X(ERR_NO_PROGRAM_LOADED, 16, "no program has been loaded in the dpu set") \
    X(ERR_DIFFERENT_DPU_PROGRAMS, 17, "cannot access symbol on dpus with different programs") \
    X(ERR_CORRUPTED_MEMORY, 18, "corrupted memory") \
    X(ERR_DPU_DISABLED, 19, "dpu is disabled") \
    X(ERR_DPU_ALREADY_RUNNING, 20, "dpu is already running") \
    X(ERR_INVALID_MEMORY_TRANSFER, 21, "invalid memory transfer") \
    X(ERR_INVALID_LAUNCH_POLICY, 22, "invalid launch policy") \
    X(ERR_DPU_FAULT, 23, "dpu is in fault") \
    X(ERR_ELF_INVALID_FILE, 24, "invalid ELF file") \
    X(ERR_ELF_NO_SUCH_FILE, 25, "no such ELF file") \
    X(ERR_ELF_NO_SUCH_SECTION, 26, "no such ELF section") \
    X(ERR_TIMEOUT, 27, "result timeout") \
    X(ERR_INVALID_PROFILE, 28, "invalid profile") \
    X(ERR_UNKNOWN_SYMBOL, 29, "undefined symbol") \
    X(ERR_LOG_FORMAT, 30, "logging format error") \
    X(ERR_LOG_CONTEXT_MISSING, 31, "logging context missing") \
    X(ERR_LOG_BUFFER_TOO_SMALL, 32, "logging buffer too small") \
    X(ERR_VPD_INVALID_FILE, 33, "invalid VPD file") \
    X(ERR_VPD_NO_REPAIR, 34, "repairs have not been generated") \
    X(ERR_NO_THREAD_PER_RANK, 35, "no thread to perform multiple-rank operation") \
    X(ERR_INVALID_BUFFER_SIZE, 36, "invalid buffer size") \
    X(ERR_NONBLOCKING_SYNC_CALLBACK, 37, "nonblocking and synchronous callback is invalid") \
    X(ERR_TOO_MANY_TASKLETS, 38, "dpu program uses more tasklets than the hardware has threads") \
    X(ERR_SG_TOO_MANY_BLOCKS, 39, "scatter/gather transfer prepare exceed max number of blocks") \
    X(ERR_SG_LENGTH_MISMATCH, 40, \
      "scatter/gather transfer mismatch between nr bytes in blocks and length") \
    X(ERR_SG_NOT_ACTIVATED, 41, "scatter/gather transfer not activated") \
    X(ERR_SG_NOT_MRAM_SYMBOL, 42, \
      "scatter/gather transfer unsupported symbol (must be a mram symbol)")

typedef enum dpu_error_t {
#define DPU_ERROR_CODE_(name, value, text) DPU_##name = value,
    DPU_ERROR_CODES(DPU_ERROR_CODE_)
#undef DPU_ERROR_CODE_
    /* Set in what dpu_sync() and the like return for a job that failed asynchronously. Bits 16
     * to 30 are then the kind of job, bits 0 to 15 one of the codes above. */
    DPU_ERR_ASYNC_JOBS = 1U
    << 31
} dpu_error_t;

#define DPU_ERROR_ASYNC_JOB_TYPE_SHIFT 16

/* The text of a code, to be freed by the caller; NULL without memory. */
const char *dpu_error_to_string(dpu_error_t status);

#ifdef __cplusplus
}
#endif

#endif
