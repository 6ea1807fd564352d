/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_macro_utils.h: pieces of the macros of dpu.h and dpu_management.h. */
#ifndef DPU_MACRO_UTILS_H
#define DPU_MACRO_UTILS_H

#define DPU_CONCAT_(a, b) a##b
#define DPU_CONCAT(a, b) DPU_CONCAT_(a, b)
#define DPU_STRING_(a) #a
#define DPU_STRING(a) DPU_STRING_(a)

/* The fourth argument: the first of two names for three arguments before them, the second for
 * two. What follows keeps the variable part from being empty. */
#define DPU_PICK_(a, b, c, name, ...) name
#define DPU_PICK_VARIANT(with_index, without, ...) \
    DPU_PICK_(__VA_ARGS__, with_index, without, unused)

/* So that loops may be nested without one iterator hiding the other. */
#define DPU_ITERATOR_ DPU_CONCAT(dpu_iterator_of_line_, __LINE__)

#endif
