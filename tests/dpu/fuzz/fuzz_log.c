/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/dpu/lib/log/log_decode.c
 *
 * Fuzz target: the decoder of what DPU programs print. An input is the content of a log; whatever
 * it holds, the decoder keeps its contract.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpu/lib/log/log_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

/* Text that a sink has been given, as a count and a hash; it stops after LIMIT bytes. */
struct seen {
    size_t size, limit;
    uint64_t hash;
};

static bool take(void *argument, const char *text, size_t size)
{
    struct seen *seen = argument;
    require(size > 0, "no empty pieces");
    for (size_t i = 0; i < size && seen->size < seen->limit; i++, seen->size++)
        seen->hash = (seen->hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return seen->size < seen->limit;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Each record has fields of at most a few KiB, and begins with a byte or two. */
    const size_t limit = (size_t)1 << 20;
    uint8_t *log = malloc(size != 0 ? size : 1);
    if (log == NULL)
        return 0;
    if (size != 0)
        memcpy(log, data, size);

    struct seen all = {.limit = limit}, part = {.limit = 1 + size / 2}, again = {.limit = limit};
    enum dpu_log_status status = dpu_log_decode(log, size, take, &all);
    require(status <= DPU_LOG_STOPPED, "a status that exists");
    require((status == DPU_LOG_STOPPED) == (all.size == limit), "stops only when told to");
    require(dpu_log_decode(log, size, take, &again) == status && again.hash == all.hash &&
                again.size == all.size,
            "the same bytes are the same text");

    status = dpu_log_decode(log, size, take, &part);
    require((status == DPU_LOG_STOPPED) == (part.size == part.limit), "stops when told to");
    require(all.size < part.limit || part.size == part.limit, "gives text piece by piece");

    /* A log that ends earlier gives the beginning of the text, or less. */
    struct seen half = {.limit = limit};
    dpu_log_decode(log, size / 2, take, &half);
    require(half.size <= all.size || all.size == limit || size < 2, "a longer log has more text");
    free(log);
    return 0;
}
