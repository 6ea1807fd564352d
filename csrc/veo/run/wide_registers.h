/* SPDX-License-Identifier: BSD-3-Clause */
/* wide_registers.h: integers of 128 bits, the lower half of which is in the first of two registers.
 */
#ifndef VERUN_WIDE_REGISTERS_H
#define VERUN_WIDE_REGISTERS_H

#include <stdbool.h>

#include "veo/machine/core.h"

typedef unsigned __int128 wide;

static inline wide wide_at(const struct ve_core *core, unsigned first)
{
    return (wide)core->s[first + 1] << 64 | core->s[first];
}

static inline bool return_wide(struct ve_core *core, wide value)
{
    core->s[0] = (uint64_t)value;
    core->s[1] = (uint64_t)(value >> 64);
    return true;
}

#endif
