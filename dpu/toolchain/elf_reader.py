# SPDX-License-Identifier: BSD-3-Clause
"""Reads ELF32 files: those that the linker made, and DPU programs."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..asm.elf_writer import SectionFlags, SectionType, SymbolType
from .errors import ToolchainError

__all__ = ["ElfFile", "ElfRelocation", "ElfSection", "ElfSymbol"]

_HEADER = struct.Struct("<HHIIIIIHHHHHH")
_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<IIIBBH")
_RELOCATION = struct.Struct("<IIi")
_RELA, _RESERVED_INDEX = 4, 0xFF00


@dataclass(frozen=True)
class ElfSection:
    """A section with its contents, which NOBITS ones do not have."""

    index: int
    name: str
    kind: int
    flags: int
    address: int
    size: int
    info: int
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
    section: ElfSection | None
    is_defined: bool


@dataclass(frozen=True)
class ElfRelocation:
    """A place that depends on where a symbol is."""

    address: int
    kind: int
    symbol: ElfSymbol
    addend: int


class ElfFile:
    """An ELF32 little-endian file.

    Parameters
    ----------
    data : bytes
        The file.

    Raises
    ------
    ToolchainError
        If it is no such file.
    """

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x01\x01":
            raise ToolchainError("this is no ELF file of 32 bits")
        try:
            self.sections = _read_sections(data)
            self.symbols = self._read_symbols()
            self.relocations = self._read_relocations()
        except (struct.error, ValueError, IndexError) as error:
            raise ToolchainError(f"this ELF file is damaged: {error}") from error
        self._by_name = {section.name: section for section in self.sections}
        self._globals = {symbol.name: symbol for symbol in self.symbols if symbol.is_defined}

    def section(self, name: str) -> ElfSection | None:
        """Return the section of a name, None if there is none."""
        return self._by_name.get(name)

    def symbol(self, name: str) -> ElfSymbol:
        """Return the defined symbol of a name; ToolchainError if there is none."""
        if name not in self._globals:
            raise ToolchainError(f"symbol {name} is not defined")
        return self._globals[name]

    def has_symbol(self, name: str) -> bool:
        """Tell whether a symbol is defined."""
        return name in self._globals

    def _read_symbols(self) -> list[ElfSymbol]:
        table = next((s for s in self.sections if s.kind == SectionType.SYMTAB), None)
        if table is None:
            return []
        symbols = []
        # The linker's string table for symbols is the one named so.
        names = next(s for s in self.sections if s.name == ".strtab").data
        for name, value, size, info, _, index in _SYMBOL.iter_unpack(table.data):
            placed = 0 < index < _RESERVED_INDEX
            symbols.append(
                ElfSymbol(
                    _string(names, name),
                    value,
                    size,
                    info & 15,
                    info >> 4,
                    self.sections[index] if placed else None,
                    index != 0,
                )
            )
        return symbols

    def _read_relocations(self) -> dict[int, list[ElfRelocation]]:
        """Return the relocations by the index of the section that they are for."""
        found: dict[int, list[ElfRelocation]] = {}
        for section in self.sections:
            if section.kind != _RELA:
                continue
            found.setdefault(section.info, []).extend(
                ElfRelocation(address, info & 255, self.symbols[info >> 8], addend)
                for address, info, addend in _RELOCATION.iter_unpack(section.data)
            )
        return found

    def function_at(self, address: int) -> ElfSymbol | None:
        """Return the function that an address is in, None if it is in none."""
        for symbol in self.symbols:
            if symbol.type == SymbolType.FUNC and 0 <= address - symbol.value < symbol.size:
                return symbol
        return None


def _string(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode(errors="replace")


def _read_sections(data: bytes) -> list[ElfSection]:
    header = _HEADER.unpack_from(data, 16)
    start, count, names_index = header[5], header[11], header[12]
    rows = [_SECTION.unpack_from(data, start + _SECTION.size * i) for i in range(count)]
    names_row = rows[names_index]
    names = data[names_row[4] : names_row[4] + names_row[5]]
    sections = []
    for index, row in enumerate(rows):
        name, kind, flags, address, place, size, _, info, _, _ = row
        contents = b"" if kind in (0, SectionType.NOBITS) else data[place : place + size]
        if kind not in (0, SectionType.NOBITS) and len(contents) != size:
            raise ValueError(f"section {index} goes beyond its end")
        sections.append(
            ElfSection(index, _string(names, name), kind, flags, address, size, info, contents)
        )
    return sections
