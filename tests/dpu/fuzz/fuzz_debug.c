/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu
 *
 * Fuzz target: what a debugger sends to a DPU. An input is 16 instructions, then requests, each
 * after its length in two bytes; whatever they are, each has an answer of a valid size.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpu.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/run/debug_session.h"

#define PROFILE "softMaxCycles=20000,nrDpusPerCi=1"
#define WORDS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        dprintf(STDERR_FILENO, "contract broken: %s\n", what);
        abort();
    }
}

static struct dpu_set_t set;

/* A machine lies in memory that a leak checker does not look through. */
static void free_set(void)
{
    dpu_free(set);
}

static struct dpu_t *one_dpu(void)
{
    static struct dpu_set_t dpu;
    if (dpu.dpu == NULL) {
        require(dpu_alloc(1, PROFILE, &set) == DPU_OK, "a DPU");
        require(atexit(free_set) == 0, "an exit handler");
        DPU_FOREACH(set, dpu)
        break;
    }
    return dpu.dpu;
}

/* A request for a million rounds of a program that loops would take long. */
static void shorten(uint8_t *message, size_t size)
{
    struct dpulib_debug_request request;
    if (size < sizeof request)
        return;
    memcpy(&request, message, sizeof request);
    request.d %= 64;
    memcpy(message, &request, sizeof request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t words[WORDS] = {0};
    size_t used = size < sizeof words ? size : sizeof words;
    struct dpu_t *dpu = one_dpu();
    uint8_t *message = malloc(DPULIB_DEBUG_MESSAGE);
    struct dpulib_debug_session session = {0};
    require(message != NULL, "memory");

    if (used != 0)
        memcpy(words, data, used);
    data += used;
    size -= used;
    dpu_machine_clear_fault(dpu->machine);
    require(dpu_machine_write_iram(dpu->machine, 0, words, WORDS), "a program");
    dpu_machine_boot(dpu->machine);

    for (int i = 0; i < 64 && size >= 2; i++) {
        size_t length = data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        length = length < DPULIB_DEBUG_MESSAGE ? length : DPULIB_DEBUG_MESSAGE;
        memcpy(message, data, length);
        data += length;
        size -= length;

        shorten(message, length);
        size_t answer = dpulib_debug_answer(dpu, &session, message, length);
        require(answer == 0 || (answer >= 4 && answer <= DPULIB_DEBUG_MESSAGE), "a size");
        require(answer == 0 || message[0] <= 2, "an error that exists");
    }

    free(message);
    return 0;
}
