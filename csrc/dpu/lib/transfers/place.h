/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h: which bytes of which memory a symbol, an offset and a length designate. */
#ifndef OFFCHIP_DPU_PLACE_H
#define OFFCHIP_DPU_PLACE_H

#include "dpu_error.h"
#include "dpu/machine/machine.h"
#include "dpu_types.h"

enum dpulib_place_memory { DPU_PLACE_WRAM, DPU_PLACE_MRAM, DPU_PLACE_IRAM };

/* Bytes, for IRAM too, where an instruction has 8. */
struct dpulib_place {
    enum dpulib_place_memory memory;
    uint32_t offset;
    uint32_t size;
};

/*
 * Finds the place, within the symbol. Of what makes it impossible, this refuses what the vendor's
 * library refuses before it looks at a DPU: an end beyond the symbol's, and WRAM and IRAM that are
 * not whole words and instructions.
 */
dpu_error_t dpulib_place_find(struct dpulib_place *place, struct dpu_symbol_t symbol,
                              uint32_t offset, size_t length);
/* The rest: MRAM that is not a multiple of 8, and what is beyond the end of a memory. */
dpu_error_t dpulib_place_check(const struct dpulib_place *place, const struct dpu_machine *machine);

/*
 * Copy some bytes of a place, which has been checked; FROM and SIZE are relative to it and
 * multiples of 8 for IRAM. HOST is what belongs to the first byte of the place, and needs no
 * alignment.
 */
void dpulib_place_write(const struct dpulib_place *place, struct dpu_machine *machine,
                        uint32_t from, uint32_t size, const uint8_t *host);
void dpulib_place_read(const struct dpulib_place *place, struct dpu_machine *machine, uint32_t from,
                       uint32_t size, uint8_t *host);

#endif
