# SPDX-License-Identifier: BSD-3-Clause
"""Line tables: the source lines of instructions, as in DWARF's ``.debug_line``.

Versions 2 to 4 are read; damaged tables and other versions have no rows. Version 4 is written.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["SECTION", "LineRow", "LineTable", "read_lines", "write_lines"]

SECTION = ".debug_line"

_LIMIT = 1 << 32
# The standard opcodes, without and with an operand.
_OPERANDS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2
_INSTRUCTION, _LINE_BASE, _LINE_RANGE = 8, -3, 12
_MOST_FILES = 1 << 16


class LineRow(NamedTuple):
    """The file and line from an address on; line 0 where a sequence of code ends."""

    address: int
    file: str
    line: int


class LineTable:
    """Rows that are searched by address."""

    def __init__(self, rows: Iterable[LineRow]) -> None:
        self.rows = sorted(rows, key=lambda row: (row.address, row.line != 0))
        self._addresses = [row.address for row in self.rows]

    def find(self, address: int) -> LineRow | None:
        """Return the row of an address, None if there is none."""
        index = bisect_right(self._addresses, address) - 1
        return self.rows[index] if index >= 0 and self.rows[index].line else None


class _Reader:
    """Reads values from bytes; IndexError at their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def is_at_end(self) -> bool:
        return self.at >= len(self.data)

    def number(self, size: int) -> int:
        return int.from_bytes(self.bytes(size), "little")

    def bytes(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise IndexError(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def uleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift if shift < 64 else 0
            shift += 7
            if byte < 0x80:
                return value

    def sleb(self) -> int:
        start = self.at
        value = self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if self.data[self.at - 1] & 0x40 and bits < 64 else value

    def string(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end]
        self.at = end + 1
        return text.decode("utf-8", "replace")


def read_lines(data: bytes) -> list[LineRow]:
    """Decode a section; addresses are those of the file."""
    rows: list[LineRow] = []
    section = _Reader(data)
    try:
        while not section.is_at_end:
            unit = _Reader(section.bytes(section.number(4)))
            try:
                rows += _read_unit(unit)
            except (IndexError, ValueError):
                continue
    except IndexError:
        pass
    return rows


def _read_unit(unit: _Reader) -> list[LineRow]:
    version = unit.number(2)
    if not 2 <= version <= 4:
        return []
    header = _Reader(unit.bytes(unit.number(4)))
    minimum = header.number(1)
    header.bytes(2 if version == 4 else 1)
    base, span, opcode_base = struct.unpack("<bBB", header.bytes(3))
    if span == 0 or opcode_base == 0:
        return []
    counts = header.bytes(opcode_base - 1)
    folders = [""]
    while name := header.string():
        folders.append(name)
    files = [""]
    while name := header.string():
        folder, _, _ = header.uleb(), header.uleb(), header.uleb()
        inside = folders[folder] if folder < len(folders) and not name.startswith("/") else ""
        files.append(f"{inside}/{name}" if inside else name)

    return _run(unit, minimum, (base, span, opcode_base), counts, files)


def _run(
    r: _Reader, minimum: int, special: tuple[int, int, int], counts: bytes, files: list[str]
) -> list[LineRow]:
    base, span, opcode_base = special
    rows: list[LineRow] = []
    address, file, line = 0, 1, 1

    def emit(number: int) -> None:
        name = files[file] if 0 < file < len(files) else ""
        known = number if name and 0 < number < _LIMIT else 0
        # Line 0 marks code without a line: it belongs to the line before.
        if number:
            rows.append(LineRow(address % _LIMIT, name, known))

    while not r.is_at_end:
        opcode = r.number(1)
        if opcode >= opcode_base:
            address += (opcode - opcode_base) // span * minimum
            line += base + (opcode - opcode_base) % span
            emit(line)
        elif opcode == 0:
            extended = _Reader(r.bytes(r.uleb()))
            code = extended.number(1)
            if code == _END_SEQUENCE:
                rows.append(LineRow(address % _LIMIT, "", 0))
                address, file, line = 0, 1, 1
            elif code == _SET_ADDRESS:
                address = extended.number(4)
        elif opcode == _COPY:
            emit(line)
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


def _uleb(value: int) -> bytes:
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def _sleb(value: int) -> bytes:
    data = bytearray()
    while not -0x40 <= value < 0x40:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value & 0x7F])


def write_lines(rows: Sequence[LineRow]) -> bytes:
    """Encode a section with one unit.

    Parameters
    ----------
    rows : sequence of LineRow
        By address, multiples of 8 bytes; a row without a line ends a sequence, and so does the
        last one.
    """
    names = sorted({row.file for row in rows if row.line})[:_MOST_FILES]
    numbers = {name: index for index, name in enumerate(names, 1)}
    program = bytearray()
    inside, address, file, line = False, 0, 1, 1
    for row in rows:
        if not inside:
            if not row.line:
                continue
            program += struct.pack("<BBBI", 0, 5, _SET_ADDRESS, row.address)
            inside, address, file, line = True, row.address, 1, 1
        steps = (row.address - address) // _INSTRUCTION
        if not row.line or row.file not in numbers:
            program += bytes([_ADVANCE_PC, *_uleb(steps), 0, 1, _END_SEQUENCE])
            inside = False
            continue
        if numbers[row.file] != file:
            file = numbers[row.file]
            program += bytes([_SET_FILE, *_uleb(file)])
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
    return bytes([_ADVANCE_PC, *_uleb(steps), _ADVANCE_LINE, *_sleb(lines), _COPY])
