# SPDX-License-Identifier: BSD-3-Clause
"""Writes DPU programs: ELF32 little-endian executables for machine 245.

`write` makes a file from a list of sections and a list of symbols. Every allocated section with
contents becomes a segment of its own, which is loaded; sections without contents (NOBITS) leave
the memory unchanged.

This module only knows the file format: the linker decides where things go.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .format import (
    ABSOLUTE_INDEX,
    ATOMIC_BASE,
    ELF_FLAGS,
    ELF_MACHINE,
    HEADER,
    IRAM_BASE,
    LOAD,
    SECTION,
    SEGMENT,
    SYMBOL,
    Binding,
    SectionFlags,
    SectionType,
    SymbolType,
    Visibility,
)

__all__ = ["Section", "Symbol", "attributes", "write"]

_IDENT = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
_EXECUTABLE, _VERSION = 2, 1
_LIMIT = 1 << 32
# Segments and their contents agree modulo this; a page would only make files longer.
_SEGMENT_ALIGNMENT = 8
# Tags of .dpu.attributes: the attributes of the file, and in them the chip.
_TAG_FILE, _TAG_CHIP = 1, 5


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a program.

    Parameters
    ----------
    name : str
        Such as ``.text``; two sections of a program may not have the same name.
    address : int
        Of the first byte, as in the table of memories above; 0 for what is not allocated.
    data : bytes
        The contents; empty for NOBITS.
    size : int, optional
        For NOBITS, in bytes; else the length of the data.
    type, flags
        What it is and what it is for.
    alignment : int
        A power of two, which the address is a multiple of.
    """

    name: str
    address: int = 0
    data: bytes = b""
    size: int | None = None
    type: SectionType = SectionType.PROGBITS
    flags: SectionFlags = SectionFlags.ALLOC | SectionFlags.WRITE
    alignment: int = 1
    entry_size: int = 0

    @property
    def length(self) -> int:
        """Size in memory."""
        return len(self.data) if self.size is None else self.size

    @property
    def is_loaded(self) -> bool:
        """Tell whether it has contents that go to a memory."""
        return (
            bool(self.flags & SectionFlags.ALLOC)
            and self.type != SectionType.NOBITS
            and self.length > 0
        )

    def check(self) -> None:
        """Raise ValueError if the section is invalid."""
        what = f"section {self.name!r}"
        if not self.name or "\0" in self.name:
            raise ValueError(f"{what} has no valid name")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"{what} has alignment {self.alignment}, which is not a power of two")
        if self.address < 0 or self.length < 0 or self.address + self.length > _LIMIT:
            raise ValueError(
                f"{what} with {self.length} bytes at {self.address:#x} is outside 32 bits"
            )

        if self.address % self.alignment:
            raise ValueError(f"{what} at {self.address:#x} is not aligned to {self.alignment}")
        if self.type == SectionType.NOBITS:
            if self.data:
                raise ValueError(f"{what} has contents, but type NOBITS")
        elif self.length != len(self.data):
            raise ValueError(f"{what} has {len(self.data)} bytes, but size {self.length}")

        in_iram = IRAM_BASE <= self.address < ATOMIC_BASE and self.is_loaded
        if in_iram and (self.address % 8 or self.length % 8):
            raise ValueError(f"{what} does not consist of whole instructions of 8 bytes")


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A name for an address or a number.

    Parameters
    ----------
    name : str
        Its name; empty for a section's.
    value : int
        The address, in all 32 bits: 0x08000000 is the first byte of MRAM.
    size : int
        In bytes.
    section : str, optional
        Name of the section that it is in; None for an absolute number such as NR_TASKLETS.
    """

    name: str
    value: int
    size: int = 0
    section: str | None = None
    type: SymbolType = SymbolType.NOTYPE
    binding: Binding = Binding.GLOBAL
    visibility: Visibility = Visibility.DEFAULT

    def check(self) -> None:
        """Raise ValueError if the symbol is invalid."""
        if "\0" in self.name:
            raise ValueError(f"symbol {self.name!r} has a name with a NUL character")
        if not 0 <= self.value < _LIMIT or not 0 <= self.size < _LIMIT:
            raise ValueError(
                f"symbol {self.name!r} with value {self.value:#x} and size {self.size:#x} is "
                "outside 32 bits"
            )


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")
        self.places: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        """Return the offset of a string."""
        place = self.places.get(text)
        if place is None:
            place = self.places[text] = len(self.data)
            # Bytes of a source that are not UTF-8 are written unchanged.
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return place


def attributes(chip: str) -> bytes:
    """Make the contents of ``.dpu.attributes``, which name the chip that a program is for.

    Parameters
    ----------
    chip : str
        ``v1A`` or ``v1B``.
    """
    tags = bytes([_TAG_CHIP]) + chip.encode() + b"\0"
    file = bytes([_TAG_FILE]) + struct.pack("<I", 5 + len(tags)) + tags
    vendor = b"upmem\0" + file
    return b"A" + struct.pack("<I", 4 + len(vendor)) + vendor


def write(
    sections: Sequence[Section],
    symbols: Iterable[Symbol] = (),
    *,
    entry: int = IRAM_BASE,
    chip: str | None = "v1A",
) -> bytes:
    """Make a program.

    Parameters
    ----------
    sections : sequence of Section
        In the order of the file. Symbol and string tables are made here.
    symbols : iterable of Symbol
        In any order: the file has local ones first.
    entry : int
        Address of the first instruction.
    chip : str, optional
        The chip in ``.dpu.attributes``; None for a program without it, or if `sections` has it.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    ValueError
        If a section or a symbol is invalid, if sections have the same name or overlap, or if a
        symbol is in a section that does not exist.
    """
    every = list(sections)
    if chip is not None:
        every.append(
            Section(
                name=".dpu.attributes",
                data=attributes(chip),
                type=SectionType.DPU_ATTRIBUTES,
                flags=SectionFlags.NONE,
            )
        )
    _check_sections(every)
    tables = _symbol_table(every, symbols)
    loaded = [section for section in every if section.is_loaded]
    body = bytearray(HEADER.size + SEGMENT.size * len(loaded))

    places = _append_contents(body, every)
    headers = _section_headers(every, places)
    headers += _append_tables(body, tables, every)
    _pad(body, 4)
    section_table = len(body)
    body += b"".join([SECTION.pack(*[0] * 10), *headers])

    position = HEADER.size
    for section, place in zip(every, places, strict=True):
        if section.is_loaded:
            SEGMENT.pack_into(body, position, *_segment(section, place))
            position += SEGMENT.size
    _write_header(body, entry, len(loaded), section_table, len(headers) + 1)
    return bytes(body)


def _append_contents(body: bytearray, sections: Sequence[Section]) -> list[int]:
    """Append the contents of sections; return their places in the file."""
    places = []
    for section in sections:
        _pad(body, max(section.alignment, _SEGMENT_ALIGNMENT), section.address)
        places.append(len(body))
        body += section.data
    return places


def _section_names(sections: Sequence[Section]) -> _Strings:
    names = _Strings()
    for section in sections:
        names.add(section.name)
    for name in (".symtab", ".shstrtab", ".strtab"):
        names.add(name)
    return names


def _section_headers(sections: Sequence[Section], places: Sequence[int]) -> list[bytes]:
    names = _section_names(sections)
    return [
        SECTION.pack(
            names.add(section.name),
            section.type,
            section.flags,
            section.address,
            place,
            section.length,
            0,
            0,
            section.alignment,
            section.entry_size,
        )
        for section, place in zip(sections, places, strict=True)
    ]


def _append_tables(
    body: bytearray, tables: tuple[bytes, int, bytes], sections: Sequence[Section]
) -> list[bytes]:
    """Append the symbol table and the string tables; return their section headers."""
    symbols, first_global, symbol_names = tables
    names = _section_names(sections)
    link = len(sections) + 3
    headers = []
    for name, kind, data, *link_and_info, size, alignment in (
        (".symtab", SectionType.SYMTAB, symbols, link, first_global, SYMBOL.size, 4),
        (".shstrtab", SectionType.STRTAB, bytes(names.data), 0, 0, 0, 1),
        (".strtab", SectionType.STRTAB, symbol_names, 0, 0, 0, 1),
    ):
        _pad(body, alignment)
        place, length = len(body), len(data)
        headers.append(
            SECTION.pack(
                names.add(name), kind, 0, 0, place, length, *link_and_info, alignment, size
            )
        )
        body += data

    return headers


def _write_header(
    body: bytearray, entry: int, segments: int, section_table: int, sections: int
) -> None:
    """Write the ELF header; the table of section names is the last but one."""
    HEADER.pack_into(
        body,
        0,
        _IDENT,
        _EXECUTABLE,
        ELF_MACHINE,
        _VERSION,
        entry,
        HEADER.size if segments else 0,
        section_table,
        ELF_FLAGS,
        HEADER.size,
        SEGMENT.size,
        segments,
        SECTION.size,
        sections,
        sections - 2,
    )


def _segment(section: Section, place: int) -> tuple[int, ...]:
    rights = 4
    if section.flags & SectionFlags.WRITE:
        rights |= 2
    if section.flags & SectionFlags.EXECUTE:
        rights |= 1
    size, address = section.length, section.address
    alignment = max(section.alignment, _SEGMENT_ALIGNMENT)
    return LOAD, place, address, address, size, size, rights, alignment


def _pad(body: bytearray, alignment: int, address: int = 0) -> None:
    """Pad until the position equals the address, modulo the alignment."""
    body += bytes((address - len(body)) % alignment)


def _check_sections(sections: Sequence[Section]) -> None:
    seen = set()
    for section in sections:
        section.check()
        if section.name in seen:
            raise ValueError(f"duplicate section {section.name!r}")
        seen.add(section.name)
    placed = sorted(
        (s for s in sections if s.flags & SectionFlags.ALLOC and s.length),
        key=lambda section: section.address,
    )
    for before, after in pairwise(placed):
        end = before.address + before.length
        if end > after.address:
            raise ValueError(
                f"section {before.name!r} ends at {end:#x}, after {after.name!r} begins at "
                f"{after.address:#x}"
            )


def _symbol_table(
    sections: Sequence[Section], symbols: Iterable[Symbol]
) -> tuple[bytes, int, bytes]:
    """Return the table, the index of the first symbol that is not local, and the names."""
    indices = {section.name: index for index, section in enumerate(sections, 1)}
    ordered = sorted(symbols, key=lambda symbol: symbol.binding != Binding.LOCAL)
    names = _Strings()
    table = bytearray(SYMBOL.size)
    for symbol in ordered:
        symbol.check()
        index = ABSOLUTE_INDEX
        if symbol.section is not None:
            if symbol.section not in indices:
                raise ValueError(
                    f"symbol {symbol.name!r} is in section {symbol.section!r}, which does not exist"
                )
            index = indices[symbol.section]
        table += SYMBOL.pack(
            names.add(symbol.name),
            symbol.value,
            symbol.size,
            symbol.binding << 4 | symbol.type,
            symbol.visibility,
            index,
        )

    local = sum(symbol.binding == Binding.LOCAL for symbol in ordered)
    return bytes(table), local + 1, bytes(names.data)
