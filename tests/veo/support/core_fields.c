/* SPDX-License-Identifier: BSD-3-Clause */
/* core_fields.c: where the fields of a core are and how long the table is, for ctypes. */
#include "veo/machine/core.h"

#include <stddef.h>

extern const struct core_field {
    const char *name;
    size_t offset;
} core_fields[];

extern const uint32_t operation_count;
__attribute__((visibility("default"))) const uint32_t operation_count = VE_OPERATION_COUNT;

#define FIELD(name) {#name, offsetof(struct ve_core, name)}

__attribute__((visibility("default"))) const struct core_field core_fields[] = {
    FIELD(s),
    FIELD(vl),
    FIELD(vix),
    FIELD(ic),
    FIELD(fault),
    FIELD(communication),
    FIELD(communication_count),
    FIELD(vm),
    FIELD(v),
    {NULL, 0},
};
