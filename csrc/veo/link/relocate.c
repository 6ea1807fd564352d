/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/link/relocate.h"

#include <stddef.h>
#include <string.h>

const struct velink_relocation_type *velink_relocation_type(uint64_t number)
{
    static const struct velink_relocation_type types[] = {
#define X(name, number, value, field) [number] = {"R_VE_" #name, VELINK_##value, VELINK_##field},
        VELINK_RELOCATIONS(X)
#undef X
    };
    return number < sizeof types / sizeof *types ? &types[number] : NULL;
}

unsigned velink_field_size(enum velink_field field)
{
    switch (field) {
    case VELINK_NO_FIELD: return 0;
    case VELINK_QUAD: return 8;
    case VELINK_WORD:
    case VELINK_SIGNED:
    case VELINK_LOW:
    case VELINK_HIGH: return 4;
    }

    return 0;
}

bool velink_write_field(void *at, enum velink_field field, uint64_t value)
{
    uint32_t half = (uint32_t)(field == VELINK_HIGH ? value >> 32 : value);
    if (field == VELINK_NO_FIELD)
        return true;
    if (field == VELINK_SIGNED && (int64_t)value != (int32_t)half)
        return false;
    if (field == VELINK_WORD && value != half && (int64_t)value != (int32_t)half)
        return false;

    if (field == VELINK_QUAD)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &half, sizeof half);
    return true;
}
