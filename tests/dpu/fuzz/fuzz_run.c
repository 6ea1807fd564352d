/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libdpu
 *
 * Fuzz target: a DPU program from its file to its log. An input is a program; whatever it holds,
 * it is refused, or loaded, run for a while and asked for what it printed, and every call returns.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpu.h"
#include "dpu_program.h"
#include "dpu_log_internals.h"
#include "dpusoft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Short, so that many programs are run; one that never ends is part of the corpus. */
#define PROFILE "softMaxCycles=20000,nrDpusPerCi=1"

static void require(int condition, const char *what)
{
    if (!condition) {
        dprintf(STDERR_FILENO, "contract broken: %s (%s)\n", what, dpusoft_last_error_detail());
        abort();
    }
}

/* Every error has a name and a text. */
static bool worked(dpu_error_t status)
{
    if (status == DPU_OK)
        return true;
    const char *name = dpu_error_to_string(status);
    require(name != NULL && strncmp(name, "unknown", 7) != 0, "an error that exists");
    free((char *)(uintptr_t)name);
    require(dpusoft_last_error_detail()[0] != '\0', "an error with a text");
    return false;
}

struct printed {
    size_t size;
};

static dpu_error_t count_text(void *argument, const char *format, ...)
{
    struct printed *printed = argument;
    printed->size += strlen(format);
    return printed->size < 1 << 20 ? DPU_OK : DPU_ERR_LOG_FORMAT;
}

static void copy_symbols(struct dpu_set_t set, struct dpu_program_t *program)
{
    uint8_t bytes[64];
    for (uint32_t i = 0; i < program->symbols->nr_symbols && i < 16; i++) {
        const dpu_elf_symbol_t *symbol = &program->symbols->map[i];
        require(symbol->name != NULL, "symbols have names");
        worked(dpu_copy_from(set, symbol->name, 0, bytes, sizeof bytes));
        worked(dpu_copy_to(set, symbol->name, 8, bytes, 8));
        worked(dpu_copy_to_symbol(set, (struct dpu_symbol_t){symbol->value, symbol->size}, 0, bytes,
                                  8));
    }
}

static void run(struct dpu_set_t dpu)
{
    char text[512];
    struct printed printed = {0};
    struct dpusoft_report report = {.size = sizeof report};

    dpu_error_t status = dpu_launch(dpu, DPU_SYNCHRONOUS);
    worked(status);
    require(dpusoft_get_report(dpu, &report) == DPU_OK, "a report");
    worked(dpusoft_describe_fault(dpu, text, sizeof text));
    require(memchr(text, 0, sizeof text) != NULL, "a text that ends");
    worked(dpulog_read_for_dpu_(dpu.dpu, count_text, &printed));

    /* Also after a fault. */
    worked(dpu_launch(dpu, DPU_ASYNCHRONOUS));
    worked(dpu_sync(dpu));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool prepared;
    if (!prepared) {
        /* The library's warnings about faults; sanitizers write to the descriptor. */
        stderr = fopen("/dev/null", "w");
        require(stderr != NULL, "a stream for warnings");
        prepared = true;
    }
    struct dpu_set_t set, dpu;
    require(dpu_alloc(1, PROFILE, &set) == DPU_OK, "a DPU");
    DPU_FOREACH(set, dpu)
    break;

    /* A block of its own size, so that the sanitizer sees a read beyond the file. */
    uint8_t *image = malloc(size != 0 ? size : 1);
    require(image != NULL, "memory");
    if (size != 0)
        memcpy(image, data, size);
    struct dpu_program_t *program = NULL;
    dpu_error_t status = dpu_load_from_memory(set, image, size, &program);
    free(image);
    if (worked(status)) {
        require(program != NULL, "a program that was loaded");
        copy_symbols(dpu, program);
        run(dpu);
    }
    require(dpu_free(set) == DPU_OK, "the set can be freed");
    return 0;
}
