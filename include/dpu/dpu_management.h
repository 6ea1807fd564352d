/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_management.h: ranks and DPUs one by one.
 *
 * A DPU is designated by its rank, its slice (control interface) and its member number. Ranks
 * and DPUs live until the set, or the rank, that they were allocated with is freed.
 */
#ifndef DPU_MANAGEMENT_H
#define DPU_MANAGEMENT_H

#include "dpu_description.h"
#include "dpu_error.h"
#include "dpu_macro_utils.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Describes what a rank of this profile would be; to be given to dpu_free_description(). */
dpu_error_t dpu_get_profile_description(const char *profile, dpu_description_t *description);
/* One rank, all of whose DPUs are enabled. */
dpu_error_t dpu_get_rank_of_type(const char *profile, struct dpu_rank_t **rank);
/* Waits for what runs, and frees a rank of dpu_get_rank_of_type(). */
dpu_error_t dpu_free_rank(struct dpu_rank_t *rank);

/* A recursive lock of a rank for the caller's own use; the library does not take it. */
void dpu_lock_rank(struct dpu_rank_t *rank);
int dpu_trylock_rank(struct dpu_rank_t *rank); /* 0 if it was taken */
void dpu_unlock_rank(struct dpu_rank_t *rank);

/* NULL if there is no such DPU. */
struct dpu_t *dpu_get(struct dpu_rank_t *rank, dpu_slice_id_t slice_id, dpu_member_id_t dpu_id);
/* Rank << 16 | slice << 8 | member. */
dpu_id_t dpu_get_id(struct dpu_t *dpu);
dpu_id_t dpu_get_rank_id(struct dpu_rank_t *rank);
/* -1: simulated ranks belong to no node. */
int dpu_get_rank_numa_node(struct dpu_rank_t *rank);
struct dpu_rank_t *dpu_get_rank(struct dpu_t *dpu);
dpu_slice_id_t dpu_get_slice_id(struct dpu_t *dpu);
dpu_member_id_t dpu_get_member_id(struct dpu_t *dpu);
bool dpu_is_enabled(struct dpu_t *dpu);
/* Belongs to the rank; dpu_acquire_description() to keep it for longer. */
dpu_description_t dpu_get_description(struct dpu_rank_t *rank);

/* The set keeps the pointer RANK, which has to stay valid. */
struct dpu_set_t dpu_set_from_rank(struct dpu_rank_t **rank);
struct dpu_set_t dpu_set_from_dpu(struct dpu_t *dpu);
/* NULL if the set is not exactly one rank, one DPU. */
struct dpu_rank_t *dpu_rank_from_set(struct dpu_set_t set);
struct dpu_t *dpu_from_set(struct dpu_set_t set);

/* The enabled DPUs of a rank: STRUCT_DPU_FOREACH(rank, dpu[, index]). */
struct dpu_iterator_t {
    struct dpu_rank_t *rank;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_t *next;
};
struct dpu_iterator_t dpu_iterator_from(struct dpu_rank_t *rank);
void dpu_iterator_next(struct dpu_iterator_t *iterator);

#define STRUCT_DPU_FOREACH(...) \
    DPU_PICK_VARIANT(_STRUCT_DPU_FOREACH_I, _STRUCT_DPU_FOREACH_X, __VA_ARGS__)(__VA_ARGS__)
#define _STRUCT_DPU_FOREACH_X(rank, dpu) \
    for (struct dpu_iterator_t DPU_ITERATOR_ = dpu_iterator_from(rank); \
         (dpu) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; dpu_iterator_next(&DPU_ITERATOR_))
#define _STRUCT_DPU_FOREACH_I(rank, dpu, i) \
    for (struct dpu_iterator_t DPU_ITERATOR_ = dpu_iterator_from(rank); \
         (i) = DPU_ITERATOR_.count, (dpu) = DPU_ITERATOR_.next, DPU_ITERATOR_.has_next; \
         dpu_iterator_next(&DPU_ITERATOR_))

#ifdef __cplusplus
}
#endif

#endif
