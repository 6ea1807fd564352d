/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c: the calls that each tasklet is in. They are known by the instructions that it executes,
 * so that nothing has to be guessed from its stack, whatever compiler has made the program.
 */
#include "dpu/checks/state.h"

void calls_enter(struct dpu_checks *checks, struct tasklet *tasklet, uint32_t pc)
{
    struct call_node *parent = &checks->nodes[tasklet->calls];
    if (tasklet->lost != 0) {
        tasklet->lost++;
        return;
    }

    for (uint32_t node = parent->first; node != 0; node = checks->nodes[node].next)
        if (checks->nodes[node].pc == pc) {
            tasklet->calls = node;
            return;
        }

    if (checks->node_count == CALL_NODES) {
        tasklet->lost++;
        return;
    }
    uint32_t node = checks->node_count++;
    checks->nodes[node] = (struct call_node){
        .parent = (uint16_t)tasklet->calls, .next = parent->first, .pc = (uint16_t)pc};
    parent->first = (uint16_t)node;
    tasklet->calls = node;
}

void calls_return(struct dpu_checks *checks, struct tasklet *tasklet, uint32_t to)
{
    if (tasklet->lost != 0) {
        tasklet->lost--;
        return;
    }

    /* It may leave several at once. */
    for (uint32_t node = tasklet->calls; node != 0; node = checks->nodes[node].parent)
        if (checks->nodes[node].pc + 1u == to) {
            tasklet->calls = checks->nodes[node].parent;
            return;
        }
}

bool dpu_checks_caller(const struct dpu_checks *checks, uint32_t *calls, uint32_t *pc)
{
    if (*calls == 0 || *calls >= checks->node_count)
        return false;
    *pc = checks->nodes[*calls].pc;
    *calls = checks->nodes[*calls].parent;
    return true;
}
