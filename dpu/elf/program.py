# SPDX-License-Identifier: BSD-3-Clause
"""Reads DPU programs, for the tools that display them."""

from __future__ import annotations

from functools import cached_property

from .format import ELF_MACHINE, IRAM_BASE, LOAD, SectionType
from .reader import ElfFile

__all__ = ["ProgramFile"]


class ProgramFile(ElfFile):
    """The contents of a DPU program.

    Parameters
    ----------
    data : bytes
        The file.

    Raises
    ------
    ElfError
        It is not a DPU program, or is damaged.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data, machine=ELF_MACHINE)

    @cached_property
    def chip(self) -> str:
        """The chip that it is for, such as ``v1A``; empty if not stated."""
        found = [s for s in self.sections if s.type == SectionType.DPU_ATTRIBUTES]
        return _chip(found[-1].data) if found else ""

    def words(self) -> list[int]:
        """Return the instructions, from 0 on."""
        found: dict[int, int] = {}
        for segment in self.segments:
            if segment.type == LOAD and IRAM_BASE <= segment.address < IRAM_BASE + (1 << 20):
                first = (segment.address - IRAM_BASE) // 8
                for index in range(len(segment.data) // 8):
                    word = segment.data[8 * index : 8 * index + 8]
                    found[first + index] = int.from_bytes(word, "little") & 0xFFFF_FFFF_FFFF
        return [found.get(index, 0) for index in range(max(found, default=-1) + 1)]


def _chip(data: bytes) -> str:
    """Read the chip from a ``.dpu.attributes`` with one attribute."""
    start = data.find(b"\x05", 16) if data[:1] == b"A" and data[5:11] == b"upmem\0" else -1
    end = data.find(b"\0", start)
    return data[start + 1 : end].decode("ascii", "replace") if 0 <= start < end else ""
