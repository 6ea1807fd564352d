/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/dpu/lib/observe/options.c
 *
 * Fuzz target: what DPU_PROFILE asks for. Whatever it says, it is refused with a sentence, and
 * nothing is left, or it asks for what there is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dpu/lib/observe/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dpulib_observe_options options;
    char problem[64] = "";
    char *text = strndup(size != 0 ? (const char *)data : "", size);
    require(text != NULL);
    if (dpulib_observe_read(&options, text, problem, sizeof problem)) {
        require(options.first <= options.last && options.events <= DPULIB_OBSERVE_EVENTS_MAX);
        require(options.limit <= DPULIB_OBSERVE_LIMIT_MAX);
        require(options.profiles == (options.file != NULL));
        dpulib_observe_options_free(&options);
    } else {
        require(problem[0] != '\0' && options.file == NULL);
    }

    free(text);
    return 0;
}
