/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.c: telling what was found, each pair of instructions once. */
#include "dpu/checks/state.h"

/* Kind, memory and both instructions; never 0. */
static uint64_t key_of(const struct dpu_finding *finding)
{
    uint64_t kind = (uint64_t)finding->kind << 1 | finding->in_mram, here = finding->here.pc;
    uint64_t other = finding->has_other ? finding->other.pc + 1u : 0;
    /* Of two accesses either may come first. */
    if (finding->has_other && other - 1 < here) {
        other = here + 1;
        here = finding->other.pc;
    }
    return (kind << 40 | here << 20 | other) + 1;
}

static bool is_new(struct dpu_checks *checks, uint64_t key)
{
    if (checks->told_count == TOLD_SLOTS / 2)
        return false;

    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15) >> 40;
    for (uint64_t at = hash;; at++) {
        uint64_t *slot = &checks->told[at % TOLD_SLOTS];
        if (*slot == key)
            return false;
        if (*slot != 0)
            continue;
        *slot = key;
        checks->told_count++;
        return true;
    }
}

void check_tell(struct dpu_checks *checks, struct dpu_finding *finding)
{
    if ((checks->wanted & (uint32_t)finding->check) == 0 || !is_new(checks, key_of(finding)))
        return;

    /* An access during a transfer is a race too. */
    if (finding->kind == DPU_FINDING_DMA_IN_FLIGHT) {
        struct dpu_finding race = *finding;
        race.kind = DPU_FINDING_RACE;
        is_new(checks, key_of(&race));
    }

    checks->tell(checks->context, checks, finding);
}

struct dpu_check_point check_point(const struct dpu_checks *checks, uint32_t thread, uint32_t pc)
{
    return (struct dpu_check_point){
        .thread = thread, .pc = pc, .calls = checks->tasklets[thread].calls};
}
