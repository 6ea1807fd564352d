/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h: the text that goes with an error code.
 *
 * Each thread keeps one text, which dpusoft_last_error_detail() returns: that of the last call of
 * dpulib_fail() in this thread. A text from another thread is passed on by whoever waits for that
 * thread. Nothing here allocates, blocks or fails; a text that is too long is cut off.
 */
#ifndef OFFCHIP_DPU_LIB_ERROR_H
#define OFFCHIP_DPU_LIB_ERROR_H

#include "dpu_error.h"

#include <stdint.h>

/* Keeps the text and returns CODE. The arguments may be parts of the text that is kept now. */
__attribute__((format(printf, 2, 3))) dpu_error_t dpulib_fail(dpu_error_t code, const char *format,
                                                              ...);
/* The text of this thread; it changes with the next dpulib_fail(). */
const char *dpulib_detail(void);
/* Adds to the text of an error how many DPUs more failed, and returns ERROR; nothing for DPU_OK. */
dpu_error_t dpulib_count_failures(dpu_error_t error, uint32_t failures);

/* The text of an error whose own text could not be kept. */
#define DPULIB_NO_DETAIL "out of memory (for the text of this error)"

#endif
