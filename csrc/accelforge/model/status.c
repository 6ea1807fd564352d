/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/status.h"

const char *forge_status_text(enum forge_status status)
{
    switch (status) {
#define X(name, text) \
    case FORGE_##name: return text;
        FORGE_STATUSES(X)
#undef X
    case FORGE_STATUS_COUNT: break;
    }
    return "unknown status";
}

struct forge_fault forge_fault_of(enum forge_status status)
{
    struct forge_fault fault = {
        .status = status,
        .einsum = FORGE_NONE,
        .component = FORGE_NONE,
        .level = FORGE_NONE,
        .dimension = FORGE_NONE,
        .tensor = FORGE_NONE,
        .variable = FORGE_NONE,
        .value = FORGE_NONE,
        .access = FORGE_NONE,
    };
    return fault;
}
