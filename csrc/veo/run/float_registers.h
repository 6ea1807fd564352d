/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * float_registers.h: floating-point arguments and results: a double, and a float in the upper half
 * of a register.
 */
#ifndef VERUN_FLOAT_REGISTERS_H
#define VERUN_FLOAT_REGISTERS_H

#include <string.h>

#include "veo/machine/core.h"

static inline double double_at(const struct ve_core *core, unsigned i)
{
    double value;
    memcpy(&value, &core->s[i], sizeof value);
    return value;
}

static inline float float_at(const struct ve_core *core, unsigned i)
{
    uint32_t bits = (uint32_t)(core->s[i] >> 32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void put_double(struct ve_core *core, unsigned i, double value)
{
    memcpy(&core->s[i], &value, sizeof value);
}

static inline void put_float(struct ve_core *core, unsigned i, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    core->s[i] = (uint64_t)bits << 32;
}

#endif
