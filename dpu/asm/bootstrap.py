# SPDX-License-Identifier: BSD-3-Clause
"""The start code: every tasklet starts the next one, takes its stack and calls main.

A program is started with one tasklet at instruction 0. It empties the buffer of printf, if there
is one, and releases the atomic bits, which keep their state between launches.
"""

from __future__ import annotations

__all__ = ["bootstrap_source"]

_START = """
        .section .text.__bootstrap, "ax", @progbits
        .globl  __bootstrap, __sys_end
        .type   __bootstrap, @function
__bootstrap:
"""

_FIRST = """
        jnz     id, __sys_start_thread
"""

_NO_OUTPUT_YET = """
        sd      zero, __stdout_buffer_state, 0
"""

_RELEASE_ATOMIC_BITS = """
        move    r23, __sys_atomic_used_end - 1
__sys_atomic_bit_clear:
        release r23, 0, nz, . + 1
        add     r23, r23, -1
        jgeu    r23, __atomic_used_addr, __sys_atomic_bit_clear
"""

_REST = """
__sys_start_thread:
        jeq     id, NR_TASKLETS - 1, . + 2
        boot    id, 1
        ld      d22, id8, __sys_thread_stack_table_ptr
        call    r23, main
__sys_end:
        stop    true, __sys_end
        .size   __bootstrap, . - __bootstrap

        .section .data.immediate_memory.first, "aw", @progbits
        .globl  __sys_null_pointer
        .type   __sys_null_pointer, @object
        .size   __sys_null_pointer, 8
__sys_null_pointer:
        .quad   0

        .section .data.stack_table, "aw", @progbits
        .p2align 3
        .globl  __sys_thread_stack_table_ptr
        .type   __sys_thread_stack_table_ptr, @object
        .size   __sys_thread_stack_table_ptr, 8 * {tasklets}
__sys_thread_stack_table_ptr:
{table}

        .section .dpu_host, "aw", @progbits
        .p2align 3
        .weak   CLOCKS_PER_SEC, error_storage
        .type   CLOCKS_PER_SEC, @object
        .size   CLOCKS_PER_SEC, 4
CLOCKS_PER_SEC:
        .long   0
        .type   error_storage, @object
        .size   error_storage, 4
error_storage:
        .long   0
"""


def bootstrap_source(*, tasklets: int, has_output: bool, has_atomic_bits: bool) -> str:
    """Write the code in assembly.

    Parameters
    ----------
    tasklets : int
        How many the table of stacks has room for.
    has_output : bool
        Whether the program defines ``__stdout_buffer_state``.
    has_atomic_bits : bool
        Whether it has atomic bits.
    """
    # `ld` takes the first word to the odd register.
    table = "\n".join(
        f"        .long   STACK_SIZE_TASKLET_{i}, __sys_stack_thread_{i}" for i in range(tasklets)
    )
    text = _START
    if has_output or has_atomic_bits:
        text += _FIRST
    if has_output:
        text += _NO_OUTPUT_YET
    if has_atomic_bits:
        text += _RELEASE_ATOMIC_BITS
    return text + _REST.format(table=table, tasklets=tasklets)
