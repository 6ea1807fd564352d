/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane.h: WRAM of a machine as a lane of several ones' (lockstep.h).
 *
 * The words of all machines with the same address are one beside the other, so that an instruction
 * of the host has one of each.
 */
#ifndef OFFCHIP_DPU_LANE_H
#define OFFCHIP_DPU_LANE_H

#include "machine_state.h"

#include <string.h>

static inline bool dpu_is_lane(const struct dpu_machine *m)
{
    return m->lane != NULL;
}

/* Where a byte is. Those of a word, which is aligned, follow it. */
static inline uint8_t *dpu_lane_place(const struct dpu_machine *m, uint32_t address)
{
    return m->lane + (size_t)(address >> 2) * m->lane_step + (address & 3);
}

static inline void dpu_lane_read(const struct dpu_machine *m, uint32_t address, void *data,
                                 uint32_t size)
{
    uint8_t *to = data;
    if (((address | size) & 3) == 0) {
        const uint8_t *from = dpu_lane_place(m, address);
        for (uint32_t i = 0; i < size; i += 4, from += m->lane_step)
            memcpy(to + i, from, 4);
        return;
    }

    for (uint32_t i = 0; i < size; i++)
        to[i] = *dpu_lane_place(m, address + i);
}

static inline void dpu_lane_write(const struct dpu_machine *m, uint32_t address, const void *data,
                                  uint32_t size)
{
    const uint8_t *from = data;
    if (((address | size) & 3) == 0) {
        uint8_t *to = dpu_lane_place(m, address);
        for (uint32_t i = 0; i < size; i += 4, to += m->lane_step)
            memcpy(to, from + i, 4);
        return;
    }

    for (uint32_t i = 0; i < size; i++)
        *dpu_lane_place(m, address + i) = from[i];
}

#endif
