# SPDX-License-Identifier: BSD-3-Clause
"""Reads ELF32 little-endian files; the simulator has a reader of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .format import (
    HEADER,
    RELOCATION,
    RESERVED_INDEX,
    SECTION,
    SEGMENT,
    SYMBOL,
    SectionFlags,
    SectionType,
    SymbolType,
)

__all__ = ["ElfError", "ElfFile", "ElfRelocation", "ElfSection", "ElfSegment", "ElfSymbol"]


class ElfError(ValueError):
    """A file is not an ELF file of the kind that is needed, or it is damaged."""


@dataclass(frozen=True)
class ElfSegment:
    """A segment, which is loaded."""

    type: int
    address: int
    flags: int
    data: bytes
    size: int


@dataclass(frozen=True)
class ElfSection:
    """A section; one of type NOBITS has no data."""

    index: int
    name: str
    type: int
    flags: int
    address: int
    size: int
    info: int
    alignment: int
    data: bytes

    @property
    def is_allocated(self) -> bool:
        """Tell whether it is in a memory."""
        return bool(self.flags & SectionFlags.ALLOC)


@dataclass(frozen=True)
class ElfSymbol:
    """A symbol; its section is None if it is absolute or undefined."""

    name: str
    value: int
    size: int
    type: int
    binding: int
    visibility: int
    section: ElfSection | None
    is_defined: bool


@dataclass(frozen=True)
class ElfRelocation:
    """A place that depends on the address of a symbol."""

    address: int
    kind: int
    symbol: ElfSymbol
    addend: int


class ElfFile:
    """The contents of an ELF32 little-endian file.

    Parameters
    ----------
    data : bytes
        The file.
    machine : int, optional
        The machine that it must be for; by default any.

    Attributes
    ----------
    entry, flags, machine : int
        From the header.
    segments, sections, symbols : list
        In the order of the file.

    Raises
    ------
    ElfError
        It is not such a file, is for another machine, or is damaged.
    """

    def __init__(self, data: bytes, *, machine: int | None = None) -> None:
        if len(data) < HEADER.size or data[:4] != b"\x7fELF":
            raise ElfError("not an ELF file")
        if data[4] != 1 or data[5] != 1:
            raise ElfError("not a 32-bit little-endian ELF file")
        fields = HEADER.unpack_from(data)
        (_, _, self.machine, _, self.entry, segments_at, sections_at, self.flags) = fields[:8]
        (_, segment_size, segment_count, section_size, section_count, names_index) = fields[8:]
        if machine is not None and self.machine != machine:
            raise ElfError(f"the ELF file is for machine {self.machine}, not {machine}")

        self.segments = _read_segments(data, segments_at, segment_size, segment_count)
        rows = _rows(data, sections_at, section_size, section_count)
        self.sections = _read_sections(data, rows, names_index)
        self.symbols = _read_symbols(self.sections, rows)

    def section(self, name: str) -> ElfSection | None:
        """Return the section with a name, None if there is none."""
        return next((section for section in self.sections if section.name == name), None)

    def symbol(self, name: str) -> ElfSymbol:
        """Return the defined symbol with a name; ElfError if there is none."""
        if name not in self._defined:
            raise ElfError(f"symbol {name} is not defined")
        return self._defined[name]

    def has_symbol(self, name: str) -> bool:
        """Tell whether a symbol is defined."""
        return name in self._defined

    def function_at(self, address: int) -> ElfSymbol | None:
        """Return the function that an address is in, None if it is in none."""
        for symbol in self.symbols:
            if symbol.type == SymbolType.FUNC and 0 <= address - symbol.value < symbol.size:
                return symbol
        return None

    @cached_property
    def relocations(self) -> dict[int, list[ElfRelocation]]:
        """The relocations, by the index of the section that they apply to."""
        found: dict[int, list[ElfRelocation]] = {}
        for section in self.sections:
            if section.type == SectionType.RELA:
                found.setdefault(section.info, []).extend(self._read_relocations(section))
        return found

    @cached_property
    def _defined(self) -> dict[str, ElfSymbol]:
        # Global symbols come after local ones, and so are found first.
        return {symbol.name: symbol for symbol in self.symbols if symbol.is_defined}

    def _read_relocations(self, section: ElfSection) -> list[ElfRelocation]:
        found = []
        for offset in range(0, len(section.data) - RELOCATION.size + 1, RELOCATION.size):
            address, info, addend = RELOCATION.unpack_from(section.data, offset)
            if info >> 8 >= len(self.symbols):
                raise ElfError("a relocation refers to a symbol that does not exist")
            found.append(ElfRelocation(address, info & 255, self.symbols[info >> 8], addend))
        return found


def _slice(data: bytes, offset: int, size: int, what: str) -> bytes:
    if offset > len(data) or size > len(data) - offset:
        raise ElfError(f"{what} is beyond the end of the file")
    return data[offset : offset + size]


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if offset > len(table) or end < 0:
        raise ElfError("a name is outside its table")
    return table[offset:end].decode("utf-8", "replace")


def _read_segments(data: bytes, start: int, size: int, count: int) -> list[ElfSegment]:
    if count and size < SEGMENT.size:
        raise ElfError("the program headers are too short")
    table = _slice(data, start, size * count, "a program header") if count else b""
    segments = []
    for index in range(count):
        row = SEGMENT.unpack_from(table, index * size)
        kind, offset, address, _, file_size, memory_size, rights, _ = row
        content = _slice(data, offset, file_size, "a segment")
        segments.append(ElfSegment(kind, address, rights, content, memory_size))
    return segments


def _rows(data: bytes, start: int, size: int, count: int) -> list[tuple[int, ...]]:
    """Read the section headers."""
    if not count:
        return []
    if size < SECTION.size:
        raise ElfError("the section headers are too short")
    table = _slice(data, start, size * count, "a section header")
    return [SECTION.unpack_from(table, index * size) for index in range(count)]


def _read_sections(data: bytes, rows: list[tuple[int, ...]], names_index: int) -> list[ElfSection]:
    contents = [
        b"" if row[1] in (0, SectionType.NOBITS) else _slice(data, row[4], row[5], "a section")
        for row in rows
    ]
    if rows and names_index >= len(rows):
        raise ElfError("the section names are missing")
    sections = []
    for index, (row, content) in enumerate(zip(rows, contents, strict=True)):
        name, kind, flags, address, _, size, _, info, alignment, _ = row
        sections.append(
            ElfSection(
                index,
                _string(contents[names_index], name),
                kind,
                flags,
                address,
                size,
                info,
                alignment,
                content,
            )
        )

    return sections


def _read_symbols(sections: list[ElfSection], rows: list[tuple[int, ...]]) -> list[ElfSymbol]:
    """Read the first symbol table."""
    table = next((one for one in sections if one.type == SectionType.SYMTAB), None)
    if table is None:
        return []
    link = rows[table.index][6]
    if link >= len(sections):
        raise ElfError("the symbol names are missing")
    names = sections[link].data

    symbols = []
    for offset in range(0, len(table.data) - SYMBOL.size + 1, SYMBOL.size):
        name, value, size, info, other, index = SYMBOL.unpack_from(table.data, offset)
        if len(sections) <= index < RESERVED_INDEX:
            raise ElfError("a symbol is in a section that does not exist")
        symbols.append(
            ElfSymbol(
                _string(names, name),
                value,
                size,
                info & 15,
                info >> 4,
                other & 3,
                sections[index] if 0 < index < len(sections) else None,
                index != 0,
            )
        )
    return symbols
