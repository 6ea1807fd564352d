/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c: WRAM of the machines in lockstep, word by word beside each other. */
#include "lane.h"
#include "lockstep_state.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Memory of slices that are over, for the next ones: to have new pages takes longer than to fill
 * them. Each has room for all lanes. */
#define SPARES 8
#define ROOM ((size_t)DPU_MACHINE_WRAM_ROOM * DPU_LOCKSTEP_MOST)
static _Atomic(uint8_t *) spares[SPARES];

static uint8_t *take_memory(void)
{
    for (uint32_t i = 0; i < SPARES; i++) {
        uint8_t *spare = atomic_exchange_explicit(&spares[i], NULL, memory_order_acquire);
        if (spare != NULL)
            return spare;
    }

    return aligned_alloc(64, ROOM);
}

static void give_memory(uint8_t *memory)
{
    for (uint32_t i = 0; i < SPARES && memory != NULL; i++)
        memory = atomic_exchange_explicit(&spares[i], memory, memory_order_acq_rel);
    free(memory);
}

bool dpu_lanes_make(struct dpu_lockstep *s)
{
    const struct dpu_machine *any = s->lanes[0].m;
    s->wram = take_memory();
    if (s->wram == NULL)
        return false;

    uint8_t *memories[DPU_LOCKSTEP_MOST];
    for (uint32_t i = 0; i < s->count; i++) {
        struct dpu_machine *m = s->lanes[i].m;
        memories[i] = m->wram;
        m->lane = s->wram + (size_t)4 * i;
        m->lane_step = 4 * s->code->lanes;
    }

    s->code->move_in(s->wram, memories, any->wram_size, dpu_lanes_of(s->count));
    return true;
}

void dpu_lanes_copy_out(const struct dpu_lockstep *s, uint32_t set)
{
    uint8_t *memories[DPU_LOCKSTEP_MOST];
    for (uint32_t i = 0; i < s->count; i++)
        memories[i] = s->lanes[i].m->wram;
    s->code->move_out(s->wram, memories, s->lanes[0].m->wram_size, set);
}

void dpu_lanes_give_back(struct dpu_lockstep *s)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (dpu_is_lane(s->lanes[i].m)) {
            s->lanes[i].m->lane = NULL;
            set |= 1u << i;
        }

    dpu_lanes_copy_out(s, set);
    give_memory(s->wram);
}
