/* SPDX-License-Identifier: BSD-3-Clause */
#include "tlb.h"

#include "machine_state.h"

#include <string.h>

void dpu_tlb_reset(struct dpu_machine *m)
{
    m->tlb.count = 0;
}

/* Makes PAGE the last used. False if it was not there. */
static bool use(struct dpu_tlb *tlb, uint32_t entries, uint32_t page)
{
    uint32_t at = 0;
    while (at < tlb->count && tlb->pages[at] != page)
        at++;

    bool was_there = at < tlb->count;
    if (!was_there && tlb->count < entries)
        tlb->count++;
    /* Of a full one the last page gives way. */
    at = at < entries ? at : entries - 1;
    memmove(tlb->pages + 1, tlb->pages, at * sizeof *tlb->pages);
    tlb->pages[0] = page;
    return was_there;
}

uint64_t dpu_tlb_walk(struct dpu_machine *m, uint32_t far, uint32_t bytes)
{
    const struct dpu_machine_options *o = &m->options;
    uint64_t cycles = 0;
    if (o->tlb_entries == 0)
        return 0;

    for (uint32_t page = far / o->tlb_page; page <= (far + bytes - 1) / o->tlb_page; page++)
        cycles += use(&m->tlb, o->tlb_entries, page) ? 0 : o->tlb_walk;
    return cycles;
}
