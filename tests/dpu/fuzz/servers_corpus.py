# SPDX-License-Identifier: BSD-3-Clause
"""Makes the streams between a host and a server that fuzzing starts from.

``python -m tests.dpu.fuzz.servers_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main, write_inputs

# csrc/dpu/lib/remote/message.h, and csrc/dpu/machine/remote.h
(CREATE, FREE, PAGES, ZEROS, SAME, CHANGED, READ, LAUNCH, STOP, ENDED, ALIVE, TROUBLE) = range(
    2, 14
)
THREADS = 24
OF_THREADS = 504
PAGE = 4096


def message(kind: int, first: int = 0, count: int = 0, data: bytes = b"") -> bytes:
    """Return a message about DPU 0."""
    return struct.pack("=4I", kind, 0, first, count) + data


def state(*, run_bits: int = 1, mode: int = 3, threads: int = THREADS) -> bytes:
    """Return a machine's state in which little is not zero."""
    packed = bytearray(OF_THREADS + 128 * THREADS)
    struct.pack_into("=Q", packed, 0, run_bits)
    struct.pack_into("=I", packed, 208, mode)
    struct.pack_into("=I", packed, 244, threads)
    return bytes(packed)


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs into a folder."""
    page = bytes(range(256)) * (PAGE // 256)
    launch = message(PAGES, 0, 1, page) + message(LAUNCH, data=state())
    text = b"no memory".ljust(256, b"\0")
    return write_inputs(
        folder,
        {
            "launch": b"\0" + launch + message(STOP),
            "read": b"\0" + message(PAGES, 8, 2, page * 2) + message(READ, 7, 30),
            "same": b"\0" + message(SAME, 300, 64, bytes(4)),
            "free": b"\0" + message(ZEROS, 3, 40) + message(FREE) + message(CREATE),
            "several": b"\0" + launch + message(READ, 0, 1) + launch,
            "ended": b"\1" + message(CHANGED, 8, 200) + message(ENDED, data=state(run_bits=0)),
            "runs": b"\1" + message(ALIVE) + message(ENDED, 4, 1, state(run_bits=0xFFFF)),
            "pages": b"\1" + message(PAGES, 6, 3, page * 3) + message(READ, 5, 40),
            "trouble": b"\1" + message(TROUBLE, data=text),
        },
    )


if __name__ == "__main__":
    main(make_corpus)
