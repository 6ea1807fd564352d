# SPDX-License-Identifier: BSD-3-Clause
"""Displays the contents of DPU programs: ``python -m dpu.objdump FILE``.

With ``--source`` the output is assembly that assembles to the same instructions and data.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from offchip.closed_pipe import ends_at_closed_pipe

from . import _isa
from .asm.forms import CONDITIONS, REGISTERS
from .asm.lines import SECTION, LineTable, read_lines
from .asm.printer import write_word
from .elf.format import (
    ATOMIC_BASE,
    IRAM_BASE,
    LOAD,
    MRAM_BASE,
    Binding,
    SectionFlags,
    SectionType,
    SymbolType,
)
from .elf.program import ProgramFile
from .elf.reader import ElfError, ElfSection, ElfSymbol

__all__ = ["as_json", "dump", "main", "source_of"]

_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_FLAGS = ((SectionFlags.WRITE, "w"), (SectionFlags.ALLOC, "a"), (SectionFlags.EXECUTE, "x"))
_ABS = "*ABS*"
_ROW = 16


def _memory(address: int) -> str:
    if address >= ATOMIC_BASE:
        return "atomic"
    if address >= IRAM_BASE:
        return "IRAM"
    return "MRAM" if address >= MRAM_BASE else "WRAM"


def _named(program: ProgramFile) -> list[ElfSymbol]:
    hidden = (SymbolType.SECTION, SymbolType.FILE)
    return [
        one for one in program.symbols if one.name and one.is_defined and one.type not in hidden
    ]


def _code_names(program: ProgramFile) -> dict[int, list[str]]:
    """Return the names of instructions; functions come first, then global symbols."""
    found: dict[int, list[tuple[bool, bool, str]]] = {}
    for one in _named(program):
        if one.section is not None and IRAM_BASE <= one.value < ATOMIC_BASE:
            key = (one.type != SymbolType.FUNC, one.binding == Binding.LOCAL, one.name)
            found.setdefault((one.value - IRAM_BASE) // 8, []).append(key)
    return {index: [key[2] for key in sorted(keys)] for index, keys in found.items()}


def _headers(program: ProgramFile) -> Iterator[str]:
    yield f"chip {program.chip or 'unknown'}, entry {program.entry:#x}, flags {program.flags:#x}"
    yield ""
    yield "segments:"
    for segment in program.segments:
        if segment.type == LOAD:
            rights = "".join(
                letter if segment.flags & bit else "-"
                for bit, letter in ((4, "r"), (2, "w"), (1, "x"))
            )
            memory = _memory(segment.address)
            yield f"  {segment.address:08x} {segment.size:8} bytes {rights} {memory}"


def _sections(program: ProgramFile) -> Iterator[str]:
    yield "sections:"
    for section in program.sections:
        if section.type:
            flags = "".join(letter for bit, letter in _FLAGS if section.flags & bit)
            contents = "" if section.type != SectionType.NOBITS else " no contents"
            yield (
                f"  {section.address:08x} {section.size:8} bytes {flags:3} {section.name}{contents}"
            )


def _symbols(program: ProgramFile) -> Iterator[str]:
    yield "symbols:"
    for one in sorted(_named(program), key=lambda symbol: symbol.value):
        binding = Binding(one.binding).name.lower() if one.binding < 3 else str(one.binding)
        kind = SymbolType(one.type).name.lower() if one.type < 5 else str(one.type)
        section = one.section.name if one.section is not None else _ABS
        yield f"  {one.value:08x} {one.size:8} {binding:6} {kind:6} {section} {one.name}"


def _disassembly(program: ProgramFile, *, with_lines: bool) -> Iterator[str]:
    names = _code_names(program)
    lines = program.section(SECTION) if with_lines else None
    table = LineTable(read_lines(lines.data) if lines is not None else ())
    before = None

    def label(index: int) -> str | None:
        return names[index][0] if index in names else None

    yield "instructions:"
    for index, word in enumerate(program.words()):
        for name in names.get(index, ()):
            yield f"{IRAM_BASE + 8 * index:08x} <{name}>:"
        row = table.find(IRAM_BASE + 8 * index)
        place = (row.file, row.line) if row is not None else None
        if place is not None and place != before:
            yield f"; {place[0]}:{place[1]}"
        before = place
        yield f"  {index:4}: {word:012x}  {write_word(word, label)}"


# Assembly that can be assembled again.


class _Names:
    """The symbols that can be labels: their names are unique and have no other meaning."""

    def __init__(self, program: ProgramFile) -> None:
        self.code: dict[int, list[ElfSymbol]] = {}
        self.data: dict[str, list[ElfSymbol]] = {}
        seen: dict[str, int] = {}
        named = _named(program)
        for one in named:
            seen[one.name] = seen.get(one.name, 0) + 1

        for one in named:
            if (
                seen[one.name] > 1
                or not _NAME.fullmatch(one.name)
                or one.name in REGISTERS
                or one.name in CONDITIONS
                or one.section is None
            ):
                continue
            if IRAM_BASE <= one.value < ATOMIC_BASE:
                if one.value % 8 == 0:
                    self.code.setdefault((one.value - IRAM_BASE) // 8, []).append(one)
            else:
                self.data.setdefault(one.section.name, []).append(one)

    def label(self, index: int) -> str | None:
        """Return the name of an instruction."""
        found = self.code.get(index)
        return found[0].name if found else None


def _declare(one: ElfSymbol) -> Iterator[str]:
    if one.binding == Binding.GLOBAL:
        yield f"        .globl  {one.name}"
    elif one.binding == Binding.WEAK:
        yield f"        .weak   {one.name}"
    if one.type in (SymbolType.FUNC, SymbolType.OBJECT):
        kind = "function" if one.type == SymbolType.FUNC else "object"
        yield f"        .type   {one.name}, @{kind}"
    if one.size:
        yield f"        .size   {one.name}, {one.size}"


def _bytes(data: bytes) -> Iterator[str]:
    position = 0
    while position < len(data):
        zeros = len(data) - position - len(data[position:].lstrip(b"\0"))
        if zeros >= _ROW:
            yield f"        .zero   {zeros}"
            position += zeros
            continue
        row = data[position : position + _ROW]
        yield "        .byte   " + ", ".join(map(str, row))
        position += len(row)


def _data_source(section: ElfSection, symbols: list[ElfSymbol], first: int) -> Iterator[str]:
    """Yield the contents of a section from the offset `first` on, with its labels."""
    marks: dict[int, list[ElfSymbol]] = {}
    for one in symbols:
        offset = one.value - section.address
        if first <= offset <= section.size:
            marks.setdefault(offset, []).append(one)
    at = first
    for end in [*sorted(marks), section.size]:
        if section.type == SectionType.NOBITS:
            if end > at:
                yield f"        .zero   {end - at}"
        else:
            yield from _bytes(section.data[at:end])
        at = max(at, end)
        for one in marks.pop(end, ()):
            yield from _declare(one)
            yield f"{one.name}:"


def source_of(program: ProgramFile) -> str:
    """Return assembly that `dpu.asm` assembles to the same instructions and data."""
    names = _Names(program)
    tasklets = next((s.value for s in program.symbols if s.name == "NR_TASKLETS"), None)
    lines = []
    if tasklets is not None and 1 <= tasklets <= _isa.THREADS_ROOM:
        lines += ["        .globl  NR_TASKLETS", f"        .set    NR_TASKLETS, {tasklets}"]
    lines.append("        .text")
    words = program.words()

    def label(index: int) -> str | None:
        return names.label(index) if index < len(words) else None

    for index, word in enumerate(words):
        for one in names.code.get(index, ()):
            lines += [*_declare(one), f"{one.name}:"]
        lines.append(f"        {write_word(word, label)}")
    for section in program.sections:
        if (
            section.flags & SectionFlags.ALLOC
            and section.size
            and not IRAM_BASE <= section.address < ATOMIC_BASE
            and section.name.startswith((".data", ".mram", ".atomic"))
            and section.name not in _OURS
        ):
            kind = "nobits" if section.type == SectionType.NOBITS else "progbits"
            lines += ["", f'        .section {section.name}, "aw", @{kind}', "        .p2align 3"]
            if section.name == ".atomic":
                lines.pop()
            first = 200 if section.name == ".atomic" and section.address == ATOMIC_BASE else 0
            lines += _data_source(section, names.data.get(section.name, []), first)
    return "\n".join(lines) + "\n"


# Sections that the linker creates.
_OURS = (".data.stacks", ".data.sw_cache", ".data.heap_pointer_reset")


# The command.


def dump(
    program: ProgramFile,
    *,
    headers: bool = True,
    sections: bool = True,
    symbols: bool = True,
    disassembly: bool = True,
    lines: bool = False,
) -> str:
    """Return a description of a program.

    Parameters
    ----------
    program : ProgramFile
        The program.
    headers, sections, symbols, disassembly : bool
        What to show.
    lines : bool
        Whether to show the source lines of the instructions.
    """
    parts = []
    for wanted, part in (
        (headers, _headers),
        (sections, _sections),
        (symbols, _symbols),
        (disassembly, partial(_disassembly, with_lines=lines)),
    ):
        if wanted:
            parts.append("\n".join(part(program)))
    return "\n\n".join(parts) + "\n"


def as_json(program: ProgramFile) -> dict[str, Any]:
    """Return a description of a program as `json.dumps` takes it.

    Parameters
    ----------
    program : ProgramFile
        The program.
    """
    names = _code_names(program)
    segments = [one for one in program.segments if one.type == LOAD]
    symbols = [
        {
            "name": one.name,
            "value": one.value,
            "size": one.size,
            "is_local": one.binding == Binding.LOCAL,
            "is_function": one.type == SymbolType.FUNC,
            "section": one.section.name if one.section is not None else None,
        }
        for one in _named(program)
    ]

    def label(index: int) -> str | None:
        return names[index][0] if index in names else None

    return {
        "chip": program.chip or None,
        "entry": program.entry,
        "flags": program.flags,
        "segments": [
            {"address": one.address, "size": one.size, "memory": _memory(one.address)}
            for one in segments
        ],
        "sections": [
            {"name": one.name, "address": one.address, "size": one.size}
            for one in program.sections
            if one.type
        ],
        "symbols": symbols,
        "instructions": [
            {"word": word, "text": write_word(word, label)} for word in program.words()
        ],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.objdump",
        description="Display the contents of DPU programs: everything, or what the options select. "
        "With --source the output is assembly that assembles to the same instructions and data.",
        epilog="Example: python -m dpu.objdump -dl program",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a DPU program")
    parser.add_argument("-f", "--headers", action="store_true", help="show chip and segments")
    parser.add_argument("-s", "--sections", action="store_true", help="show the sections")
    parser.add_argument("-t", "--symbols", action="store_true", help="show the symbols")
    parser.add_argument("-d", "--disassemble", action="store_true", help="show the instructions")
    parser.add_argument("-l", "--lines", action="store_true", help="show source lines too")
    parser.add_argument("--json", action="store_true", help="print one object of JSON per file")
    parser.add_argument("-S", "--source", action="store_true", help="write assembly instead")
    return parser


@ends_at_closed_pipe
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 1 if a file cannot be read.
    """
    options = _parser().parse_args(arguments)
    status = 0
    for name in options.files:
        try:
            program = ProgramFile(Path(name).read_bytes())
        except (OSError, ElfError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            status = 1
            continue
        if options.json:
            print(json.dumps({"file": name, **as_json(program)}))
            continue
        if len(options.files) > 1 and not options.source:
            print(f"{name}:")
        print(_text(program, options), end="")
    sys.stdout.flush()
    return status


def _text(program: ProgramFile, options: argparse.Namespace) -> str:
    """Return the part of the output that is about one program."""
    if options.source:
        return source_of(program)
    instructions = options.disassemble or options.lines
    is_all = not (options.headers or options.sections or options.symbols or instructions)
    return dump(
        program,
        headers=options.headers or is_all,
        sections=options.sections or is_all,
        symbols=options.symbols or is_all,
        disassembly=instructions or is_all,
        lines=options.lines,
    )


if __name__ == "__main__":
    sys.exit(main())
