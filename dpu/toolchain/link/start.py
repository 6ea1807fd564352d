# SPDX-License-Identifier: BSD-3-Clause
"""The start code of a program, which each tasklet runs before and after `main`.

The host boots tasklet 0 at instruction 0. It clears the state of the log and releases the atomic
bits that the program uses; in the first launch after loading it calls the constructors of global
objects, before any other tasklet runs. Each tasklet boots the next one, also at instruction 0,
loads its stack pointer from the stack table, and calls `main`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...elf.reader import ElfFile
from ..ir.code import Code
from ..ir.operands import Condition, Label, LabelKind
from ..ir.registers import ID, ID8, RETURN, SCRATCH_HIGH, SCRATCH_LOW, STACK_POINTER, ZERO
from ..translate.conventions import write_stack_start
from .layout import ATOMIC_FIRST

__all__ = ["END", "END_NAME", "write_start"]

# Where tasklets stop, and its symbol, which the linker script only declares.
END, END_NAME = Label(LabelKind.PART, "end"), "__sys_end"
_SHORT_ADDRESS = 2048


def write_start(
    code: Code,
    linked: ElfFile,
    tasklets: int,
    main: Label,
    *,
    constructors: Sequence[Label] = (),
    has_assembly: bool = False,
) -> None:
    """Append the start code.

    Parameters
    ----------
    code : Code
        Still empty: the start code is at instruction 0.
    linked : ElfFile
        The linker's output.
    tasklets : int
        The number of tasklets.
    main : Label
        The function to call.
    constructors : sequence of Label
        The functions in the table at ``__sys_constructors``, in order.
    has_assembly : bool
        Whether functions in assembly need their end of the stack.
    """
    others, last = code.new_label(), code.new_label()
    code.jump_if(Condition.NOT_ZERO, ID, 0, others)
    if linked.has_symbol("__stdout_buffer_state"):
        _clear(code, linked.symbol("__stdout_buffer_state").value)
    start = linked.symbol("__atomic_start_addr").value
    _release(code, ATOMIC_FIRST, linked.symbol("__atomic_used_addr").value - start)
    table = linked.symbol("__sys_thread_stack_table_ptr").value
    if constructors:
        _load_stack(code, table, has_assembly)
        _construct(code, linked.symbol("__sys_constructors").value, constructors, others)

    code.place(others)
    if tasklets > 1:
        code.jump_if(Condition.GREATER_EQUAL_UNSIGNED, ID, tasklets - 1, last)
        code.emit("boot", "rici", ID, 1, Condition.FALSE, 0)

    code.place(last)
    _load_stack(code, table, has_assembly)
    code.emit("call", "rri", RETURN, ZERO, main)
    code.place(END)
    code.emit("stop", "ci", Condition.TRUE, END)


def _load_stack(code: Code, table: int, has_assembly: bool) -> None:
    # The top of the stack goes to the stack pointer, its size to the other register of the pair.
    code.emit("ld", "erri", 0, STACK_POINTER, ID8, table)
    if has_assembly:
        write_stack_start(code)


def _construct(code: Code, table: int, constructors: Sequence[Label], done: Label) -> None:
    """Append calls, once per load: the first word of their table becomes 0, and nobody reads it."""
    code.load_immediate(SCRATCH_HIGH, table)
    code.emit("lw", "erri", 0, SCRATCH_LOW, SCRATCH_HIGH, 0)
    code.jump_if(Condition.ZERO, SCRATCH_LOW, 0, done)
    code.emit("sw", "erii", 0, SCRATCH_HIGH, 0, 0)
    for constructor in constructors:
        code.emit("call", "rri", RETURN, ZERO, constructor)


def _clear(code: Code, address: int) -> None:
    """Append a store of 8 bytes of zero."""
    if address < _SHORT_ADDRESS:
        code.emit("sd", "erii", 0, ZERO, address, 0)
        return
    code.load_immediate(SCRATCH_HIGH, 0)
    code.load_immediate(SCRATCH_LOW, 0)
    code.emit("sd", "erir", 0, ZERO, address, SCRATCH_HIGH)


def _release(code: Code, first: int, count: int) -> None:
    """Append a loop that releases atomic bits, the last one first."""
    if count == 0:
        return
    loop, released = code.new_label(), code.new_label()
    code.load_immediate(SCRATCH_HIGH, first + count - 1)
    code.place(loop)
    code.emit("release", "rici", SCRATCH_HIGH, 0, Condition.NOT_ZERO, released)
    code.place(released)
    code.emit("add", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 0xFFFF_FFFF)
    code.jump_if(Condition.GREATER_EQUAL_UNSIGNED, SCRATCH_HIGH, first, loop)
