# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a file of DPU assembly to an object that is linked with those of C.

Its functions have the vendor's calling convention. Code in C calls them through entries, which
`translate.conventions` writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path

from ...asm.assembler import assemble_unit
from ...asm.errors import AsmError, Problem
from ...asm.expressions import Expression, ExpressionError
from ...asm.sources import Source
from ...asm.unit import Place, Section, Symbol, Unit
from ...elf.format import Binding
from ..commands import run
from ..compilers import Toolchain
from ..errors import ToolchainError
from .assembly_text import AssemblyUnit
from .instruction_words import ENTRY_PREFIX, InstructionWriter

__all__ = ["compile_assembly"]

_SIZES = {1: ".byte", 2: ".short", 4: ".long", 8: ".quad"}
_BINDINGS = {Binding.GLOBAL: ".globl", Binding.WEAK: ".weak"}
_BYTES_PER_LINE = 16
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")


def compile_assembly(
    source: AssemblyUnit, output: Path, *, toolchain: Toolchain, assembly: bool = False
) -> None:
    """Compile a file to an object, or to RISC-V assembly that contains it.

    Raises
    ------
    ToolchainError
        If the file has errors; the message has file and line of each.
    """
    name = os.fspath(source.source)
    try:
        unit = assemble_unit(Source(name, source.text, False, source.source.parent))
        if unit.problems:
            raise AsmError(unit.problems)
        text = "\n".join(_Writer(unit).lines()) + "\n"
    except AsmError as error:
        raise ToolchainError(str(error)) from error
    if assembly:
        output.write_text(text)
        return
    command = [*toolchain.compiler, *toolchain.target_options, "-Wno-unused-command-line-argument"]
    command += ["-gdwarf-4", "-c", "-x", "assembler", "-", "-o", str(output)]
    run(command, text=text)


class _Writer:
    """Writes an assembled source as RISC-V assembly."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.words = InstructionWriter(unit)
        self.symbols: dict[int, list[Symbol]] = {}
        for symbol in unit.symbols.values():
            if symbol.section is not None:
                self.symbols.setdefault(id(symbol.section), []).append(symbol)
        self.files: dict[str, int] = {}

    def lines(self) -> Iterator[str]:
        for symbol in self.unit.symbols.values():
            yield from self._number(symbol)
        for section in self.unit.sections.values():
            if section.place is Place.TEXT and section.size:
                yield from self._code(section)
            elif section.place not in (Place.TEXT, Place.NOWHERE):
                yield from self._data(section)

    def _number(self, symbol: Symbol) -> Iterator[str]:
        """Define a symbol that other files see as a number."""
        if symbol.binding not in _BINDINGS or symbol.section is not None:
            return
        if symbol.common is not None:
            raise self._error(symbol, "common symbols are not supported: use .bss")
        if isinstance(symbol.expression, int):
            yield f"{_BINDINGS[symbol.binding]} {symbol.name}"
            yield f".set {symbol.name}, {symbol.expression}"

    @staticmethod
    def _error(symbol: Symbol, message: str) -> AsmError:
        return AsmError([Problem(f"{symbol.name!r}: {message}", symbol.location)])

    # Code.

    def _code(self, section: Section) -> Iterator[str]:
        if len(section.instructions) * 8 != section.size or section.numbers:
            raise AsmError(f"section {section.name} has data between its instructions")
        yield f'.section {_quoted(section.name)},"ax",@progbits'
        entries = self._entries(section)
        for position, fixup in enumerate(section.instructions):
            yield from (f"{ENTRY_PREFIX}{name}:" for name in entries.get(position, ()))
            yield f"{self.words.label(section, position)}:"
            file = yield from self._file(fixup.line.file)
            yield f".loc {file} {fixup.line.number}"
            try:
                yield from self.words.instruction(fixup)
            except ExpressionError as error:
                raise AsmError(str(error), fixup.line.location(error.column)) from error
        yield f"{self.words.label(section, len(section.instructions))}:"

        for position, names in sorted(entries.items()):
            for name in names:
                yield f".size {ENTRY_PREFIX}{name}, {self._end(section, position, entries)}"
                yield from self._entry(self.unit.symbols[name])

    def _file(self, name: str) -> Generator[str, None, int]:
        """Yield the definition of a file at its first use; return its number."""
        if name not in self.files:
            self.files[name] = len(self.files) + 1
            yield f".file {self.files[name]} {_quoted(os.path.abspath(name))}"
        return self.files[name]

    def _entries(self, section: Section) -> dict[int, list[str]]:
        """Return the names that other files know, by position."""
        entries: dict[int, list[str]] = {}
        for symbol in self.symbols.get(id(section), ()):
            if symbol.binding in _BINDINGS:
                if symbol.name == "__bootstrap":
                    raise self._error(symbol, "programs with C have start code already")
                entries.setdefault(symbol.offset // 8, []).append(symbol.name)
        return entries

    def _end(self, section: Section, position: int, entries: dict[int, list[str]]) -> str:
        following = min((p for p in entries if p > position), default=len(section.instructions))
        return f"{self.words.label(section, following)}-{self.words.label(section, position)}"

    def _entry(self, symbol: Symbol) -> Iterator[str]:
        """Write a function that C calls, and which calls the one in assembly."""
        name, binding = symbol.name, _BINDINGS[symbol.binding]
        yield f"{binding} {ENTRY_PREFIX}{name}"
        yield f".type {ENTRY_PREFIX}{name}, @function"
        yield f'.pushsection {_quoted(".text.entry." + name)},"ax",@progbits'
        yield f"{binding} {name}"
        yield f".type {name}, @function"
        yield f"{name}:"
        yield from self.words.entry(name)
        yield f".size {name}, .-{name}"
        yield ".popsection"

    # Data.

    def _data(self, section: Section) -> Iterator[str]:
        kind = "nobits" if section.place.is_empty or section.name.startswith(".bss") else "progbits"
        yield f'.section {_quoted(section.name)},"aw",@{kind}'
        yield f".balign {section.alignment}"
        yield f"{self.words.label(section)}:"
        ends = {symbol.offset for symbol in self.symbols.get(id(section), ())}
        numbers = {number.offset: number for number in section.numbers}
        position = 0
        while position <= section.size:
            yield from self._labels(section, position)
            if position == section.size:
                return
            number = numbers.get(position)
            if number is not None:
                if number.size not in _SIZES:
                    raise AsmError("addresses have 1, 2, 4 or 8 bytes", number.location)
                yield f"{_SIZES[number.size]} {self._value(number.expression)}"
                position += number.size
                continue
            stops = [p for p in (*ends, *numbers, section.size) if p > position]
            end = min(stops)
            yield from self._bytes(section, position, end)
            position = end

    def _value(self, expression: Expression) -> int | str:
        try:
            return self.words.word(expression)
        except ExpressionError as error:
            raise AsmError(str(error)) from error

    def _labels(self, section: Section, position: int) -> Iterator[str]:
        for symbol in self.symbols.get(id(section), ()):
            if symbol.offset == position and _NAME.fullmatch(symbol.name):
                if symbol.binding in _BINDINGS:
                    yield f"{_BINDINGS[symbol.binding]} {symbol.name}"
                yield f".type {symbol.name}, @object"
                yield f"{symbol.name}:"
                size = self._value(symbol.size) if symbol.size is not None else None
                if isinstance(size, int):
                    yield f".size {symbol.name}, {size}"

    @staticmethod
    def _bytes(section: Section, start: int, end: int) -> Iterator[str]:
        data = bytes(section.data[start:end])
        if not any(data):
            yield f".zero {end - start}"
            return
        for at in range(0, len(data), _BYTES_PER_LINE):
            yield ".byte " + ", ".join(map(str, data[at : at + _BYTES_PER_LINE]))


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
