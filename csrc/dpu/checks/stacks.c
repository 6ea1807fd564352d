/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks.c: stacks that grow into what is beside them. Ours grow down, those of others up. */
#include "dpu/checks/state.h"

#define STACK_POINTER 22

void stacks_moved(struct dpu_checks *checks, uint32_t thread, uint32_t pc)
{
    struct dpu_thread_state state;
    const struct dpu_check_area *stack = &checks->layout.stacks[thread];
    struct tasklet *tasklet = &checks->tasklets[thread];
    if (!checks->is_known || stack->size == 0 ||
        !dpu_machine_get_thread(checks->machine, thread, &state))
        return;

    uint32_t pointer = state.registers[STACK_POINTER], end = stack->address + stack->size;
    uint32_t before = tasklet->stack_pointer;
    tasklet->stack_pointer = pointer;
    if (tasklet->stack_direction == 0) {
        tasklet->stack_direction = pointer == end ? -1 : pointer == stack->address ? 1 : 0;
        return;
    }
    /* Those that grow up are written to before they grow. */
    if (tasklet->stack_direction < 0)
        defined_stack(checks, before, pointer);
    if (pointer >= stack->address && pointer <= end)
        return;

    /* As a number with a sign: a stack at the beginning of WRAM has nothing before it. */
    bool below = (int32_t)(pointer - stack->address) < 0;
    struct dpu_finding finding = {
        .kind = DPU_FINDING_STACK_OVERFLOW,
        .check = DPU_CHECK_STACK,
        .here = check_point(checks, thread, pc),
        .address = pointer,
        .size = below ? stack->address - pointer : pointer - end,
        .end = stack->size,
    };
    check_tell(checks, &finding);
}
