# SPDX-License-Identifier: BSD-3-Clause
"""Makes the programs that fuzzing of the reader of DPU programs starts from.

``python -m tests.formats.fuzz.dpu_elf_corpus FOLDER``; no compiler is needed.
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main

HEADER = "<16sHHIIIIIHHHHHH"
PROGRAM_HEADER = "<8I"
SECTION_HEADER = "<10I"
SYMBOL = "<IIIBBH"
PROGBITS, SYMTAB, STRTAB, NOBITS, ATTRIBUTES = 1, 2, 3, 8, 0x70000003
ABSOLUTE = 0xFFF1
GLOBAL_OBJECT, GLOBAL_FUNCTION, LOCAL_LABEL = 0x11, 0x12, 0x00

CHIP = b"A\x14\0\0\0upmem\0\x01\x0a\0\0\0\x05v1A\0"
# Two lines of a file in a folder, from the first instruction on.
LINES_HEADER = b"\x08\x01\x01\xfd\x0c\x0a" + b"\0\1\1\1\1\0\0\0\1"
LINES_HEADER += b"folder\0\0file.c\0\1\0\0\0"
LINES_PROGRAM = b"\0\5\2\0\0\0\x80" + b"\x03\x0b\x01" + b"\x1c" + b"\x02\x01\0\1\1"
LINES_UNIT = struct.pack("<HI", 4, len(LINES_HEADER)) + LINES_HEADER + LINES_PROGRAM
LINES = struct.pack("<I", len(LINES_UNIT)) + LINES_UNIT
SECTIONS = [
    (".text", PROGBITS, 0x80000000, struct.pack("<3Q", 0x7EF320000000, 0, 0x6063000000FF)),
    (".data", PROGBITS, 0, bytes(24)),
    (".data.__sys_host", PROGBITS, 0x40, b"host"),
    (".mram", PROGBITS, 0x08000000, bytes(range(16))),
    (".atomic", NOBITS, 0xF00000C8, b""),
    (".dpu.attributes", ATTRIBUTES, 0, CHIP),
    (".debug_line", PROGBITS, 0x90000000, LINES),
]
SYMBOLS = [
    ("main", 0x80000008, 16, GLOBAL_FUNCTION, 1),
    ("__bootstrap", 0x80000000, 0, LOCAL_LABEL, 1),
    ("counter", 0x40, 4, GLOBAL_OBJECT, 3),
    ("NR_TASKLETS", 11, 0, GLOBAL_OBJECT, ABSOLUTE),
    ("__stdout_buffer_state", 0x10, 8, GLOBAL_OBJECT, 2),
]


def names(texts: list[str]) -> tuple[bytes, list[int]]:
    """Make a string table; the second part is where each string is."""
    table, places = b"\0", []
    for text in texts:
        places.append(len(table))
        table += text.encode() + b"\0"
    return table, places


def program(sections: int, symbols: int) -> bytes:
    """Make a program of the first few sections and symbols."""
    strings, places = names([row[0] for row in SYMBOLS[:symbols]])
    table = bytes(16)
    for place, (_, value, size, info, section) in zip(places, SYMBOLS, strict=False):
        table += struct.pack(SYMBOL, place, value, size, info, 0, section)
    rows = [
        *SECTIONS[:sections],
        (".symtab", SYMTAB, 0, table),
        (".strtab", STRTAB, 0, strings),
    ]
    section_names, places = names([row[0] for row in rows] + [".shstrtab"])
    rows.append((".shstrtab", STRTAB, 0, section_names))
    loaded = [row for row in rows[:sections] if row[1] == PROGBITS]
    content = b""
    headers = struct.pack(SECTION_HEADER, *[0] * 10)
    segments = b""
    start = struct.calcsize(HEADER) + len(loaded) * struct.calcsize(PROGRAM_HEADER)
    for place, (_, kind, address, data) in zip(places, rows, strict=True):
        at = start + len(content)
        link, entry = (sections + 2, 16) if kind == SYMTAB else (0, 0)
        headers += struct.pack(
            SECTION_HEADER, place, kind, 2, address, at, len(data), link, 1, 8, entry
        )
        if kind == PROGBITS:
            segments += struct.pack(
                PROGRAM_HEADER, 1, at, address, address, len(data), len(data) + 8, 7, 8
            )
        content += data
    identity = b"\x7fELF\x01\x01\x01" + bytes(9)
    header = struct.pack(
        HEADER, identity, 2, 245, 1, 0x80000000, 52, start + len(content), 0x2800000,
        52, 32, len(loaded), 40, len(rows) + 1, len(rows),
    )  # fmt: skip
    return header + segments + content + headers


def make_corpus(folder: Path) -> list[Path]:
    """Write a few programs, small and whole."""
    inputs = []
    for sections, symbols in [(1, 0), (1, 2), (3, 5), (len(SECTIONS), len(SYMBOLS))]:
        path = folder / f"{sections}-{symbols}.input"
        path.write_bytes(program(sections, symbols))
        inputs.append(path)
    return inputs


if __name__ == "__main__":
    main(make_corpus)
