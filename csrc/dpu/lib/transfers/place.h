/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h: which bytes of which memory a symbol, an offset and a length designate. */
#ifndef OFFCHIP_DPU_PLACE_H
#define OFFCHIP_DPU_PLACE_H

#include "dpu.h"
#include "dpu/machine/machine.h"

#include <stdbool.h>

enum dpulib_place_memory { DPU_PLACE_WRAM, DPU_PLACE_MRAM, DPU_PLACE_IRAM };

/* Bytes, for IRAM too, where an instruction has 8. */
struct dpulib_place {
    enum dpulib_place_memory memory;
    uint32_t offset;
    uint32_t size;
};

/* Bytes of each DPU as callers name them. */
struct dpulib_target {
    bool by_name;
    const char *name;           /* of a symbol that all DPUs have */
    struct dpu_symbol_t symbol; /* given, or found by the name */
    uint32_t offset;
    size_t length;
};

static inline struct dpulib_target dpulib_by_name(const char *name, uint32_t offset, size_t length)
{
    return (struct dpulib_target){true, name, {0, 0}, offset, length};
}

static inline struct dpulib_target dpulib_by_symbol(struct dpu_symbol_t symbol, uint32_t offset,
                                                    size_t length)
{
    return (struct dpulib_target){false, NULL, symbol, offset, length};
}

/*
 * Finds the symbol of a target by its name, and checks that the bytes are within it. With the lock,
 * for a set that was checked.
 */
dpu_error_t dpulib_target_resolve(struct dpulib_target *target, const struct dpu_set_t *set);
/*
 * The place of a target that was resolved. Of what makes it impossible, this refuses what the
 * vendor's library refuses before it looks at a DPU: WRAM and IRAM that are not whole words and
 * instructions. The place has its memory then, too.
 */
dpu_error_t dpulib_place_find(struct dpulib_place *place, const struct dpulib_target *target);
/* The rest: MRAM that is not a multiple of 8, and what is beyond the end of a memory, which is the
 * same for all DPUs of a set. With the lock, for a set that was checked. */
dpu_error_t dpulib_place_check(const struct dpulib_place *place, const struct dpu_set_t *set);

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
