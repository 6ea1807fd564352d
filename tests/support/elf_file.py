# SPDX-License-Identifier: BSD-3-Clause
"""Properties of a library or program: sections, dynamic entries, symbols, versions."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from elftools.elf.elffile import ELFFile

__all__ = ["ElfFile", "is_elf"]


def is_elf(path: Path) -> bool:
    """Say whether a path is that of an ELF file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


class ElfFile:
    """An ELF file that was read as a whole."""

    def __init__(self, path: Path) -> None:
        self._elf = ELFFile(BytesIO(path.read_bytes()))

    @property
    def section_names(self) -> list[str]:
        """Names of all sections."""
        return [section.name for section in self._elf.iter_sections()]

    def dynamic(self, name: str) -> list[str]:
        """Give the strings of the dynamic section's entries of one kind, as ``NEEDED``."""
        strings = self._elf.get_section_by_name(".dynstr")
        section = self._elf.get_section_by_name(".dynamic")
        tags = section.iter_tags(f"DT_{name}") if section else ()
        return [strings.get_string(tag.entry.d_val) for tag in tags]

    def symbols(self, *, defined: bool) -> set[str]:
        """Names of the dynamic symbols that are defined here, or that others have to define."""
        symbols = self._elf.get_section_by_name(".dynsym").iter_symbols()
        return {s.name for s in symbols if s.name and (s["st_shndx"] != "SHN_UNDEF") == defined}

    def needed_versions(self) -> set[str]:
        """Versions of symbols that libraries have to have, as ``GLIBC_2.14``."""
        section = self._elf.get_section_by_name(".gnu.version_r")
        needed = section.iter_versions() if section else ()
        return {version.name for _, versions in needed for version in versions}
