/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_options.h: what DPU_CHECK and VEO_CHECK ask for: words with commas between them.
 *
 *     all, or names of checks
 *     exit=N        the status that the process exits with if something was found; 0: its own
 *     ignore=NAME   no findings with this function among the calls; may be given several times
 *     log=PATH      where findings go; stderr
 *
 * Any thread.
 */
#ifndef OFFCHIP_CHECK_OPTIONS_H
#define OFFCHIP_CHECK_OPTIONS_H

#include "common/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_IGNORED_MAX 32

/* The name of a check, and its bit. */
struct check_word {
    const char *name;
    uint32_t value;
};

struct check_options {
    uint32_t wanted; /* values of words, or-ed; 0: no checks */
    int exit_status;
    char *text;      /* what the others point into; allocated */
    const char *log; /* NULL: stderr */
    const char *ignored[CHECK_IGNORED_MAX];
    uint32_t ignored_count;
};

/*
 * Reads TEXT; NULL or an empty one asks for nothing. The last of the COUNT words is "all". False,
 * with a sentence in PROBLEM, if it makes no sense or there is no memory: then nothing is asked for
 * and nothing allocated.
 */
bool check_options_read(struct check_options *options, const struct check_word *words, size_t count,
                        const char *text, char *problem, size_t size)
    OFFCHIP_SYMBOL(check_options_read);

#endif
