/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu.h: allocating sets of DPUs, loading and running programs, copying data.
 *
 * Conventions. Sets are passed by value; a set stays valid until the set that it came from is
 * freed. Functions return DPU_OK or what went wrong; dpu_error_to_string() gives its text. Every
 * function may be called by any thread. What is asynchronous goes into a queue of each rank and
 * is executed in order; any synchronous call on a rank first waits for its queue.
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

typedef enum _dpu_launch_policy_t { DPU_ASYNCHRONOUS, DPU_SYNCHRONOUS } dpu_launch_policy_t;

typedef enum _dpu_xfer_t { DPU_XFER_TO_DPU, DPU_XFER_FROM_DPU } dpu_xfer_t;

typedef enum _dpu_xfer_flags_t {
    DPU_XFER_DEFAULT = 0,
    DPU_XFER_NO_RESET = 1 << 0, /* what was prepared stays prepared */
    DPU_XFER_ASYNC = 1 << 1,
    DPU_XFER_PARALLEL = 1 << 2 /* beside running programs; WRAM only */
} dpu_xfer_flags_t;

typedef enum _dpu_sg_xfer_flags_t {
    DPU_SG_XFER_DEFAULT = 0,
    DPU_SG_XFER_ASYNC = 1 << 1,
    DPU_SG_XFER_DISABLE_LENGTH_CHECK = 1 << 2
} dpu_sg_xfer_flags_t;

typedef enum _dpu_callback_flags_t {
    DPU_CALLBACK_DEFAULT = 0,
    DPU_CALLBACK_ASYNC = 1 << 0,
    DPU_CALLBACK_NONBLOCKING = 1 << 1, /* later jobs do not wait for it; asynchronous only */
    DPU_CALLBACK_SINGLE_CALL = 1 << 2, /* once for the whole set */
    DPU_CALLBACK_PARALLEL = 1 << 3     /* does not wait for earlier jobs either */
} dpu_callback_flags_t;

/* Runs ON_ERROR after a line on stderr if STATEMENT returns an error. */
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
#define DPU_ASSERT(statement) DPU_CHECK(statement, exit(EXIT_FAILURE))

/* --- sets ------------------------------------------------------------------------------------ */

#define DPU_ALLOCATE_ALL (UINT_MAX)

/*
 * NR_DPUS DPUs, or all there are. PROFILE is NULL or key=value pairs with commas between them.
 * Whole ranks are taken; what the last one has too many is disabled.
 */
dpu_error_t dpu_alloc(uint32_t nr_dpus, const char *profile, struct dpu_set_t *dpu_set);
dpu_error_t dpu_alloc_ranks(uint32_t nr_ranks, const char *profile, struct dpu_set_t *dpu_set);
/* Waits for what is queued. Only a set as one of the two functions above gave it. */
dpu_error_t dpu_free(struct dpu_set_t dpu_set);

dpu_error_t dpu_get_nr_ranks(struct dpu_set_t dpu_set, uint32_t *nr_ranks);
dpu_error_t dpu_get_nr_dpus(struct dpu_set_t dpu_set, uint32_t *nr_dpus);

/*
 * Loops over the ranks and over the enabled DPUs of a set, each of which is a set itself:
 * DPU_FOREACH(set, dpu) and DPU_FOREACH(set, dpu, index). SET is a variable.
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

/* --- programs -------------------------------------------------------------------------------- */

/*
 * Loads an ELF file into every DPU of a set. *program, if PROGRAM is not NULL, stays valid until
 * the set is freed or loaded again.
 */
dpu_error_t dpu_load(struct dpu_set_t dpu_set, const char *binary_path,
                     struct dpu_program_t **program);
dpu_error_t dpu_load_from_memory(struct dpu_set_t dpu_set, uint8_t *buffer, size_t buffer_size,
                                 struct dpu_program_t **program);
dpu_error_t dpu_load_from_incbin(struct dpu_set_t dpu_set, struct dpu_incbin_t *incbin,
                                 struct dpu_program_t **program);

/* Functions, __host variables and MRAM variables; variables in plain WRAM are not known. */
dpu_error_t dpu_get_symbol(struct dpu_program_t *program, const char *symbol_name,
                           struct dpu_symbol_t *symbol);

/* A variable `struct dpu_incbin_t name` with the contents of a file at compile time. It is made by
 * the assembler, which alone knows the size. */
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

/* --- running --------------------------------------------------------------------------------- */

dpu_error_t dpu_launch(struct dpu_set_t dpu_set, dpu_launch_policy_t policy);
/* Whether all have ended, and whether one is in fault. Waits for nothing. */
dpu_error_t dpu_status(struct dpu_set_t dpu_set, bool *done, bool *fault);
/* Waits for the queues of the set; the first error of a job since the last time. */
dpu_error_t dpu_sync(struct dpu_set_t dpu_set);
/*
 * Calls CALLBACK once for each rank, with the rank and its number in the set, or once for a set
 * that is one DPU or with DPU_CALLBACK_SINGLE_CALL, with the set and UINT32_MAX. An asynchronous
 * one is called by another thread; it may use the set synchronously.
 */
dpu_error_t dpu_callback(struct dpu_set_t dpu_set,
                         dpu_error_t (*callback)(struct dpu_set_t, uint32_t, void *), void *args,
                         dpu_callback_flags_t flags);

/* --- copying --------------------------------------------------------------------------------- */

/* To all DPUs of a set, and from one DPU. */
dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name, uint32_t symbol_offset,
                        const void *src, size_t length);
dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name, uint32_t symbol_offset,
                          void *dst, size_t length);
dpu_error_t dpu_copy_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                               uint32_t symbol_offset, const void *src, size_t length);
dpu_error_t dpu_copy_from_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                 uint32_t symbol_offset, void *dst, size_t length);

/* To all DPUs of a set. SRC has to stay until an asynchronous copy is over. */
dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                             uint32_t symbol_offset, const void *src, size_t length,
                             dpu_xfer_flags_t flags);
dpu_error_t dpu_broadcast_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                    uint32_t symbol_offset, const void *src, size_t length,
                                    dpu_xfer_flags_t flags);

/* A buffer for each DPU, given first; DPUs without one, or with NULL, take no part. */
dpu_error_t dpu_prepare_xfer(struct dpu_set_t dpu_set, void *buffer);
dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                          uint32_t symbol_offset, size_t length, dpu_xfer_flags_t flags);
dpu_error_t dpu_push_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                 struct dpu_symbol_t symbol, uint32_t symbol_offset, size_t length,
                                 dpu_xfer_flags_t flags);

/* Many blocks for each DPU, asked for one by one until the function returns false. MRAM only; the
 * profile has to say sgXferEnable=true. */
struct sg_block_info {
    uint8_t *addr;
    uint32_t length;
};
typedef bool (*get_block_func_t)(struct sg_block_info *out, uint32_t dpu_index,
                                 uint32_t block_index, void *args);
typedef struct get_block_t {
    get_block_func_t f;
    void *args;
    size_t args_size; /* so many bytes of *args are copied for an asynchronous transfer */
} get_block_t;

dpu_error_t dpu_push_sg_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                             uint32_t symbol_offset, size_t length, get_block_t *get_block,
                             dpu_sg_xfer_flags_t flags);
dpu_error_t dpu_push_sg_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                    struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                    size_t length, get_block_t *get_block,
                                    dpu_sg_xfer_flags_t flags);

/* See dpu_fifo.h. */
struct dpu_fifo_link_t;
dpu_error_t dpu_fifo_prepare_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                                  void *buffer);
dpu_error_t dpu_fifo_push_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                               dpu_xfer_flags_t flags);

/* --- logs ------------------------------------------------------------------------------------ */

/* Writes what one DPU printed since it was launched, after a line with its id. */
dpu_error_t dpu_log_read(struct dpu_set_t set, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
