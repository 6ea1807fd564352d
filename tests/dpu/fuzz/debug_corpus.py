# SPDX-License-Identifier: BSD-3-Clause
"""Makes the requests of a debugger that fuzzing starts from.

``python -m tests.dpu.fuzz.debug_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from dpu.asm import Source, assemble
from dpu.elf.program import ProgramFile
from tests.support.corpora import main, write_inputs

LOOP = """
    .text
    .globl main
main:
    lw r1, zero, 64
    add r1, r1, 1
    sw zero, 64, r1
    sdma r0, r1, 3
    jltu r1, 100, main
    stop
"""


def request(kind: int, *numbers: int, rounds: int = 0, data: bytes = b"") -> bytes:
    """Return a request after its length."""
    body = struct.pack("=IIIIQ", kind, *(*numbers, 0, 0, 0)[:3], rounds) + data
    return struct.pack("<H", len(body)) + body


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs into a folder."""
    elf = assemble(Source("loop.s", LOOP, preprocess=False), nr_tasklets=1)
    words = ProgramFile(elf).words()[:16]
    code = struct.pack("<16Q", *(words + [0] * 16)[:16])
    breakpoints = bytes([1 << 4]) + bytes(511)
    watch = struct.pack("=3I", 64, 4, 1)
    return write_inputs(
        folder,
        {
            "memory": code
            + request(1, 64, 16)
            + request(2, 64, data=b"12345678")
            + request(1, 0x08000000, 64)
            + request(1, 0x80000000, 64)
            + request(10, 0, 16),
            "run": code
            + request(5, data=breakpoints)
            + request(8, rounds=60)
            + request(3)
            + request(7, 0)
            + request(9),
            "watch": code + request(6, data=watch) + request(8, 0, 0, 3, rounds=60) + request(11),
        },
    )


if __name__ == "__main__":
    main(make_corpus)
