/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: bits of an address name the memory, in this order: IRAM, MRAM, else WRAM. */
#include "dpu/lib/transfers/place.h"

#include "common/copy.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/sets/set_program.h"

#include <string.h>

#define IRAM_BIT UINT32_C(0x80000000)
#define MRAM_BIT UINT32_C(0x08000000)

/* Instructions that are converted at a time, since a host's buffer may be misaligned. */
#define IRAM_CHUNK 64

dpu_error_t dpulib_target_resolve(struct dpulib_target *target, const struct dpu_set_t *set)
{
    struct dpu_symbol_t *symbol = &target->symbol;
    dpu_error_t error = target->by_name ? dpulib_set_symbol(set, target->name, symbol) : DPU_OK;
    if (error != DPU_OK)
        return error;

    if (target->offset > symbol->size || target->length > symbol->size - target->offset)
        return dpulib_fail(
            DPU_ERR_INVALID_SYMBOL_ACCESS,
            "%zu bytes at offset %u are more than the %u bytes of the symbol at 0x%x",
            target->length, target->offset, symbol->size, symbol->address);
    return DPU_OK;
}

dpu_error_t dpulib_place_find(struct dpulib_place *place, const struct dpulib_target *target)
{
    const uint32_t address = target->symbol.address + target->offset;
    const size_t length = target->length;
    place->size = (uint32_t)length;
    if ((address & IRAM_BIT) != 0) {
        place->memory = DPU_PLACE_IRAM;
        place->offset = address & ~IRAM_BIT;
        if (length != 0 && (address % 8 != 0 || length % 8 != 0))
            return dpulib_fail(
                DPU_ERR_INVALID_IRAM_ACCESS,
                "address 0x%x and length %zu are not both multiples of 8, the size of "
                "an instruction",
                address, length);
        return DPU_OK;
    }

    if ((address & MRAM_BIT) != 0) {
        place->memory = DPU_PLACE_MRAM;
        place->offset = address & ~MRAM_BIT;
        return DPU_OK;
    }

    place->memory = DPU_PLACE_WRAM;
    place->offset = address;
    if (length != 0 && (address % 4 != 0 || length % 4 != 0))
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS,
                           "address 0x%x and length %zu are not both multiples of 4, the size of a "
                           "word of WRAM",
                           address, length);
    return DPU_OK;
}

static bool is_inside(const struct dpulib_place *place, uint64_t size)
{
    return (uint64_t)place->offset + place->size <= size;
}

dpu_error_t dpulib_place_check(const struct dpulib_place *place, const struct dpu_set_t *set)
{
    const struct dpu_t *dpu = dpulib_next_dpu(set, &(struct dpulib_cursor){0});
    if (place->size == 0 || dpu == NULL)
        return DPU_OK;

    const struct dpu_machine *machine = dpu->machine;
    switch (place->memory) {
    case DPU_PLACE_IRAM:
        if (!is_inside(place, UINT64_C(8) * dpu_machine_iram_size(machine)))
            return dpulib_fail(DPU_ERR_INVALID_IRAM_ACCESS,
                               "%u bytes at 0x%x of IRAM go beyond its %u instructions",
                               place->size, place->offset, dpu_machine_iram_size(machine));
        return DPU_OK;
    case DPU_PLACE_MRAM:
        if (place->offset % 8 != 0 || place->size % 8 != 0)
            return dpulib_fail(DPU_ERR_INVALID_MRAM_ACCESS,
                               "offset 0x%x in MRAM and length %u are not both multiples of 8",
                               place->offset, place->size);
        if (!is_inside(place, dpu_machine_mram_size(machine)))
            return dpulib_fail(DPU_ERR_INVALID_MRAM_ACCESS,
                               "%u bytes at 0x%x of MRAM go beyond its %u MiB", place->size,
                               place->offset, dpu_machine_mram_size(machine) >> 20);
        return DPU_OK;
    case DPU_PLACE_WRAM: break;
    }

    if (!is_inside(place, dpu_machine_wram_size(machine)))
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS,
                           "%u bytes at 0x%x of WRAM go beyond its %u bytes", place->size,
                           place->offset, dpu_machine_wram_size(machine));
    return DPU_OK;
}

void dpulib_place_write(const struct dpulib_place *place, struct dpu_machine *machine,
                        uint32_t from, uint32_t size, const uint8_t *host)
{
    const uint32_t at = place->offset + from;
    host += from;
    switch (place->memory) {
    case DPU_PLACE_MRAM: copy_memory(dpu_machine_mram(machine, at, size, true), host, size); return;
    case DPU_PLACE_WRAM: copy_memory(dpu_machine_wram(machine, at, size, true), host, size); return;
    case DPU_PLACE_IRAM: break;
    }

    uint64_t words[IRAM_CHUNK];
    for (uint32_t done = 0; done < size;) {
        uint32_t some = size - done < sizeof words ? size - done : (uint32_t)sizeof words;
        memcpy(words, host + done, some);
        (void)dpu_machine_write_iram(machine, (at + done) / 8, words, some / 8);
        done += some;
    }
}

void dpulib_place_read(const struct dpulib_place *place, struct dpu_machine *machine, uint32_t from,
                       uint32_t size, uint8_t *host)
{
    const uint32_t at = place->offset + from;
    host += from;
    switch (place->memory) {
    case DPU_PLACE_MRAM:
        copy_memory(host, dpu_machine_mram(machine, at, size, false), size);
        return;
    case DPU_PLACE_WRAM:
        copy_memory(host, dpu_machine_wram(machine, at, size, false), size);
        return;
    case DPU_PLACE_IRAM: break;
    }

    uint64_t words[IRAM_CHUNK];
    for (uint32_t done = 0; done < size;) {
        uint32_t some = size - done < sizeof words ? size - done : (uint32_t)sizeof words;
        (void)dpu_machine_read_iram(machine, (at + done) / 8, words, some / 8);
        memcpy(host + done, words, some);
        done += some;
    }
}
