# SPDX-License-Identifier: BSD-3-Clause
"""The format: records, numbers and where a DPU program's memories are.

Addresses say which memory is meant: WRAM from 0, MRAM from 0x08000000, IRAM from 0x80000000
(8 bytes per instruction), atomic bits from 0xF0000000.
"""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag

__all__ = [
    "ABSOLUTE_INDEX",
    "ATOMIC_BASE",
    "ELF_FLAGS",
    "ELF_MACHINE",
    "HEADER",
    "IRAM_BASE",
    "LOAD",
    "MRAM_BASE",
    "RELOCATION",
    "RESERVED_INDEX",
    "SECTION",
    "SEGMENT",
    "SYMBOL",
    "Binding",
    "SectionFlags",
    "SectionType",
    "SymbolType",
    "Visibility",
]

ELF_MACHINE = 245
ELF_FLAGS = 0x2800000
MRAM_BASE = 0x08000000
IRAM_BASE = 0x80000000
ATOMIC_BASE = 0xF0000000

HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
SEGMENT = struct.Struct("<IIIIIIII")
SECTION = struct.Struct("<IIIIIIIIII")
SYMBOL = struct.Struct("<IIIBBH")
RELOCATION = struct.Struct("<IIi")

# The type of segments that are loaded.
LOAD = 1
# Indices of sections that stand for something else begin here; one is that of absolute numbers.
RESERVED_INDEX, ABSOLUTE_INDEX = 0xFF00, 0xFFF1


class SectionType(IntEnum):
    """What a section holds."""

    PROGBITS = 1
    SYMTAB = 2
    STRTAB = 3
    RELA = 4
    NOBITS = 8
    DPU_ATTRIBUTES = 0x70000003


class SectionFlags(IntFlag):
    """What a section is for; without ALLOC it is only for tools."""

    NONE = 0
    WRITE = 1
    ALLOC = 2
    EXECUTE = 4
    MERGE = 0x10
    STRINGS = 0x20


class SymbolType(IntEnum):
    """What a symbol stands for."""

    NOTYPE = 0
    OBJECT = 1
    FUNC = 2
    SECTION = 3
    FILE = 4


class Binding(IntEnum):
    """The files that see a symbol."""

    LOCAL = 0
    GLOBAL = 1
    WEAK = 2


class Visibility(IntEnum):
    """What sees a symbol after linking."""

    DEFAULT = 0
    INTERNAL = 1
    HIDDEN = 2
    PROTECTED = 3
