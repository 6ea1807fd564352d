# SPDX-License-Identifier: BSD-3-Clause
"""Makes the steps that fuzzing of the ranks' shared memory starts from.

``python -m tests.accl.fuzz.arena_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main, write_inputs

HEADER, RING, SLOTS, LANE_HEAD, LANE, SECOND_LANE, ENTRIES, ANYWHERE = range(8)
OPERATIONS = ["copy", "combine", "send", "recv", "bcast", "scatter", "gather", "reduce"]
OPERATIONS += ["allgather", "allreduce", "reduce_scatter", "barrier", "alltoall"]
SMALL, MEDIUM, LARGE, LARGEST = range(4)
WORD = b"\xff" * 8


def write(rank: int, where: int, place: int, data: bytes) -> bytes:
    """Write into the file of a rank."""
    return struct.pack("<BHB", where << 1 | rank, place, len(data)) + data


def call(rank: int, operation: str, size: int = SMALL, comm: int = 0, **more: int) -> bytes:
    """Have a rank make a call; what it waits for has to be there."""
    other = 2 if not more.get("compressed") else more["compressed"] - 1
    place = size | comm << 2 | more.get("root", 1 - rank) << 4 | more.get("wide", 0) << 5
    place |= more.get("tag", 0) << 6 | other << 8
    return struct.pack("<BHB", 128 + (OPERATIONS.index(operation) << 1) + rank, place, 0)


def look(rank: int, reset: int = 0) -> bytes:
    """Have a rank say what it knows."""
    return struct.pack("<BHB", 224 + reset * 2 + rank, 0, 0)


def post(number: int) -> int:
    """Return the offset at which a post of a lane begins."""
    return 64 + number % 8 * 4096


def both(operation: str, size: int, comm: int = 0) -> bytes:
    """Have both ranks make a call of root 1; rank 0 comes second, and finds the other's post."""
    return call(1, operation, size, comm, root=1) + call(0, operation, size, comm, root=1)


INPUTS = {
    "messages": call(1, "send") + call(0, "recv") + look(0),
    "pool": call(1, "send", MEDIUM) + write(0, SLOTS, 8, WORD) + call(0, "recv", MEDIUM),
    "chain": call(1, "send", LARGE) + write(0, SLOTS, 20, WORD) + call(0, "recv", LARGE),
    "entry": call(1, "send") + write(0, ENTRIES, 24, WORD) + call(0, "recv") + look(0),
    "aside": call(1, "send", tag=1)
    + call(1, "send", comm=1)
    + call(0, "recv", comm=1)
    + look(0, 1),
    "direct": call(1, "send", LARGEST) + write(0, ENTRIES, 40, WORD) + call(0, "recv", LARGEST),
    "stream": call(1, "send", tag=1) + write(0, ENTRIES, 44, WORD) + look(0),
    "sender": call(0, "send") + write(1, RING, 0, WORD) + call(0, "send", MEDIUM),
    "self": call(0, "send", root=0) + write(0, HEADER, 192, WORD * 5) + call(0, "recv", root=0),
    "table": write(1, HEADER, 320, WORD * 2) + both("allreduce", SMALL),
    "gave up": write(1, LANE_HEAD, 8, b"\1\0\0\0") + both("allreduce", SMALL),
    "done": write(1, LANE_HEAD, 0, WORD) + both("bcast", LARGE),
    "notes": write(1, LANE_HEAD, 16, WORD * 4) + call(0, "bcast", LARGE, root=0),
    "anywhere": write(0, ANYWHERE, 40000, WORD * 8) + both("gather", SMALL) + look(1),
    "compressed": call(1, "bcast", LARGE, compressed=1, root=1)
    + call(0, "bcast", LARGE, compressed=1, root=1),
    "nothing": b"",
}
for _operation in OPERATIONS[4:]:
    for _size in (SMALL, LARGEST):
        _name = f"{_operation} {_size}"
        INPUTS[_name] = both(_operation, _size) + look(0)
        INPUTS[f"{_name} damaged"] = (
            call(1, _operation, _size, root=1)
            + write(1, LANE, post(2) + 12, WORD * 3)
            + call(0, _operation, _size, root=1)
        )
        INPUTS[f"{_name} address"] = (
            call(1, _operation, _size, 1, root=1)
            + write(1, SECOND_LANE, post(2) + 16, WORD)
            + call(0, _operation, _size, 1, root=1)
        )


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs."""
    return write_inputs(folder, INPUTS)


if __name__ == "__main__":
    main(make_corpus)
