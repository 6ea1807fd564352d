/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/dpu/lib/state/checkpoint_format.c
 *
 * Fuzz target: the reader of saved DPU states. An input is a file; whatever it holds, the reader
 * keeps its contract, and what it accepts is written again as the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpu/lib/state/checkpoint_format.h"
#include "dpu/machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "contract broken: %s\n", what);
        abort();
    }
}

static bool is_empty(const struct dpu_context_t *context)
{
    static const struct dpu_context_t empty;
    return memcmp(context, &empty, sizeof empty) == 0;
}

/* Flags are numbers in the file, of which any but 0 is true. */
static void check_same(const uint8_t *bytes, const uint8_t *again, size_t size)
{
    for (size_t i = 0; i < size; i++)
        require(again[i] == bytes[i] || (again[i] == 1 && bytes[i] != 0), "the same bytes");
}

static void check_context(struct dpu_context_t *c, const uint8_t *bytes, size_t size)
{
    require(c->info.nr_threads >= 1 && c->info.nr_threads <= DPU_MACHINE_THREADS, "tasklets");
    require(c->info.nr_registers <= DPU_MACHINE_REGISTERS, "registers");
    require(c->info.nr_atomic_bits <= DPU_MACHINE_ATOMIC_BITS, "atomic bits");
    require((c->iram != NULL) == (c->info.iram_size != 0), "IRAM if it was saved");
    require((c->mram != NULL) == (c->info.mram_size != 0), "MRAM if it was saved");
    require((c->wram != NULL) == (c->info.wram_size != 0), "WRAM if it was saved");
    require(dpu_checkpoint_size(c) == size, "the size it was read from");
    uint8_t *again = malloc(size);
    if (again == NULL)
        return;
    dpu_checkpoint_write(c, again);
    check_same(bytes, again, size);
    struct dpu_context_t copy;
    require(dpu_checkpoint_read(again, size, &copy) == DPU_CHECKPOINT_OK, "what was written");
    uint8_t *third = malloc(size);
    if (third != NULL) {
        dpu_checkpoint_write(&copy, third);
        require(memcmp(again, third, size) == 0, "writing changes nothing");
    }
    free(third);
    dpu_context_destroy(&copy);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size != 0 ? size : 1);
    if (bytes == NULL)
        return 0;
    if (size != 0)
        memcpy(bytes, data, size);
    struct dpu_context_t context;
    memset(&context, 0x55, sizeof context);
    enum dpu_checkpoint_status status = dpu_checkpoint_read(bytes, size, &context);
    require(status != DPU_CHECKPOINT_NO_MEMORY, "memory in proportion to the file");
    require(strcmp(dpu_checkpoint_status_text(status), "unknown status") != 0, "a status");
    if (status == DPU_CHECKPOINT_OK)
        check_context(&context, bytes, size);
    else
        require(is_empty(&context), "nothing is left of what was refused");
    dpu_context_destroy(&context);
    require(is_empty(&context), "it is empty");
    free(bytes);
    return 0;
}
