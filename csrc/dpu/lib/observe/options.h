/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h: what DPU_PROFILE asks for: key=value pairs with commas between them.
 *
 *     file=PATH      where the profile goes; "%p" stands for the process id
 *     dpus=N, N-M, all   the DPUs that are profiled, by number; 0-63
 *     timeline=N     events of each launch that the first of them keeps; 20000
 *     limit=N        the largest file, in MiB; 256
 */
#ifndef OFFCHIP_DPU_LIB_OBSERVE_OPTIONS_H
#define OFFCHIP_DPU_LIB_OBSERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPULIB_OBSERVE_EVENTS_MAX 10000000
#define DPULIB_OBSERVE_LIMIT_MAX 65536 /* MiB */

struct dpulib_observe_options {
    bool profiles;        /* a profile is wanted */
    char *file;           /* the path, still with its %p; allocated */
    uint32_t first, last; /* DPUs */
    uint32_t events;
    uint32_t limit; /* MiB */
};

/*
 * Reads TEXT; NULL or an empty one asks for nothing. False, with a sentence in PROBLEM, if it makes
 * no sense or there is no memory: then nothing is asked for and nothing allocated.
 */
bool dpulib_observe_read(struct dpulib_observe_options *options, const char *text, char *problem,
                         size_t size);
void dpulib_observe_options_free(struct dpulib_observe_options *options);

#endif
