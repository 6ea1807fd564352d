/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h: the text that goes with an error code.
 *
 * Each thread keeps one text, which dpusoft_last_error_detail() returns: that of the last call of
 * dpulib_fail() in this thread. A text from another thread is passed on by whoever waits for that
 * thread. Nothing here allocates or fails; a text that is too long is cut off.
 *
 * The text is also told on stderr, for callers that show the code's text alone, as hosts in C do:
 * each text once, and of the texts that a place of the source makes for different arguments the
 * first DPULIB_TOLD_MAX. DPU_SOFT_QUIET and dpusoft_tell_reasons() turn that off.
 */
#ifndef OFFCHIP_DPU_LIB_ERROR_H
#define OFFCHIP_DPU_LIB_ERROR_H

#include "dpu_error.h"
#include "dpu/lib/core/verbose.h"

#include <stdint.h>

/* Keeps the text, tells it, and returns CODE. The arguments may be parts of the text that is kept
 * now. */
#define dpulib_fail(code, ...) \
    ({ \
        static struct dpulib_told dpulib_told_; \
        dpulib_fail_at(&dpulib_told_, code, __VA_ARGS__); \
    })
__attribute__((format(printf, 3, 4))) dpu_error_t dpulib_fail_at(struct dpulib_told *told,
                                                                 dpu_error_t code,
                                                                 const char *format, ...);
/* The same for a text that has been told. */
__attribute__((format(printf, 2, 3))) dpu_error_t dpulib_fail_again(dpu_error_t code,
                                                                    const char *format, ...);
/* The text of this thread; it changes with the next dpulib_fail(). */
const char *dpulib_detail(void);
/* Adds to the text of an error how many DPUs more failed, and returns ERROR; nothing for DPU_OK. */
dpu_error_t dpulib_count_failures(dpu_error_t error, uint32_t failures);

/* The text of an error whose own text could not be kept. */
#define DPULIB_NO_DETAIL "out of memory (for the text of this error)"

#endif
