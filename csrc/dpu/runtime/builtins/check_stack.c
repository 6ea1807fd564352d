/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stack.c: how much of the stack is left. */
#include <defs.h>
#include <dpuruntime.h>

int check_stack(void)
{
    const thread_stack_t *stack = &__sys_thread_stack_table_ptr[me()];

    /* The stack grows down, to stack_ptr - stack_size. */
    return (int)((uintptr_t)__builtin_frame_address(0) - (stack->stack_ptr - stack->stack_size));
}
