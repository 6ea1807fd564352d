/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_options.h: what DPU_CHECK asks for: words with commas between them.
 *
 *     all, or names of checks (DPU_CHECK_LIST of dpu/checks/checks.h)
 *     exit=N        the status that the process exits with if something was found; 0: its own
 *     ignore=NAME   no findings with this function among the calls; may be given several times
 *     log=PATH      where findings go; stderr
 */
#ifndef OFFCHIP_DPU_LIB_CHECK_OPTIONS_H
#define OFFCHIP_DPU_LIB_CHECK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPULIB_IGNORED_MAX 32

struct dpulib_check_options {
    uint32_t wanted; /* enum dpu_check, or-ed; 0: no checks */
    int exit_status;
    char *text;      /* what the others point into; allocated */
    const char *log; /* NULL: stderr */
    const char *ignored[DPULIB_IGNORED_MAX];
    uint32_t ignored_count;
};

/*
 * Reads TEXT; NULL or an empty one asks for nothing. False, with a sentence in PROBLEM, if it makes
 * no sense or there is no memory: then nothing is asked for and nothing allocated.
 */
bool dpulib_check_options_read(struct dpulib_check_options *options, const char *text,
                               char *problem, size_t size);

#endif
