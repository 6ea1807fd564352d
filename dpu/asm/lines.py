# SPDX-License-Identifier: BSD-3-Clause
"""Line tables: the source lines of instructions, as in DWARF's ``.debug_line``.

Versions 2 to 4 are read; damaged tables and other versions have no rows. Version 4 is written.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..dwarf.stream import Reader, sleb, uleb

__all__ = [
    "SECTION",
    "LineRow",
    "LineTable",
    "LineUnit",
    "read_line_units",
    "read_lines",
    "write_lines",
]

SECTION = ".debug_line"

_LIMIT = 1 << 32
# The standard opcodes, without and with an operand.
_OPERANDS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_NEGATE_STATEMENT, _SET_PROLOGUE_END = 6, 10
_END_SEQUENCE, _SET_ADDRESS = 1, 2
_INSTRUCTION, _LINE_BASE, _LINE_RANGE = 8, -3, 12
_MOST_FILES = 1 << 16


class LineRow(NamedTuple):
    """The file and line from an address on; line 0 where a sequence of code ends.

    A debugger stops where a statement begins, and in a function where its prologue has ended.
    """

    address: int
    file: str
    line: int
    is_statement: bool = True
    ends_prologue: bool = False


class LineUnit(NamedTuple):
    """The line table of one compiled file: where it is, and the files that units refer to."""

    offset: int
    files: list[str]
    rows: list[LineRow]


class LineTable:
    """Rows that are searched by address."""

    def __init__(self, rows: Iterable[LineRow]) -> None:
        self.rows = sorted(rows, key=lambda row: (row.address, row.line != 0))
        self._addresses = [row.address for row in self.rows]

    def find(self, address: int) -> LineRow | None:
        """Return the row of an address, None if there is none."""
        index = bisect_right(self._addresses, address) - 1
        return self.rows[index] if index >= 0 and self.rows[index].line else None


def read_lines(data: bytes) -> list[LineRow]:
    """Decode a section; addresses are those of the file."""
    return [row for unit in read_line_units(data) for row in unit.rows]


def read_line_units(data: bytes) -> list[LineUnit]:
    """Decode a section, table by table."""
    units: list[LineUnit] = []
    section = Reader(data)
    try:
        while not section.is_at_end:
            offset = section.at
            unit = Reader(section.bytes(section.number(4)))
            try:
                files, rows = _read_unit(unit)
            except (IndexError, ValueError):
                continue
            units.append(LineUnit(offset, files, rows))
    except IndexError:
        pass
    return units


def _read_unit(unit: Reader) -> tuple[list[str], list[LineRow]]:
    version = unit.number(2)
    if not 2 <= version <= 4:
        return [], []
    header = Reader(unit.bytes(unit.number(4)))
    minimum = header.number(1)
    header.bytes(1 if version == 4 else 0)
    is_statement = header.number(1) != 0
    base, span, opcode_base = struct.unpack("<bBB", header.bytes(3))
    if span == 0 or opcode_base == 0:
        return [], []
    counts = header.bytes(opcode_base - 1)
    folders = [""]
    while name := header.string():
        folders.append(name)
    files = [""]
    while name := header.string():
        folder, _, _ = header.uleb(), header.uleb(), header.uleb()
        inside = folders[folder] if folder < len(folders) and not name.startswith("/") else ""
        files.append(f"{inside}/{name}" if inside else name)

    rows = _run(unit, minimum, (base, span, opcode_base), counts, files, is_statement)
    return files, rows


def _run(
    r: Reader,
    minimum: int,
    special: tuple[int, int, int],
    counts: bytes,
    files: list[str],
    starts: bool,
) -> list[LineRow]:
    base, span, opcode_base = special
    rows: list[LineRow] = []
    address, file, line, statement, prologue = 0, 1, 1, starts, False

    def emit(number: int) -> None:
        name = files[file] if 0 < file < len(files) else ""
        known = number if name and 0 < number < _LIMIT else 0
        # Line 0 marks code without a line: it belongs to the line before.
        if number:
            rows.append(LineRow(address % _LIMIT, name, known, statement, prologue))

    while not r.is_at_end:
        opcode = r.number(1)
        if opcode >= opcode_base:
            address += (opcode - opcode_base) // span * minimum
            line += base + (opcode - opcode_base) % span
            emit(line)
            prologue = False
        elif opcode == 0:
            extended = Reader(r.bytes(r.uleb()))
            code = extended.number(1)
            if code == _END_SEQUENCE:
                rows.append(LineRow(address % _LIMIT, "", 0))
                address, file, line, statement, prologue = 0, 1, 1, starts, False
            elif code == _SET_ADDRESS:
                address = extended.number(4)
        elif opcode == _COPY:
            emit(line)
            prologue = False
        elif opcode == _NEGATE_STATEMENT:
            statement = not statement
        elif opcode == _SET_PROLOGUE_END:
            prologue = True
        elif opcode == _ADVANCE_PC:
            address += r.uleb() * minimum
        elif opcode == _ADVANCE_LINE:
            line += r.sleb()
        elif opcode == _SET_FILE:
            file = r.uleb()
        elif opcode == _CONST_ADD_PC:
            address += (255 - opcode_base) // span * minimum
        elif opcode == _FIXED_ADVANCE_PC:
            address += r.number(2)
        else:
            for _ in range(counts[opcode - 1]):
                r.uleb()
    return rows


def write_lines(rows: Sequence[LineRow], files: Sequence[str] = ()) -> bytes:
    """Encode a section with one unit.

    Parameters
    ----------
    rows : sequence of LineRow
        By address, multiples of 8 bytes; a row without a line ends a sequence, and so does the
        last one.
    files : sequence of str
        Files that have the numbers 1, 2 and so on; others come after them.
    """
    names = list(files)[:_MOST_FILES]
    names += sorted({row.file for row in rows if row.line} - set(names))[: _MOST_FILES - len(names)]
    numbers = {name: index for index, name in reversed([*enumerate(names, 1)])}
    program = bytearray()
    inside, address, file, line, statement = False, 0, 1, 1, True
    for row in rows:
        if not inside:
            if not row.line:
                continue
            program += struct.pack("<BBBI", 0, 5, _SET_ADDRESS, row.address)
            inside, address, file, line, statement = True, row.address, 1, 1, True
        steps = (row.address - address) // _INSTRUCTION
        if not row.line or row.file not in numbers:
            program += bytes([_ADVANCE_PC, *uleb(steps), 0, 1, _END_SEQUENCE])
            inside = False
            continue
        if numbers[row.file] != file:
            file = numbers[row.file]
            program += bytes([_SET_FILE, *uleb(file)])
        if row.is_statement != statement:
            statement = row.is_statement
            program.append(_NEGATE_STATEMENT)
        if row.ends_prologue:
            program.append(_SET_PROLOGUE_END)
        program += _step(steps, row.line - line)
        address, line = row.address, row.line

    if inside:
        program += bytes([_ADVANCE_PC, 1, 0, 1, _END_SEQUENCE])
    opcode_base = len(_OPERANDS) + 1
    header = struct.pack("<BBBbBB", _INSTRUCTION, 1, 1, _LINE_BASE, _LINE_RANGE, opcode_base)
    header += _OPERANDS + b"\0"
    header += b"".join(name.encode() + b"\0\0\0\0" for name in names) + b"\0"
    unit = struct.pack("<HI", 4, len(header)) + header + program
    return struct.pack("<I", len(unit)) + unit


def _step(steps: int, lines: int) -> bytes:
    """Return the opcodes that advance by instructions and lines and emit a row."""
    if 0 <= lines - _LINE_BASE < _LINE_RANGE:
        opcode = len(_OPERANDS) + 1 + steps * _LINE_RANGE + lines - _LINE_BASE
        if opcode < 256:
            return bytes([opcode])
    return bytes([_ADVANCE_PC, *uleb(steps), _ADVANCE_LINE, *sleb(lines), _COPY])
