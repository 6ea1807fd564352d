# SPDX-License-Identifier: BSD-3-Clause
"""The format: records, constants, and the addresses of the memories of a DPU program.

Addresses select the memory: WRAM from 0, MRAM from 0x08000000, IRAM from 0x80000000
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
# The first reserved section index, and that of absolute symbols.
RESERVED_INDEX, ABSOLUTE_INDEX = 0xFF00, 0xFFF1


class SectionType(IntEnum):
    """The type of a section."""

    PROGBITS = 1
    SYMTAB = 2
    STRTAB = 3
    RELA = 4
    NOBITS = 8
    DPU_ATTRIBUTES = 0x70000003


class SectionFlags(IntFlag):
    """The flags of a section; one without ALLOC is only for tools."""

    NONE = 0
    WRITE = 1
    ALLOC = 2
    EXECUTE = 4
    MERGE = 0x10
    STRINGS = 0x20


class SymbolType(IntEnum):
    """The type of a symbol."""

    NOTYPE = 0
    OBJECT = 1
    FUNC = 2
    SECTION = 3
    FILE = 4


class Binding(IntEnum):
    """The linkage of a symbol."""

    LOCAL = 0
    GLOBAL = 1
    WEAK = 2


class Visibility(IntEnum):
    """The visibility of a symbol in the linked file."""

    DEFAULT = 0
    INTERNAL = 1
    HIDDEN = 2
    PROTECTED = 3
