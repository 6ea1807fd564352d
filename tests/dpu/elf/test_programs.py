# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written: what the machine's reader and ours find in them, and what is refused."""

from __future__ import annotations

import ctypes
import struct

import pytest

from dpu.elf.format import Binding, SectionFlags, SectionType, SymbolType, Visibility
from dpu.elf.program import ProgramFile
from dpu.elf.reader import ElfError, ElfFile
from dpu.elf.writer import Section, Symbol, attributes, write

TEXT = Section(
    name=".text",
    address=0x80000000,
    data=bytes(range(16)),
    flags=SectionFlags.ALLOC | SectionFlags.EXECUTE,
)
PARTS = [
    TEXT,
    Section(name=".data", data=b"abc", alignment=8),
    Section(name=".data.__sys_host", address=8, data=b"1234", alignment=4),
    Section(name=".data.stacks", address=16, size=1 << 12, type=SectionType.NOBITS),
    Section(name=".atomic", address=0xF0000000, size=201, type=SectionType.NOBITS),
    Section(name=".mram", address=0x08000008, data=b"mrammram", alignment=8),
    Section(name=".comment", data=b"text\0", flags=SectionFlags.NONE),
]
SYMBOLS = [
    Symbol(name="main", value=0x80000008, size=8, section=".text", type=SymbolType.FUNC),
    Symbol(name="NR_TASKLETS", value=12),
    Symbol(name="local", value=1, section=".data", binding=Binding.LOCAL),
    Symbol(
        name="host",
        value=8,
        size=4,
        section=".data.__sys_host",
        type=SymbolType.OBJECT,
        binding=Binding.WEAK,
        visibility=Visibility.HIDDEN,
    ),
]


class MachineElf(ctypes.Structure):
    _fields_ = [
        ("entry", ctypes.c_uint32),
        ("nr_tasklets", ctypes.c_uint32),
        ("chip", ctypes.c_char * 16),
        ("nsegments", ctypes.c_size_t),
        ("nsymbols", ctypes.c_size_t),
        ("pointers", ctypes.c_void_p * 64),
    ]


@pytest.mark.nosanitize  # the machine is built here without sanitizers
@pytest.mark.parametrize("chip", ["v1A", "v1B"])
def test_the_machine_reads_what_was_written(machine_library: ctypes.CDLL, chip: str) -> None:
    image = write(PARTS, SYMBOLS, chip=chip)
    elf = MachineElf()
    status = machine_library.dpu_elf_open_image(
        ctypes.byref(elf), image, ctypes.c_size_t(len(image))
    )
    assert status == 0
    assert (elf.entry, elf.nr_tasklets, elf.chip) == (0x80000000, 12, chip.encode())
    assert (elf.nsegments, elf.nsymbols) == (4, 4)
    machine_library.dpu_elf_close_image(ctypes.byref(elf))


def test_what_was_written_is_read_again() -> None:
    program = ProgramFile(write(PARTS, SYMBOLS, entry=0x80000008))
    assert (program.entry, program.flags, program.chip) == (0x80000008, 0x2800000, "v1A")
    named = {one.name: one for one in program.sections}
    for part in PARTS:
        found = named[part.name]
        assert (found.type, found.flags, found.address) == (part.type, part.flags, part.address)
        assert (found.size, found.data, found.alignment) == (
            part.length,
            part.data,
            part.alignment,
        )
    assert [(one.address, one.data) for one in program.segments] == [
        (part.address, part.data) for part in PARTS[:3] + PARTS[5:6]
    ]
    # Local symbols are first, after the empty one.
    assert [one.name for one in program.symbols] == ["", "local", "main", "NR_TASKLETS", "host"]
    symbols = {one.name: one for one in program.symbols}
    for symbol in SYMBOLS:
        one = symbols[symbol.name]
        section = one.section.name if one.section is not None else None
        assert (one.value, one.size, section) == (symbol.value, symbol.size, symbol.section)
        assert (one.type, one.binding, one.visibility) == (
            symbol.type,
            symbol.binding,
            symbol.visibility,
        )


def test_contents_are_aligned_in_the_file_as_in_memory() -> None:
    sections = [
        Section(name=".data", address=64, data=b"x" * 5, alignment=64),
        Section(name=".data.more", address=72, data=b"more", alignment=1),
    ]
    image = write(sections)
    for section in sections:
        assert image.index(section.data) % section.alignment == 0
        assert image.index(section.data) % 8 == section.address % 8


def test_the_attributes_name_the_chip() -> None:
    assert attributes("v1A") == b"A\x14\0\0\0upmem\0\x01\x0a\0\0\0\x05v1A\0"
    assert ProgramFile(write([TEXT], chip=None)).chip == ""


@pytest.mark.parametrize(
    ("sections", "symbols", "message"),
    [
        ([Section(name="")], [], "has no valid name"),
        ([Section(name="a", alignment=3)], [], "alignment 3, which is not a power of two"),
        ([Section(name="a", address=4, alignment=8)], [], "is not aligned to 8"),
        ([Section(name="a", address=1 << 32, data=b"a")], [], "outside 32 bits"),
        ([Section(name="a", size=2, data=b"a")], [], "has 1 bytes, but size 2"),
        ([Section(name="a", data=b"a", type=SectionType.NOBITS)], [], "but type NOBITS"),
        ([Section(name="a", address=0x80000000, data=b"a")], [], "whole instructions"),
        ([TEXT, TEXT], [], "duplicate section '.text'"),
        (
            [Section(name="a", data=b"ab"), Section(name="b", address=1, size=1)],
            [],
            "has 0 bytes, but size 1",
        ),
        (
            [Section(name="a", data=b"ab"), Section(name="b", address=1, data=b"b")],
            [],
            "'a' ends at 0x2, after 'b' begins",
        ),
        ([TEXT], [Symbol(name="a\0", value=0)], "has a name with a NUL character"),
        ([TEXT], [Symbol(name="a", value=-1)], "outside 32 bits"),
        ([TEXT], [Symbol(name="a", value=0, section=".data")], "which does not exist"),
    ],
)
def test_what_cannot_be_is_refused(
    sections: list[Section], symbols: list[Symbol], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write(sections, symbols)


def test_damaged_files_are_refused() -> None:
    image = write(PARTS, SYMBOLS)
    for length in range(0, len(image), 7):
        with pytest.raises(ElfError):
            ProgramFile(image[:length])


def test_relocations_of_unknown_symbols_are_refused() -> None:
    # r_offset 0, symbol 9, type 1, addend 0.
    entry = struct.pack("<IIi", 0, 9 << 8 | 1, 0)
    section = Section(
        name=".rela", data=entry, type=SectionType.RELA, flags=SectionFlags.NONE, entry_size=12
    )
    with pytest.raises(ElfError, match="a symbol that does not exist"):
        _ = ElfFile(write([TEXT, section], SYMBOLS[:1])).relocations


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF\x01\x01" + bytes(40), b"\x7fELF\x02\x01" + bytes(60)]
)
def test_what_is_no_elf_file_is_refused(data: bytes) -> None:
    with pytest.raises(ElfError):
        ElfFile(data)
