# SPDX-License-Identifier: BSD-3-Clause
"""Output of the debugger: stops, frames, sources, instructions, memory."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..debugger.errors import DebuggerError
from ..debugger.frames import Frame
from ..debugger.machine import INSTRUCTION, IRAM_BASE
from ..debugger.process import Process, Reason, Stop
from ..debugger.program import DebugProgram
from ..debugger.values import Value, as_json, show
from ..disasm import disassemble
from ..dwarf.locations import Unavailable

__all__ = [
    "describe_frame",
    "describe_place",
    "describe_stop",
    "disassembly",
    "frame_json",
    "hexdump",
    "source_lines",
    "variable_json",
    "variable_text",
]

_REASONS = {
    Reason.LAUNCH: "launch",
    Reason.STEP: "step",
    Reason.LIMIT: "cycle limit",
}
_PER_ROW = 16
# DPUs that are named in a message.
_MOST_NAMES = 8


def describe_frame(frame: Frame) -> str:
    """Return a line about a frame."""
    function, line = frame.function, frame.line
    name = function.name if function is not None else "??"
    inlined = "".join(f"{frame.program.named(entry).name} [inlined] in " for entry in frame.inlined)
    where = f" at {line}" if line is not None else ""
    arguments = ", ".join(f"{name}={text}" for name, text in _arguments(frame) if "\n" not in text)
    return f"frame #{frame.level}: 0x{frame.pc:08x} {inlined}{name}({arguments}){where}"


def describe_place(program: DebugProgram, address: int) -> str:
    """Return a line about an instruction."""
    function, line = program.function_at(address), program.line_at(address)
    name = "no function" if function is None else function.name
    if function is not None and address != function.first:
        name += f" + {(address - function.first) // INSTRUCTION}"
    return f"0x{address:08x}: {name}" + (f" at {line}" if line is not None else "")


def _arguments(frame: Frame) -> list[tuple[str, str]]:
    function = frame.function
    if function is None or function.entry is None:
        return []
    found = []
    for entry in frame.program.variables([function.entry]):
        if entry.tag == 5:
            found.append((frame.program.named(entry).name, _value_text(frame, entry)))
    return found


def _value(frame: Frame, entry: Any) -> Value:
    return Value.in_frame(frame.program.type_of(entry), frame.pieces(entry), frame)


def _value_text(frame: Frame, entry: Any) -> str:
    try:
        return show(_value(frame, entry))
    except Unavailable:
        return "<not available>"
    except DebuggerError as error:
        return f"<{error}>"


def variable_text(frame: Frame, entry: Any) -> str:
    """Return a line about a variable."""
    named, type = frame.program.named(entry), frame.program.type_of(entry)
    return f"({type.name}) {named.name} = {_value_text(frame, entry)}"


def variable_json(frame: Frame, entry: Any) -> dict[str, Any]:
    """Return a variable as JSON has it; its value is None if it is not available."""
    named, type = frame.program.named(entry), frame.program.type_of(entry)
    try:
        value = as_json(_value(frame, entry))
    except (Unavailable, DebuggerError):
        value = None
    return {"name": named.name, "type": type.name, "value": value}


def frame_json(frame: Frame) -> dict[str, Any]:
    """Return a frame as JSON has it."""
    function, line, before = frame.function, frame.line, frame.jumped_from()
    return {
        "level": frame.level,
        "pc": frame.pc,
        "function": function.name if function is not None else None,
        "file": line.file if line is not None else None,
        "line": line.line if line is not None else None,
        "jumped_from": before.name if before is not None else None,
    }


def describe_stop(process: Process, stop: Stop) -> str:
    """Return what the user is told when the DPU stops."""
    if stop.reason is Reason.EXITED:
        text = f"the host program has ended with status {stop.detail}"
        if process.program is None:
            text += _launched(process)
        return text
    if process.attached is None:
        return _interrupted(stop)
    name = process.attached.hello.name
    lines = [f"* DPU {name}, tasklet {process.thread}, stop reason = {_reason(process, stop)}"]
    frame = process.frames()[0]
    lines.append(f"  {describe_frame(frame)}")
    if frame.line is not None:
        lines += source_lines(process.code, frame.line.file, frame.line.line, around=2)
    return "\n".join(lines)


def _launched(process: Process) -> str:
    """Return why there was nothing to debug."""
    names = list(process.host.launched)
    if not names:
        return ", and launched no DPU to debug: does it use this libdpu?"
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    return f", and launched {len(names)} DPU(s), of which none is {process.host.dpu}: {shown}"


def _interrupted(stop: Stop) -> str:
    return f"interrupted{' ' if stop.detail else ''}{stop.detail}"


def _reason(process: Process, stop: Stop) -> str:
    if stop.reason is Reason.BREAKPOINT:
        return f"breakpoint {stop.number}"
    if stop.reason is Reason.FAULT:
        return f"fault: {stop.detail}"
    if stop.reason is Reason.DEADLOCK:
        return f"deadlock: {stop.detail}"
    if stop.reason is Reason.INTERRUPTED:
        return _interrupted(stop)
    if stop.reason is not Reason.WATCHPOINT:
        return _REASONS[stop.reason]
    point = process.watchpoints[stop.number]
    new = process.machine.read(point.watch.address, point.watch.size)
    text = f"watchpoint {stop.number} ({point.text}), {stop.detail}: "
    text += _change(point.old, new) if new != point.old else "unchanged"
    point.old = new
    return text


def _change(old: bytes, new: bytes) -> str:
    """Return both; of long ones, what is from the first byte on that differs."""
    if len(new) <= 8:
        return f"{_bytes(old)} -> {_bytes(new)}"
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    return f"from byte {first} on {_bytes(old[first:])} -> {_bytes(new[first:])}"


def _bytes(data: bytes) -> str:
    if len(data) <= 8:
        return str(int.from_bytes(data, "little"))
    return data[:16].hex() + ("..." if len(data) > 16 else "")


@lru_cache(maxsize=64)
def _source(path: str) -> list[str] | None:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return None


def find_source(program: DebugProgram, file: str) -> list[str] | None:
    """Return the lines of a source; relative names are looked for around the program too."""
    folders = [Path()]
    if program.path and not os.path.isabs(file):
        folders += list(Path(os.path.abspath(program.path)).parents)[:4]
    for folder in folders:
        found = _source(str(folder / file))
        if found is not None:
            return found
    return None


def source_lines(program: DebugProgram, file: str, line: int, *, around: int) -> list[str]:
    """Return lines of a source with numbers, and a mark at one of them."""
    lines = find_source(program, file)
    if lines is None:
        return []
    first, last = max(1, line - around), min(len(lines), line + around)
    return [
        f"{'-> ' if number == line else '   '}{number:<5}{lines[number - 1]}".rstrip()
        for number in range(first, last + 1)
    ]


def disassembly(process: Process, first: int, count: int) -> list[str]:
    """Return instructions from an address on, with the functions that begin there."""
    program, lines = process.code, []
    breakpoints = {a for point in process.breakpoints.values() for a in point.addresses}
    here = process.frame().pc
    last = min(first + 8 * count, IRAM_BASE + 8 * len(program.file.words()))
    data = process.machine.read(first, max(0, last - first))
    starts = {function.first: function.name for function in program.functions}
    for index in range(len(data) // 8):
        address = first + 8 * index
        if address in starts:
            lines.append(f"{starts[address]}:")
        word = int.from_bytes(data[8 * index : 8 * index + 8], "little")
        mark = "->" if address == here else "b " if address in breakpoints else "  "
        lines.append(f"{mark} 0x{address:08x} {disassemble(word) or '?'}")
    return lines


def hexdump(address: int, data: bytes, size: int) -> list[str]:
    """Return memory as rows of numbers with some bytes each."""
    rows = []
    for at in range(0, len(data), _PER_ROW):
        row = data[at : at + _PER_ROW]
        words = [
            f"0x{int.from_bytes(row[i : i + size], 'little'):0{2 * size}x}"
            for i in range(0, len(row), size)
        ]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in row) if size == 1 else ""
        rows.append(f"0x{address + at:08x}: {' '.join(words)}{'  ' + text if text else ''}")
    return rows
