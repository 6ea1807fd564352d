# SPDX-License-Identifier: BSD-3-Clause
"""Reads DPU programs, for tools that show them; the simulator has a reader of its own."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .elf_writer import ELF_MACHINE, IRAM_BASE, SectionType

__all__ = ["ElfError", "Program", "ReadSection", "ReadSymbol", "Segment", "read"]

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SEGMENT = struct.Struct("<IIIIIIII")
_SECTION = struct.Struct("<IIIIIIIIII")
_SYMBOL = struct.Struct("<IIIBBH")
_ABSOLUTE = 0xFFF1


class ElfError(ValueError):
    """A file is no DPU program, or a damaged one."""


@dataclass(frozen=True)
class Segment:
    """What is loaded."""

    type: int
    address: int
    flags: int
    data: bytes
    size: int


@dataclass(frozen=True)
class ReadSection:
    """A section; one without contents has no data."""

    name: str
    type: int
    flags: int
    address: int
    size: int
    data: bytes
    alignment: int


@dataclass(frozen=True)
class ReadSymbol:
    """A symbol; the section is None for absolute numbers, and empty for undefined ones."""

    name: str
    value: int
    size: int
    type: int
    binding: int
    visibility: int
    section: str | None


@dataclass(frozen=True)
class Program:
    """Everything in a file."""

    entry: int
    flags: int
    chip: str
    segments: tuple[Segment, ...]
    sections: tuple[ReadSection, ...]
    symbols: tuple[ReadSymbol, ...]

    def section(self, name: str) -> ReadSection | None:
        """Return the section of that name, None if there is none."""
        return next((one for one in self.sections if one.name == name), None)

    def words(self) -> list[int]:
        """Return the instructions, from 0 on."""
        found: dict[int, int] = {}
        for segment in self.segments:
            if segment.type == 1 and IRAM_BASE <= segment.address < IRAM_BASE + (1 << 20):
                first = (segment.address - IRAM_BASE) // 8
                for index in range(len(segment.data) // 8):
                    word = segment.data[8 * index : 8 * index + 8]
                    found[first + index] = int.from_bytes(word, "little") & 0xFFFF_FFFF_FFFF
        return [found.get(index, 0) for index in range(max(found, default=-1) + 1)]


def _slice(data: bytes, offset: int, size: int, what: str) -> bytes:
    if offset > len(data) or size > len(data) - offset:
        raise ElfError(f"{what} is beyond the end of the file")
    return data[offset : offset + size]


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if offset > len(table) or end < 0:
        raise ElfError("a name is outside its table")
    return table[offset:end].decode("utf-8", "replace")


def _chip(data: bytes) -> str:
    """Return what a ``.dpu.attributes`` with one attribute says."""
    start = data.find(b"\x05", 16) if data[:1] == b"A" and data[5:11] == b"upmem\0" else -1
    end = data.find(b"\0", start)
    return data[start + 1 : end].decode("ascii", "replace") if 0 <= start < end else ""


def read(data: bytes) -> Program:
    """Read a program.

    Raises
    ------
    ElfError
        If the bytes are no DPU program, or a damaged one.
    """
    if len(data) < _HEADER.size or data[:4] != b"\x7fELF":
        raise ElfError("this is not an ELF file")
    if data[4] != 1 or data[5] != 1:
        raise ElfError("this is not a 32-bit little-endian ELF file, and so not a DPU program")
    fields = _HEADER.unpack_from(data)
    (_, _, machine, _, entry, segments_at, sections_at, flags) = fields[:8]
    (_, segment_size, segment_count, section_size, section_count, names_index) = fields[8:]
    if machine != ELF_MACHINE:
        raise ElfError("this ELF file is for another machine than the DPU")

    segments = []
    if segment_count:
        if segment_size < _SEGMENT.size:
            raise ElfError("the program headers are too short")
        table = _slice(data, segments_at, segment_size * segment_count, "a program header")
        for index in range(segment_count):
            kind, offset, address, _, file_size, size, rights, _ = _SEGMENT.unpack_from(
                table, index * segment_size
            )
            content = _slice(data, offset, file_size, "a segment")
            segments.append(Segment(kind, address, rights, content, size))

    raw = []
    if section_count:
        if section_size < _SECTION.size:
            raise ElfError("the section headers are too short")
        table = _slice(data, sections_at, section_size * section_count, "a section header")
        raw = [_SECTION.unpack_from(table, index * section_size) for index in range(section_count)]
    contents = [
        b"" if one[1] in (0, SectionType.NOBITS) else _slice(data, one[4], one[5], "a section")
        for one in raw
    ]
    if raw and names_index >= len(raw):
        raise ElfError("there are no names of sections")
    sections = tuple(
        ReadSection(
            _string(contents[names_index], one[0]), one[1], one[2], one[3], one[5], content, one[8]
        )
        for one, content in zip(raw, contents, strict=True)
    )
    symbols: list[ReadSymbol] = []
    chip = ""
    for one, section in zip(raw, sections, strict=True):
        if section.type == SectionType.SYMTAB and not symbols:
            if one[6] >= len(contents):
                raise ElfError("there are no names of symbols")
            symbols = _symbols(section.data, contents[one[6]], sections)
        elif section.type == SectionType.DPU_ATTRIBUTES:
            chip = _chip(section.data)
    return Program(entry, flags, chip, tuple(segments), sections, tuple(symbols))


def _symbols(table: bytes, names: bytes, sections: tuple[ReadSection, ...]) -> list[ReadSymbol]:
    found = []
    for offset in range(0, len(table) - _SYMBOL.size + 1, _SYMBOL.size):
        name, value, size, info, other, index = _SYMBOL.unpack_from(table, offset)
        section = None
        if index < len(sections):
            section = sections[index].name
        elif index != _ABSOLUTE and index < 0xFF00:
            raise ElfError("a symbol is in a section that does not exist")
        found.append(
            ReadSymbol(_string(names, name), value, size, info & 15, info >> 4, other & 3, section)
        )
    return found
