/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_target.h: what a rank of DPUs is made of. */
#ifndef DPU_TARGET_H
#define DPU_TARGET_H

#include <stdbool.h>
#include <string.h>

/* X(name, value, key): the key is what a profile says after "backend=". */
#define DPU_TARGETS(X) \
    X(FUNCTIONAL_SIMULATOR, 0, "simulator") \
    X(CYCLE_ACCURATE_SIMULATOR, 1, "cas") \
    X(RTL_SIMULATOR, 2, "model") \
    X(HW, 3, "hw") \
    X(BACKUP_SPI, 4, "spi") \
    X(SCENARIO, 5, "scenario")

typedef enum _dpu_type_t {
#define DPU_TARGET_(name, value, key) name = value,
    DPU_TARGETS(DPU_TARGET_)
#undef DPU_TARGET_
        NB_OF_DPU_TYPES = 6
} dpu_type_t;

static inline const char *dpu_type_to_string(dpu_type_t type)
{
    switch (type) {
#define DPU_TARGET_(name, value, key) \
    case name: return #name;
        DPU_TARGETS(DPU_TARGET_)
#undef DPU_TARGET_
    default: return "UNKNOWN";
    }
}

static inline bool dpu_type_from_profile_string(const char *key, dpu_type_t *type)
{
#define DPU_TARGET_(name, value, text) \
    if (strcmp(key, text) == 0) { \
        *type = name; \
        return true; \
    }
    DPU_TARGETS(DPU_TARGET_)
#undef DPU_TARGET_
    return false;
}

#endif
