/* SPDX-License-Identifier: BSD-3-Clause */
/* chip.h: what a chip has. chip.def is the one place that says it. */
#ifndef OFFCHIP_DPU_CHIP_H
#define OFFCHIP_DPU_CHIP_H

#include <stdint.h>

/* DPU_MACHINE_THREADS and so on: sizes that are enough for every chip. */
enum {
#define CONSTANT(name, value) DPU_MACHINE_##name = value,
#include "dpu/isa/chip.def"
#undef CONSTANT
};

enum dpu_architecture {
#define CHIP(name, text, threads, instructions, wram) DPU_ARCHITECTURE_##name,
#include "dpu/isa/chip.def"
#undef CHIP
    DPU_ARCHITECTURE_COUNT
};

struct dpu_chip {
    const char *name; /* as in programs: "v1A" */
    uint32_t threads; /* tasklets */
    uint32_t iram;    /* instructions */
    uint32_t wram;    /* bytes */
    uint32_t mram;    /* bytes */
};

/* NULL for an architecture that does not exist. */
const struct dpu_chip *dpu_chip_of(uint32_t architecture);

#endif
