/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/isa/chip.h"

#include <stddef.h>

static const struct dpu_chip chips[] = {
#define CHIP(name, text, threads, instructions, wram) \
    {text, threads, instructions, wram, DPU_MACHINE_MRAM},
#include "dpu/isa/chip.def"
#undef CHIP
};

/* Sizes that are for every chip are those of the largest. */
#define CHIP(name, text, threads, instructions, wram) \
    _Static_assert((threads) <= DPU_MACHINE_THREADS && (instructions) <= DPU_MACHINE_IRAM && \
                       (wram) <= DPU_MACHINE_WRAM, \
                   text);
#include "dpu/isa/chip.def"
#undef CHIP

const struct dpu_chip *dpu_chip_of(uint32_t architecture)
{
    return architecture < DPU_ARCHITECTURE_COUNT ? &chips[architecture] : NULL;
}
