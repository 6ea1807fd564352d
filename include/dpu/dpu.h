/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu.h: running programs on sets of DPUs, and copying data to and from them.
 *
 * Purpose. A *DPU* is a small core inside a memory chip, with 64 MiB of MRAM, 64 KiB of WRAM and
 * room for 4096 instructions in IRAM; a program runs on it in up to 24 *tasklets*. Up to 64 DPUs
 * make a *rank*. A host program allocates a *set* of ranks, loads one program into all of its DPUs,
 * copies data in, launches, and copies results out:
 *
 *     struct dpu_set_t set, dpu;
 *     uint32_t i, sums[64];
 *     DPU_ASSERT(dpu_alloc(64, NULL, &set));
 *     DPU_ASSERT(dpu_load(set, "sum", NULL));
 *     DPU_ASSERT(dpu_broadcast_to(set, "input", 0, input, sizeof input, DPU_XFER_DEFAULT));
 *     DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
 *     DPU_FOREACH (set, dpu, i)
 *         DPU_ASSERT(dpu_prepare_xfer(dpu, &sums[i]));
 *     DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "sum", 0, 4, DPU_XFER_DEFAULT));
 *     DPU_ASSERT(dpu_free(set));
 *
 * Sets. A struct dpu_set_t is a small value that is copied and passed by value: some ranks, or one
 * DPU. The loops below give parts of a set, which are sets too. A set is valid until the set that
 * it came from is freed; using it later is DPU_ERR_INVALID_DPU_SET, and not undefined.
 *
 * Queues. Each rank has a queue of what is to be done for its DPUs, in the order of the calls. An
 * asynchronous call is queued and returns; it blocks only while a queue is full (nrJobsPerRank of
 * the profile). A synchronous call is queued too and returns when it has been done, and so after
 * everything that was queued before. Calls that go beside the queue say so.
 *
 * Errors. Functions return DPU_OK or one of the codes of dpu_error.h; a failed function leaves
 * results that it returns by pointers as they were, unless it says otherwise. dpu_error_to_string()
 * has the text of a code, dpusoft_last_error_detail() (dpusoft.h) what exactly was wrong in the
 * last call of this thread. Where a call is about several DPUs and some fail, it is done for the
 * others all the same, and the error is that of the first one that failed. Errors of asynchronous
 * calls are returned by dpu_sync(), with DPU_ERR_ASYNC_JOBS set unless they are errors of a launch.
 * Every function may return DPU_ERR_INVALID_DPU_SET, and DPU_ERR_SYSTEM when out of memory.
 *
 * Threads. Every function may be called by any thread, several at once and for one set too.
 * A call on a set that another thread frees meanwhile is waited for, or is DPU_ERR_INVALID_DPU_SET.
 * Callbacks of asynchronous calls and of calls for several ranks run in threads of the library.
 *
 * Ownership. What the host passes stays the host's. A buffer must stay as it is until the call
 * returns or, for an asynchronous one, until dpu_sync() has. What functions return belongs to the
 * set or the library unless they say that the caller frees it.
 *
 * Processes. A set belongs to the process that allocated it. In a forked child it is
 * DPU_ERR_INVALID_DPU_SET; the child may allocate sets of its own.
 */
#ifndef DPU_H
#define DPU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dpu_error.h"
#include "dpu_macro_utils.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Policies of dpu_launch(); the synchronous one waits until all DPUs have ended. */
typedef enum _dpu_launch_policy_t { DPU_ASYNCHRONOUS, DPU_SYNCHRONOUS } dpu_launch_policy_t;

/* The direction of a transfer. */
typedef enum _dpu_xfer_t { DPU_XFER_TO_DPU, DPU_XFER_FROM_DPU } dpu_xfer_t;

typedef enum _dpu_xfer_flags_t {
    DPU_XFER_DEFAULT = 0,
    DPU_XFER_NO_RESET = 1 << 0, /* the buffers stay prepared for the next push */
    DPU_XFER_ASYNC = 1 << 1,    /* returns when the transfer is queued */
    DPU_XFER_PARALLEL = 1 << 2  /* may run beside a launch instead of after it; WRAM only */
} dpu_xfer_flags_t;

typedef enum _dpu_sg_xfer_flags_t {
    DPU_SG_XFER_DEFAULT = 0,
    DPU_SG_XFER_ASYNC = 1 << 1,
    DPU_SG_XFER_DISABLE_LENGTH_CHECK = 1 << 2 /* the blocks may have more or fewer bytes */
} dpu_sg_xfer_flags_t;

typedef enum _dpu_callback_flags_t {
    DPU_CALLBACK_DEFAULT = 0,
    DPU_CALLBACK_ASYNC = 1 << 0,       /* returns when it is queued */
    DPU_CALLBACK_NONBLOCKING = 1 << 1, /* later calls do not wait for it; asynchronous only */
    DPU_CALLBACK_SINGLE_CALL = 1 << 2, /* called once for the whole set */
    DPU_CALLBACK_PARALLEL = 1 << 3     /* may run beside a launch instead of after it */
} dpu_callback_flags_t;

/* If STATEMENT, a call, returns an error: writes place and text of it to stderr, and runs the
 * statement ON_ERROR. */
#define DPU_CHECK(statement, on_error) \
    do { \
        dpu_error_t dpu_error_of_statement_ = (statement); \
        if (dpu_error_of_statement_ != DPU_OK) { \
            const char *dpu_text_of_error_ = dpu_error_to_string(dpu_error_of_statement_); \
            fprintf(stderr, "%s:%d(%s): DPU Error (%s)\n", __FILE__, __LINE__, __func__, \
                    dpu_text_of_error_); \
            free((void *)dpu_text_of_error_); \
            on_error; \
        } \
    } while (0)
/* The same, and ends the program. */
#define DPU_ASSERT(statement) DPU_CHECK(statement, exit(EXIT_FAILURE))

/* --- sets --- */

/* As a number of DPUs or ranks: all that there are. */
#define DPU_ALLOCATE_ALL (UINT_MAX)

/*
 * dpu_alloc: allocates NR_DPUS DPUs. Whole ranks are taken, and DPUs that the last one has beyond
 * NR_DPUS are disabled: loops skip them and nothing is done for them. DPU_ALLOCATE_ALL takes the
 * ranks that softNrRanks or DPU_SOFT_RANKS says there are, and one rank if nothing says it.
 *
 * PROFILE is NULL or pairs key=value with commas between them; docs/dpu.md lists the keys. The
 * variables UPMEM_PROFILE_BASE and UPMEM_PROFILE come before and after it.
 *
 * Memories are zeros, and no program is loaded. *dpu_set is to be given back by dpu_free(); after
 * an error it is all zeros. DPU_ERR_ALLOCATION: 0 DPUs were asked for, not so many ranks are free,
 * or out of memory; DPU_ERR_INVALID_PROFILE.
 */
dpu_error_t dpu_alloc(uint32_t nr_dpus, const char *profile, struct dpu_set_t *dpu_set);
/* dpu_alloc_ranks: the same for NR_RANKS whole ranks. */
dpu_error_t dpu_alloc_ranks(uint32_t nr_ranks, const char *profile, struct dpu_set_t *dpu_set);
/*
 * dpu_free: waits until all that is queued has been done, and gives the DPUs back. Parts of the set
 * and programs of its DPUs are not valid any more. Only a set as one of the two functions above
 * gave it can be freed, and not from within a callback of its own (DPU_ERR_INVALID_DPU_SET).
 */
dpu_error_t dpu_free(struct dpu_set_t dpu_set);

/* dpu_get_nr_ranks, dpu_get_nr_dpus: how many ranks, and how many enabled DPUs, a set has; 1 and 1
 * of a single DPU. Do not block. */
dpu_error_t dpu_get_nr_ranks(struct dpu_set_t dpu_set, uint32_t *nr_ranks);
dpu_error_t dpu_get_nr_dpus(struct dpu_set_t dpu_set, uint32_t *nr_dpus);

/*
 * DPU_RANK_FOREACH, DPU_FOREACH: loops over the ranks, and over the enabled DPUs, of a set. In
 *
 *     DPU_FOREACH (set, dpu) ...
 *     DPU_FOREACH (set, dpu, index) ...
 *
 * SET and DPU are variables of type struct dpu_set_t, INDEX one of type uint32_t that counts from
 * 0. The order is always the same. The structures and functions below are what the macros are made
 * of.
 */
struct dpu_set_rank_iterator_t {
    struct dpu_set_t *set;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_set_t next;
};

struct dpu_set_dpu_iterator_t {
    struct dpu_set_rank_iterator_t rank_iterator;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_set_t next;
};

struct dpu_set_rank_iterator_t dpu_set_rank_iterator_from(struct dpu_set_t *set);
void dpu_set_rank_iterator_next(struct dpu_set_rank_iterator_t *iterator);
struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set);
void dpu_set_dpu_iterator_next(struct dpu_set_dpu_iterator_t *iterator);

#define DPU_RANK_FOREACH(...) \
    DPU_PICK_VARIANT(_DPU_RANK_FOREACH_I, _DPU_RANK_FOREACH_X, __VA_ARGS__)(__VA_ARGS__)
#define _DPU_RANK_FOREACH_X(set, rank) \
    for (struct dpu_set_rank_iterator_t DPU_ITERATOR_ = dpu_set_rank_iterator_from(&(set)); \
         (rank) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; \
         dpu_set_rank_iterator_next(&DPU_ITERATOR_))
#define _DPU_RANK_FOREACH_I(set, rank, i) \
    for (struct dpu_set_rank_iterator_t DPU_ITERATOR_ = dpu_set_rank_iterator_from(&(set)); \
         (i) = DPU_ITERATOR_.count, (rank) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; \
         dpu_set_rank_iterator_next(&DPU_ITERATOR_))

#define DPU_FOREACH(...) DPU_PICK_VARIANT(_DPU_FOREACH_I, _DPU_FOREACH_X, __VA_ARGS__)(__VA_ARGS__)
#define _DPU_FOREACH_X(set, dpu) \
    for (struct dpu_set_dpu_iterator_t DPU_ITERATOR_ = dpu_set_dpu_iterator_from(&(set)); \
         (dpu) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; \
         dpu_set_dpu_iterator_next(&DPU_ITERATOR_))
#define _DPU_FOREACH_I(set, dpu, i) \
    for (struct dpu_set_dpu_iterator_t DPU_ITERATOR_ = dpu_set_dpu_iterator_from(&(set)); \
         (i) = DPU_ITERATOR_.count, (dpu) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; \
         dpu_set_dpu_iterator_next(&DPU_ITERATOR_))

/* --- programs --- */

/*
 * dpu_load: loads the DPU program in a file into every DPU of a set. Memories that the program has
 * no data for keep what they had; what is queued before is waited for. *program, unless PROGRAM is
 * NULL, belongs to the DPUs and is valid until they are freed or another program is loaded.
 *
 * DPU_ERR_SYSTEM: the file cannot be read; DPU_ERR_ELF_INVALID_FILE: it is no DPU program, or is
 * for another chip; DPU_ERR_TOO_MANY_TASKLETS: it has more than the chip runs.
 */
dpu_error_t dpu_load(struct dpu_set_t dpu_set, const char *binary_path,
                     struct dpu_program_t **program);
/* dpu_load_from_memory, dpu_load_from_incbin: the same for the bytes of such a file, which are
 * copied.
 */
dpu_error_t dpu_load_from_memory(struct dpu_set_t dpu_set, uint8_t *buffer, size_t buffer_size,
                                 struct dpu_program_t **program);
dpu_error_t dpu_load_from_incbin(struct dpu_set_t dpu_set, struct dpu_incbin_t *incbin,
                                 struct dpu_program_t **program);

/*
 * dpu_get_symbol: finds a symbol by its name: functions, variables that are declared __host, and
 * variables in MRAM. Looking it up once is faster than the functions that take a name.
 * DPU_ERR_UNKNOWN_SYMBOL: there is none, or it is a variable of WRAM that is not __host.
 */
dpu_error_t dpu_get_symbol(struct dpu_program_t *program, const char *symbol_name,
                           struct dpu_symbol_t *symbol);

/*
 * DPU_INCBIN: defines, at file scope, a variable `struct dpu_incbin_t name` with the bytes of a
 * file at compile time, for dpu_load_from_incbin(). The assembler makes it, which alone knows the
 * size.
 */
#define DPU_INCBIN(name, file) \
    __asm__(".pushsection .rodata.dpu_incbin,\"a\"\n" \
            ".balign 8\n" \
            "771: .incbin \"" file "\"\n" \
            "772:\n" \
            "773: .asciz \"" file "\"\n" \
            ".popsection\n" \
            ".pushsection .data.dpu_incbin,\"aw\"\n" \
            ".balign 8\n" \
            ".global " DPU_STRING(name) "\n" \
                                        ".type " DPU_STRING(name) ", @object\n" DPU_STRING( \
                                            name) ": .quad 771b, 772b - 771b, 773b\n" \
                                                  ".size " DPU_STRING(name) ", 24\n" \
                                                                            ".popsection\n"); \
    DPU_EXTERN_C_ struct dpu_incbin_t name;
#ifdef __cplusplus
#define DPU_EXTERN_C_ extern "C"
#else
#define DPU_EXTERN_C_ extern
#endif

/* --- running --- */

/*
 * dpu_launch: starts the program of every DPU of a set in tasklet 0, which starts the others. With
 * DPU_SYNCHRONOUS it returns when all DPUs have ended; with DPU_ASYNCHRONOUS at once, and
 * dpu_sync() waits.
 *
 * DPU_ERR_NO_PROGRAM_LOADED; DPU_ERR_DPU_FAULT: a DPU is in fault, which dpusoft_describe_fault()
 * explains; DPU_ERR_TIMEOUT: it was stopped by softMaxCycles of the profile or dpusoft_interrupt(),
 * and needs another load.
 */
dpu_error_t dpu_launch(struct dpu_set_t dpu_set, dpu_launch_policy_t policy);
/* dpu_status: *done tells whether all launches of the set have ended, *fault whether a DPU is in
 * fault. Either may be NULL. Does not block, and does not go through the queue. */
dpu_error_t dpu_status(struct dpu_set_t dpu_set, bool *done, bool *fault);
/* dpu_sync: waits until all that was queued for the ranks of a set has been done, and returns the
 * first error of an asynchronous call since the last dpu_sync(). */
dpu_error_t dpu_sync(struct dpu_set_t dpu_set);
/*
 * dpu_callback: calls CALLBACK in its turn in the queues: for each rank, with the rank as a set,
 * its number in DPU_SET and ARGS; or, with DPU_CALLBACK_SINGLE_CALL or for a set that is one DPU,
 * once with the whole set and UINT32_MAX. What CALLBACK returns is the result of the call, or for
 * an asynchronous one of dpu_sync().
 *
 * Calls for several ranks may run at once in several threads. While a blocking one runs nothing
 * else does on its ranks, so it may use them synchronously; it must not free them. ARGS must stay
 * valid until all calls have returned. DPU_ERR_NONBLOCKING_SYNC_CALLBACK: DPU_CALLBACK_NONBLOCKING
 * without DPU_CALLBACK_ASYNC.
 */
dpu_error_t dpu_callback(struct dpu_set_t dpu_set,
                         dpu_error_t (*callback)(struct dpu_set_t, uint32_t, void *), void *args,
                         dpu_callback_flags_t flags);

/* --- copying --- */

/*
 * All functions below copy LENGTH bytes at SYMBOL_OFFSET in a variable of the program, by its name
 * or as a symbol that dpu_get_symbol() found. Both must be multiples of 8 for MRAM and IRAM and of
 * 4 for WRAM. LENGTH may be 0, which copies nothing.
 *
 * DPU_ERR_INVALID_SYMBOL_ACCESS: the bytes are not within the symbol; DPU_ERR_INVALID_MRAM_ACCESS
 * and the like for WRAM and IRAM: they are misaligned, or not within the memory;
 * DPU_ERR_INVALID_MEMORY_TRANSFER: a buffer is NULL. Functions that take a name also have the
 * errors of dpu_get_symbol(), DPU_ERR_NO_PROGRAM_LOADED and DPU_ERR_DIFFERENT_DPU_PROGRAMS.
 */

/* dpu_copy_to: the same bytes to every DPU of a set; dpu_copy_from: from one DPU, so that the set
 * must be a single DPU. Synchronous. */
dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name, uint32_t symbol_offset,
                        const void *src, size_t length);
dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name, uint32_t symbol_offset,
                          void *dst, size_t length);
dpu_error_t dpu_copy_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                               uint32_t symbol_offset, const void *src, size_t length);
dpu_error_t dpu_copy_from_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                 uint32_t symbol_offset, void *dst, size_t length);

/* dpu_broadcast_to: the same bytes to every DPU of a set; with DPU_XFER_ASYNC, SRC must stay as it
 * is until dpu_sync(). */
dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                             uint32_t symbol_offset, const void *src, size_t length,
                             dpu_xfer_flags_t flags);
dpu_error_t dpu_broadcast_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                    uint32_t symbol_offset, const void *src, size_t length,
                                    dpu_xfer_flags_t flags);

/*
 * dpu_prepare_xfer: notes a buffer for every DPU of a set, usually of one DPU in a loop, for the
 * next push. A DPU without one, or with NULL, takes no part in it. Does not block or queue.
 */
dpu_error_t dpu_prepare_xfer(struct dpu_set_t dpu_set, void *buffer);
/*
 * dpu_push_xfer: copies between each DPU of a set and the buffer that was prepared for it, all in
 * parallel. The buffers are then no longer prepared, unless FLAGS has DPU_XFER_NO_RESET or the call
 * was refused before it looked at them. DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER: DPU_XFER_PARALLEL
 * for another memory than WRAM.
 */
dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                          uint32_t symbol_offset, size_t length, dpu_xfer_flags_t flags);
dpu_error_t dpu_push_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                 struct dpu_symbol_t symbol, uint32_t symbol_offset, size_t length,
                                 dpu_xfer_flags_t flags);

/*
 * Scatter/gather: many blocks of host memory for each DPU, one after the other in its MRAM. The
 * function is asked for the blocks of a DPU, with the number of the DPU in the set, the number of
 * the block and ARGS, until it returns false; by one thread at a time.
 */
struct sg_block_info {
    uint8_t *addr;
    uint32_t length;
};
typedef bool (*get_block_func_t)(struct sg_block_info *out, uint32_t dpu_index,
                                 uint32_t block_index, void *args);
typedef struct get_block_t {
    get_block_func_t f;
    void *args;
    size_t args_size; /* so many bytes of *args are copied when the call is made; 0: none */
} get_block_t;

/*
 * dpu_push_sg_xfer: copies between LENGTH bytes of MRAM of each DPU and its blocks, which must have
 * LENGTH bytes together unless FLAGS says not to check. The set must be ranks, and the profile must
 * say sgXferEnable=true (DPU_ERR_SG_NOT_ACTIVATED). DPU_ERR_SG_NOT_MRAM_SYMBOL,
 * DPU_ERR_SG_LENGTH_MISMATCH; DPU_ERR_SG_TOO_MANY_BLOCKS: more than sgXferMaxBlocksPerDpu of the
 * profile.
 */
dpu_error_t dpu_push_sg_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                             uint32_t symbol_offset, size_t length, get_block_t *get_block,
                             dpu_sg_xfer_flags_t flags);
dpu_error_t dpu_push_sg_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                    struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                    size_t length, get_block_t *get_block,
                                    dpu_sg_xfer_flags_t flags);

/*
 * dpu_fifo_prepare_xfer, dpu_fifo_push_xfer: as dpu_prepare_xfer() and dpu_push_xfer(), for FIFOs
 * in WRAM of programs that run; see dpu_fifo.h. The push is synchronous, also with DPU_XFER_ASYNC,
 * may run beside a launch, and waits some time for room. DPU_ERR_WRAM_FIFO_FULL: none came.
 */
struct dpu_fifo_link_t;
dpu_error_t dpu_fifo_prepare_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                                  void *buffer);
dpu_error_t dpu_fifo_push_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                               dpu_xfer_flags_t flags);

/* --- logs --- */

/*
 * dpu_log_read: writes what one DPU printed with printf() since it was launched, after a line with
 * its id. The set must be a single DPU. Synchronous. DPU_ERR_LOG_CONTEXT_MISSING: the program does
 * not print; DPU_ERR_LOG_FORMAT: its log makes no sense.
 */
dpu_error_t dpu_log_read(struct dpu_set_t set, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
