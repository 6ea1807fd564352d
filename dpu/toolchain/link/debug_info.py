# SPDX-License-Identifier: BSD-3-Clause
"""Carries the compiler's debug information over to the translated code.

Entries stay where they are: addresses, offsets and registers are replaced in their places. Location
lists, which lose what is no longer true, are written anew, and so are line and call frame tables.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...asm.lines import SECTION, read_line_units
from ...dwarf.constants import Attribute, Form, Operation
from ...dwarf.entries import Entry, Unit, read_units
from ...dwarf.operations import registers_of, with_new_places
from ...dwarf.stream import Reader
from ...elf.format import IRAM_BASE, SectionFlags
from ...elf.reader import ElfFile, ElfSection
from ...elf.writer import Section
from ..errors import TranslationError
from ..ir.code import Code
from ..ir.effects import register_set
from ..ir.operands import code_label
from ..ir.registers import LINK, STACK_POINTER, register_of
from .call_frames import call_frames
from .line_table import line_table
from .register_values import RegisterValues, Snapshot

__all__ = ["debug_sections"]

_LOCATIONS = frozenset([Attribute.LOCATION, Attribute.FRAME_BASE])
_SELECTS_BASE = 0xFFFF_FFFF
# A range that begins and ends here is empty, and does not end a list.
_NOWHERE = (1, 1)
_WORD = 4


def debug_sections(
    linked: ElfFile,
    text: ElfSection,
    code: Code,
    before: Snapshot,
    routines: tuple[int, int],
) -> list[Section]:
    """Return the sections with the debug information of a program, which no memory has.

    Parameters
    ----------
    linked : ElfFile
        The linker's output.
    text : ElfSection
        Its code.
    code : Code
        The translation of that.
    before : Snapshot
        The translation before the passes.
    routines : tuple of int
        The first instruction of the arithmetic routines and how many they have.
    """
    maker = _Maker(linked, text, code, before)
    parts = {
        SECTION: maker.lines,
        ".debug_info": maker.info(),
        ".debug_loc": bytes(maker.locations),
        ".debug_ranges": bytes(maker.ranges),
        ".debug_frame": maker.frames(routines),
    }
    for name in (".debug_abbrev", ".debug_str"):
        parts[name] = maker.contents(name)
    # Not allocated: loaders leave them out.
    return [
        Section(name=name, data=data, flags=SectionFlags.NONE)
        for name, data in parts.items()
        if data
    ]


class _Maker:
    def __init__(self, linked: ElfFile, text: ElfSection, code: Code, before: Snapshot) -> None:
        self.linked = linked
        self.text = text
        self.code = code
        self.values = RegisterValues(before, code)
        self.locations = bytearray()
        self.ranges = bytearray()
        self._moved_ranges: dict[tuple[int, int], int] = {}
        self._line_offsets: dict[int, int] = {}
        self.lines = self._make_lines()

    def contents(self, name: str) -> bytes:
        section = self.linked.section(name)
        return section.data if section is not None else b""

    # Addresses and registers.

    def position(self, address: int) -> int | None:
        """Return where the code at an address is now, None if it is not code of the program."""
        label = code_label(address)
        if not self.text.address <= address <= self.text.address + self.text.size:
            return None
        return IRAM_BASE + 8 * self.code.labels[label] if label in self.code.labels else None

    def _address(self, address: int) -> int:
        moved = self.position(address)
        return address if moved is None else moved

    @staticmethod
    def _register(number: int) -> int:
        try:
            return int(register_of(number))
        except TranslationError as error:
            raise ValueError(str(error)) from error

    def _make_lines(self) -> bytes:
        lines = bytearray()
        for unit in read_line_units(self.contents(SECTION)):
            self._line_offsets[unit.offset] = len(lines)
            lines += line_table(unit, self.text, self.code)
        return bytes(lines)

    def frames(self, routines: tuple[int, int]) -> bytes:
        """Return the call frame table."""
        first, count = routines
        place = (IRAM_BASE + 8 * first, 8 * count, int(LINK), int(STACK_POINTER))
        section = self.contents(".debug_frame")
        return call_frames(section, self.position, self._register, place)

    # Entries.

    def info(self) -> bytes:
        """Return the entries."""
        section = self.contents(".debug_info")
        data = bytearray(section)
        strings = self.contents(".debug_str")
        for unit in read_units(section, self.contents(".debug_abbrev"), strings):
            for entry in unit.root.walk():
                self._change_entry(data, unit, entry)
        return bytes(data)

    def _change_entry(self, data: bytearray, unit: Unit, entry: Entry) -> None:
        low = entry.number(Attribute.LOW_PC)
        for attribute, value in entry.values.items():
            number = value.value
            if value.form in (Form.EXPRLOC, Form.BLOCK1) and isinstance(number, bytes):
                data[value.at : value.at + len(number)] = self._expression(number)
            elif not isinstance(number, int):
                continue
            elif attribute == Attribute.HIGH_PC and value.form == Form.DATA4 and low is not None:
                size = self._address(low + number) - self._address(low)
                struct.pack_into("<I", data, value.at, max(0, size))
            elif value.form == Form.ADDR:
                struct.pack_into("<I", data, value.at, self._address(number))
            elif value.form == Form.SEC_OFFSET:
                struct.pack_into("<I", data, value.at, self._offset(attribute, number, unit))

    def _expression(self, expression: bytes) -> bytes:
        """Return an expression for the DPU; one that says nothing if it has no counterpart."""
        try:
            return with_new_places(expression, self._address, self._register)
        except (ValueError, IndexError):
            # It leaves no location: a value of which nothing is known.
            return bytes([Operation.NOP]) * len(expression)

    def _offset(self, attribute: int, offset: int, unit: Unit) -> int:
        if attribute == Attribute.STMT_LIST:
            return self._line_offsets.get(offset, offset)
        if attribute == Attribute.RANGES:
            return self._move_ranges(offset, unit)
        if attribute in _LOCATIONS:
            return self._move_locations(offset, unit)
        return offset

    def _pairs(self, r: Reader, base: int) -> Iterator[tuple[int, int]]:
        """Yield the addresses of a list, whose reader is behind them, up to its end."""
        while True:
            begin, end = r.number(_WORD), r.number(_WORD)
            if begin == end == 0:
                return
            if begin == _SELECTS_BASE:
                base = end
                continue
            yield base + begin, base + end

    def _move_ranges(self, offset: int, unit: Unit) -> int:
        key = (offset, unit.base)
        if key in self._moved_ranges:
            return self._moved_ranges[key]
        self._moved_ranges[key] = moved = len(self.ranges)
        self.ranges += struct.pack("<II", _SELECTS_BASE, 0)
        for begin, end in self._pairs(Reader(self.contents(".debug_ranges"), offset), unit.base):
            ends = self.position(begin), self.position(end)
            if None in ends or ends[0] == ends[1]:
                ends = _NOWHERE
            self.ranges += struct.pack("<II", *ends)
        self.ranges += bytes(2 * _WORD)
        return moved

    def _move_locations(self, offset: int, unit: Unit) -> int:
        moved = len(self.locations)
        self.locations += struct.pack("<II", _SELECTS_BASE, 0)
        r = Reader(self.contents(".debug_loc"), offset)
        for begin, end in self._pairs(r, unit.base):
            expression = r.bytes(r.number(2))
            try:
                new = self._expression(expression)
                registers = register_set(*map(register_of, registers_of(expression)))
            except (TranslationError, ValueError, IndexError):
                continue
            for first, last in self._true_parts(begin, end, registers):
                self.locations += struct.pack("<IIH", first, last, len(new)) + new
        self.locations += bytes(2 * _WORD)
        return moved

    def _true_parts(self, begin: int, end: int, registers: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of the new code in which registers have what the compiler meant."""
        if self.position(begin) is None or self.position(end) is None:
            return
        first: int | None = None
        for address in range(begin, end, 4):
            place = self.position(address)
            # The words of assembly have no code of their own.
            if place is None:
                continue
            is_right = self.values.are_right(address, registers)
            if is_right and first is None:
                first = place
            elif not is_right and first is not None:
                if first < place:
                    yield first, place
                first = None
        last = self._address(end)
        if first is not None and first < last:
            yield first, last
