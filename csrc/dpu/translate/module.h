/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h: translated code in memory. */
#ifndef OFFCHIP_DPU_MODULE_H
#define OFFCHIP_DPU_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Contents of dpu_module in a generated shared object; generate.c writes the same. */
struct dpu_module {
    uint64_t size; /* of this structure */
    /*
     * Executes a tasklet from PC for at most BUDGET instructions, and stops before what it leaves
     * to the interpreter. STATE is r, zero and carry of struct dpu_thread. Returns what is left of
     * the budget << 32 | the pc.
     */
    uint64_t (*run)(uint32_t *state, uint8_t *wram, uint32_t pc, uint32_t budget);
    /* For each pc, as of dpu_plan_spans(); and whether it is translated. */
    const uint8_t *spans, *wanted;
};

struct dpu_loaded {
    const struct dpu_module *module;
    void *handle;
    int file;
    size_t size; /* bytes of the shared object */
};

/* Loads a shared object from memory, which may be freed afterwards. False if it is not one. */
bool dpu_module_load(struct dpu_loaded *loaded, const void *data, size_t size);
void dpu_module_unload(struct dpu_loaded *loaded);

#endif
