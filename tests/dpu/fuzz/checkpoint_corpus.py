# SPDX-License-Identifier: BSD-3-Clause
"""Makes the saved DPU states that fuzzing of their reader starts from.

``python -m tests.dpu.fuzz.checkpoint_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main, write_inputs

MAGIC = 0xFABDDBAF


def state(threads: int, registers: int, bits: int, iram: int, mram: int, wram: int) -> bytes:
    """Make a state of these counts, with some order in its bytes."""
    header = struct.pack("<10I", MAGIC, 18, 3, MAGIC, threads, registers, bits, iram, mram, wram)
    sizes = iram * 8 + mram + wram * 4 + threads * registers * 4 + threads * 2
    content = (bytes(range(256)) * (sizes // 256 + 1))[:sizes]
    flags = bytes(i % 2 for i in range(bits + 2 * threads))
    running = bytes([1]) + bytes(threads)
    tail = struct.pack("<6BI", 1, 0, 0, 2, 0, 0, 3)
    return header + content + flags + running + tail


WHOLE = state(24, 24, 256, 0, 0, 0)
STATES = {
    "whole": WHOLE,
    "small": state(1, 1, 1, 0, 0, 0),
    "memories": state(2, 3, 4, 5, 64, 7),
    "iram and wram": state(24, 24, 256, 4096, 0, 16384),
    "cut": WHOLE[:-1],
    "longer": WHOLE + b"\0",
    "too short": WHOLE[:39],
    "other magic": b"\0" + WHOLE[1:],
    "other chip": WHOLE[:4] + b"\1" + WHOLE[5:],
    "other version": WHOLE[:8] + b"\1" + WHOLE[9:],
    "no tasklets": state(0, 24, 256, 0, 0, 0),
    "many tasklets": WHOLE[:16] + struct.pack("<I", 0x40000001) + WHOLE[20:],
    "much memory": WHOLE[:32] + struct.pack("<I", 0xFFFFFFFF) + WHOLE[36:],
    "memory that is not there": WHOLE[:32] + struct.pack("<I", 0x4000000) + WHOLE[36:],
}


def make_corpus(folder: Path) -> list[Path]:
    """Write the states."""
    return write_inputs(folder, STATES)


if __name__ == "__main__":
    main(make_corpus)
