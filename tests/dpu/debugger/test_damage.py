# SPDX-License-Identifier: BSD-3-Clause
"""Damaged debug information: the debugger's readers end with what they can read, or an error."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.debugger.errors import DebuggerError
from dpu.debugger.frames import Frame, unwind
from dpu.debugger.process import Process
from dpu.debugger.program import DebugProgram
from dpu.dwarf.locations import Unavailable
from dpu.dwarf.types import Type
from dpu.lldb.printing import describe_frame, variable_text
from tests.dpu.reference.pairing import SCALE, SEED

SECTIONS = ("info", "abbrev", "str", "line", "frame", "loc", "ranges")
DAMAGED = 40 * SCALE
# Bytes that are often lengths, counts, or continue a number.
BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)


def look_at_all(program: DebugProgram) -> int:
    """Ask for all that a session asks for; return how many types could be read."""
    types = 0
    for function in program.functions:
        for address in (function.first, function.first + 8, function.end):
            program.line_at(address)
            program.line_range(address)
            program.unit_of(address)
            program.frames.find(address)
            list(program.variables(program.scopes(function, address)))
        program.after_prologue(function)
    for entry in program.entries.values():
        try:
            read: Type = program.type_of(entry)
            assert isinstance(read.name, str) and read.size >= 0
            types += 1
        except (DebuggerError, Unavailable):
            pass
    return types


def damaged(data: bytes, program: DebugProgram, section: str, draw: random.Random) -> bytes:
    """Return the file with a few other bytes in a section."""
    contents = program.section(section)
    first, output = data.index(contents), bytearray(data)
    for _ in range(draw.choice((1, 2, 8, 64))):
        value = draw.choice((*BYTES, draw.randrange(256)))
        output[first + draw.randrange(len(contents))] = value
    return bytes(output)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_damaged_section(kernel: Callable[..., Path], level: str, section: str) -> None:
    data = kernel(level).read_bytes()
    program = DebugProgram(data)
    assert look_at_all(program)
    name = f".debug_{section}"
    if not program.section(name):
        pytest.skip(f"the program has no {name}")
    draw = random.Random(f"{SEED} {level} {section}")
    messages: list[str] = []
    for _ in range(DAMAGED):
        try:
            look_at_all(DebugProgram(damaged(data, program, name, draw), "kernel"))
        except DebuggerError as error:
            messages.append(str(error))
    assert all(message.startswith("kernel: ") for message in messages)


def look_at_values(process: Process, program: DebugProgram) -> int:
    """Show all variables of the frames of a tasklet, also of made up ones; return how many."""
    machine, shown = process.machine, 0
    state = machine.thread(process.thread)
    registers = dict(enumerate(state.registers))
    frames = unwind(machine, program, process.thread)
    frames += [
        Frame(machine, program, process.thread, 0, function.first + 8, registers)
        for function in program.functions
    ]
    for frame in frames:
        describe_frame(frame)
        for entry in frame.variables():
            try:
                shown += "not available" not in variable_text(frame, entry)
            except (DebuggerError, Unavailable):
                pass
    return shown


@pytest.mark.parametrize("section", ["info", "abbrev", "frame", "loc"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_values_of_a_damaged_section(
    debug: Callable[..., Process], kernel: Callable[..., Path], level: str, section: str
) -> None:
    process = debug(level)
    process.add_breakpoint("main")
    process.resume()
    data = kernel(level).read_bytes()
    assert look_at_values(process, process.code)
    name = f".debug_{section}"
    if not process.code.section(name):
        pytest.skip(f"the program has no {name}")
    draw = random.Random(f"{SEED} {level} {section} values")
    messages: list[str] = []
    for _ in range(DAMAGED // 2):
        try:
            look_at_values(process, DebugProgram(damaged(data, process.code, name, draw), "kernel"))
        except DebuggerError as error:
            messages.append(str(error))
    assert all(message.startswith("kernel: ") for message in messages)
