# SPDX-License-Identifier: BSD-3-Clause
"""The start of a program: what every tasklet does before and after `main`.

The host starts tasklet 0 at instruction 0. It clears the state of the log and releases the atomic
bits that the program uses. Every tasklet starts the next one, at instruction 0 too, takes its stack
from the table and calls `main`.
"""

from __future__ import annotations

from ..elf_reader import ElfFile
from ..ir.code import Code, Label
from ..ir.registers import ID, ID8, RETURN, SCRATCH_HIGH, SCRATCH_LOW, ZERO
from .layout import ATOMIC_FIRST

__all__ = ["write_start"]

_STACK_POINTER = 22
_SHORT_ADDRESS = 2048


def write_start(code: Code, linked: ElfFile, tasklets: int, main: Label) -> None:
    """Append the start of a program.

    Parameters
    ----------
    code : Code
        Where nothing is yet.
    linked : ElfFile
        What the linker made.
    tasklets : int
        How many there are.
    main : Label
        The function to call.
    """
    others, last, end = code.fresh(), code.fresh(), code.fresh()
    code.jump_if("nz", ID, 0, others)
    if linked.has_symbol("__stdout_buffer_state"):
        _clear(code, linked.symbol("__stdout_buffer_state").value)
    start = linked.symbol("__atomic_start_addr").value
    _release(code, ATOMIC_FIRST, linked.symbol("__atomic_used_addr").value - start)
    code.place(others)
    if tasklets > 1:
        code.jump_if("geu", ID, tasklets - 1, last)
        code.emit("boot", "rici", ID, 1, "false", 0)
    code.place(last)
    table = linked.symbol("__sys_thread_stack_table_ptr").value
    code.emit("ld", "erri", 0, _STACK_POINTER, ID8, table)
    code.emit("call", "rri", RETURN, ZERO, main)
    code.place(end)
    code.emit("stop", "ci", "true", end)


def _clear(code: Code, address: int) -> None:
    """Store 8 bytes of zero."""
    if address < _SHORT_ADDRESS:
        code.emit("sd", "erii", 0, ZERO, address, 0)
        return
    code.put(SCRATCH_HIGH, 0)
    code.put(SCRATCH_LOW, 0)
    code.emit("sd", "erir", 0, ZERO, address, SCRATCH_HIGH)


def _release(code: Code, first: int, count: int) -> None:
    """Release atomic bits, the last one first."""
    if count == 0:
        return
    loop, released = code.fresh(), code.fresh()
    code.put(SCRATCH_HIGH, first + count - 1)
    code.place(loop)
    code.emit("release", "rici", SCRATCH_HIGH, 0, "nz", released)
    code.place(released)
    code.emit("add", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0xFFFF_FFFF)
    code.jump_if("geu", SCRATCH_HIGH, first, loop)
