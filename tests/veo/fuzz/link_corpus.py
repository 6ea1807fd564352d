# SPDX-License-Identifier: BSD-3-Clause
"""Makes the VE files that fuzzing of the linker starts from.

``python -m tests.veo.fuzz.link_corpus FOLDER``; no compiler is needed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tests.support.corpora import main

HEADER = "<16sHHIQQQIHHHHHH"
SECTION = "<IIQQQQIIQQ"
SYMBOL = "<IBBHQQ"
RELA = "<QQq"
SEGMENT = "<IIQQQQQQ"
IDENTITY = b"\x7fELF\x02\x01\x01" + bytes(9)
PROGBITS, SYMTAB, STRTAB, RELOCATIONS, NOBITS, INIT_ARRAY, GROUP = 1, 2, 3, 4, 8, 14, 17
WRITE, ALLOCATED, CODE, THREADS = 1, 2, 4, 0x400
LOCAL, GLOBAL, WEAK = 0, 1, 2
NOTHING, DATA, FUNCTION, COMMON, THREAD = 0, 1, 2, 5, 6
IN_COMMON = 0xFFF2

Section = tuple[str, int, int, bytes, int, int, int]
Symbol = tuple[str, int, int, int, int, int]
Relocation = tuple[int, int, int, int]


def strings(names: Sequence[str]) -> tuple[bytes, list[int]]:
    """Make a string table; the second part is where each string is."""
    table, places = b"\0", []
    for name in names:
        places.append(len(table))
        table += name.encode() + b"\0"
    return table, places


def write_object(
    sections: Sequence[Section], symbols: Sequence[Symbol], machine: int = 251
) -> bytes:
    """Make an object. A section: name, type, flags, content, size, link, info; a symbol: name,
    binding, type, section, value, size. The symbol table comes after the sections.
    """
    names, places = strings([symbol[0] for symbol in symbols])
    table = bytes(24)
    for place, (_, binding, kind, section, value, size) in zip(places, symbols, strict=True):
        table += struct.pack(SYMBOL, place, binding << 4 | kind, 0, section, value, size)
    n = len(sections) + 1
    rows: list[Section] = [
        *sections,
        (".symtab", SYMTAB, 0, table, len(table), n + 1, 1),
        (".strtab", STRTAB, 0, names, len(names), 0, 0),
    ]
    titles, places = strings([row[0] for row in rows] + [".shstrtab"])
    rows.append((".shstrtab", STRTAB, 0, titles, len(titles), 0, 0))
    content, headers = b"", bytes(64)
    for place, (_, kind, flags, data, size, link, info) in zip(places, rows, strict=True):
        content += bytes(-len(content) % 8)
        headers += struct.pack(
            SECTION, place, kind, flags, 0, 64 + len(content), size, link, info, 8,
            24 if kind in (SYMTAB, RELOCATIONS) else 0,
        )  # fmt: skip
        content += data
    content += bytes(-len(content) % 8)
    header = struct.pack(
        HEADER, IDENTITY, 1, machine, 1, 0, 0, 64 + len(content), 0, 64, 0, 0, 64,
        len(rows) + 1, len(rows),
    )  # fmt: skip
    return header + content + headers


def relocations(rows: Sequence[Relocation]) -> bytes:
    """Make a table of relocations: offset, type, symbol, addend."""
    return b"".join(
        struct.pack(RELA, offset, symbol << 32 | kind, addend)
        for offset, kind, symbol, addend in rows
    )


def whole_object(kinds: Sequence[int], name: str = "run") -> bytes:
    """Make an object with code, data, thread-local and common variables, and relocations."""
    code = bytes(8 * (len(kinds) + 4))

    def symbol(i: int, kind: int) -> int:
        if kind in range(22, 35):
            return 2
        return 1 if i % 5 == 1 else 1 + i % 5

    rows = relocations([(8 * i, kind, symbol(i, kind), i) for i, kind in enumerate(kinds)])
    begin = relocations([(0, 2, 3, 0)])
    sections: list[Section] = [
        (".text", PROGBITS, ALLOCATED | CODE, code, len(code), 0, 0),
        (".rela.text", RELOCATIONS, 0, rows, len(rows), 6, 1),
        (".tdata", PROGBITS, ALLOCATED | WRITE | THREADS, bytes(8), 8, 0, 0),
        (".init_array", INIT_ARRAY, ALLOCATED | WRITE, bytes(8), 8, 0, 0),
        (".rela.init_array", RELOCATIONS, 0, begin, len(begin), 6, 4),
    ]
    symbols: list[Symbol] = [
        ("", LOCAL, NOTHING, 1, 0, 0),
        ("thread", LOCAL, THREAD, 3, 0, 8),
        (name, GLOBAL, FUNCTION, 1, 0, 16),
        ("common", GLOBAL, DATA, IN_COMMON, 8, 8),
        ("elsewhere", GLOBAL, NOTHING, 0, 0, 0),
        ("weak", WEAK, NOTHING, 0, 0, 0),
    ]
    return write_object(sections, symbols)


def archive(members: Sequence[tuple[str, bytes]]) -> bytes:
    """Make an archive."""
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(data):<10}`\n".encode()
        out += data + b"\n" * (len(data) % 2)
    return out


def shared_object(kinds: Sequence[int]) -> bytes:
    """Make a shared object of one segment, with relocations of these types."""
    names, places = strings(["run", "elsewhere", "libc.so.6"])
    at = 64 + 2 * 56
    dynamic_size = 16 * 10
    parts: list[bytes] = [bytes(dynamic_size)]
    addresses = [at]

    def add(data: bytes) -> int:
        address = at + sum(map(len, parts))
        parts.append(data + bytes(-len(data) % 8))
        addresses.append(address)
        return address

    table = bytes(24)
    table += struct.pack(SYMBOL, places[0], GLOBAL << 4 | FUNCTION, 0, 1, at, 8)
    table += struct.pack(SYMBOL, places[1], GLOBAL << 4 | FUNCTION, 0, 0, 0, 8)
    symbols = add(table)
    text = add(names)
    hashes = add(struct.pack("<IIIIII", 1, 3, 1, 0, 2, 0))
    data = add(bytes(8 * len(kinds) + 8))
    rows = add(relocations([(data + 8 * i, kind, 1 + i % 2, at) for i, kind in enumerate(kinds)]))
    entries = [
        (1, places[2]), (5, text), (10, len(names)), (6, symbols), (4, hashes),
        (7, rows), (8, 24 * len(kinds)), (25, data), (27, 8), (0, 0),
    ]  # fmt: skip
    parts[0] = b"".join(struct.pack("<QQ", tag, value) for tag, value in entries)
    content = b"".join(parts)
    size = at + len(content)
    header = struct.pack(HEADER, IDENTITY, 3, 251, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    header += struct.pack(SEGMENT, 1, 7, 0, 0, 0, size, size, 4096)
    header += struct.pack(SEGMENT, 2, 6, at, at, at, dynamic_size, dynamic_size, 8)
    return header + content


def make_corpus(folder: Path) -> list[Path]:
    """Write objects, archives and shared objects, small and whole."""
    in_objects = [*range(1, 17), 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36]
    inner = archive([("helper.o", whole_object([2], "elsewhere"))])
    files = {
        "object": whole_object(in_objects),
        "plain": whole_object([]),
        "archive": archive([("a.o", whole_object([2, 4, 5])), ("lib.a", inner)]),
        "shared": shared_object([17, 18, 19, 2, 20, 22, 23, 24]),
        "resolved": shared_object([21]),
    }
    inputs = []
    for name, data in files.items():
        path = folder / f"{name}.input"
        path.write_bytes(data)
        inputs.append(path)
    return inputs


if __name__ == "__main__":
    main(make_corpus)
