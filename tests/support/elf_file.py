# SPDX-License-Identifier: BSD-3-Clause
"""What a test asks of a library or program: sections, dynamic entries, symbols, versions.

A reader of our own, as a machine that only installs wheels has no binutils. It reads 64-bit
little-endian ELF files with section headers, which is what compilers for x86-64 write.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ElfFile", "is_elf"]

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
ENTRY = struct.Struct("<qQ")
NEED = struct.Struct("<HHIII")
NEED_NAME = struct.Struct("<IHHII")

# Entries of the dynamic section whose value is a string.
STRINGS = {
    1: "NEEDED",
    14: "SONAME",
    15: "RPATH",
    29: "RUNPATH",
    0x7FFFFFFD: "AUXILIARY",
    0x7FFFFFFF: "FILTER",
}
DYNAMIC, DYNAMIC_SYMBOLS, NEEDED_VERSIONS = 6, 11, 0x6FFFFFFE
UNDEFINED = 0


def is_elf(path: Path) -> bool:
    """Say whether a path is that of an ELF file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


@dataclass(frozen=True)
class Section:
    """One section: its name, its type, the section with its strings, and its content."""

    name: str
    kind: int
    link: int
    count: int
    content: bytes


class ElfFile:
    """An ELF file that was read as a whole."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        header = HEADER.unpack_from(data)
        if header[0][:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
        offset, count, names = header[6], header[12], header[13]
        raw = [SECTION.unpack_from(data, offset + i * SECTION.size) for i in range(count)]

        def content(section: tuple[int, ...]) -> bytes:
            # A section of type NOBITS has no bytes in the file.
            return b"" if section[1] == 8 else data[section[4] : section[4] + section[5]]

        strings = content(raw[names])
        self.sections = [Section(_string(strings, s[0]), s[1], s[6], s[7], content(s)) for s in raw]

    @property
    def section_names(self) -> list[str]:
        """Names of all sections."""
        return [section.name for section in self.sections]

    def dynamic(self, name: str) -> list[str]:
        """Give the strings of the dynamic section's entries of one kind, as ``NEEDED``."""
        found = []
        for section in self._of_kind(DYNAMIC):
            for tag, value in ENTRY.iter_unpack(section.content):
                if STRINGS.get(tag) == name:
                    found.append(_string(self._strings(section), value))
        return found

    def symbols(self, *, defined: bool) -> set[str]:
        """Names of the dynamic symbols that are defined here, or that others have to define."""
        found = set()
        for section in self._of_kind(DYNAMIC_SYMBOLS):
            for name, _, _, place, _, _ in SYMBOL.iter_unpack(section.content):
                if name and (place != UNDEFINED) == defined:
                    found.add(_string(self._strings(section), name))
        return found

    def needed_versions(self) -> set[str]:
        """Versions of symbols that libraries have to have, as ``GLIBC_2.14``."""
        found = set()
        for section in self._of_kind(NEEDED_VERSIONS):
            start = 0
            for _ in range(section.count):
                _, names, _, first, following = NEED.unpack_from(section.content, start)
                place = start + first
                for _ in range(names):
                    _, _, _, name, further = NEED_NAME.unpack_from(section.content, place)
                    found.add(_string(self._strings(section), name))
                    place += further
                start += following
        return found

    def _of_kind(self, kind: int) -> list[Section]:
        return [section for section in self.sections if section.kind == kind]

    def _strings(self, section: Section) -> bytes:
        return self.sections[section.link].content


def _string(strings: bytes, start: int) -> str:
    return strings[start : strings.index(b"\0", start)].decode()
