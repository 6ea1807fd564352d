# SPDX-License-Identifier: BSD-3-Clause
"""Makes the packets that fuzzing of the engine's receiving side starts from.

``python -m tests.accl.fuzz.packets_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main, write_inputs

KINDS = ["hello", "eager", "data", "rts", "cts", "drop"]
KINDS += ["cancel", "ack", "probe", "gave_up", "bye", "ready", "direct"]
WORD = (1 << 64) - 1
FLOAT32 = 3


def list_key(ranks: int) -> int:
    """Give the key of the ranks of the target."""
    key = 0x6C697374
    for rank in range(ranks):
        key = (key ^ (0x7F000001 << 32 | 9000 + rank)) * 0x9E3779B97F4A7C15 & WORD
        key ^= key >> 29
    return key


def communicator_key(ranks: int) -> int:
    """Give the key of its first communicator."""
    key = 0x6B657920
    for word in (0, ranks, *range(ranks)):
        key = (key ^ word) * 0x9E3779B97F4A7C15 & WORD
        key ^= key >> 29
    return key


def packet(kind: str, source: int = 1, payload: bytes = b"", **fields: int) -> bytes:
    """Put a step together: the packet of a kind, from a rank."""
    f = {"segments": 1, "id": 1, "key": communicator_key(3), "total": len(payload), **fields}
    header = struct.pack(
        "<IBBBBII2Q4Q6I",
        0x70636C61,
        f.get("version", 1),
        KINDS.index(kind) + 1,
        f.get("channel", 0),
        f.get("wire_type", FLOAT32),
        f.get("sender", source),
        f["segments"],
        f.get("consumed", 0),
        f.get("consumed_collective", 0),
        f["id"],
        f["key"],
        f["total"],
        f.get("offset", 0),
        len(payload),
        f.get("tag", 5),
        f.get("sequence", 0),
        f.get("numbers", 1),
        f.get("stream", 0),
        0,
    )
    data = header + payload
    return struct.pack("<BH", source - 1, len(data)) + data


def hello(source: int = 1) -> bytes:
    """Greet."""
    return packet("hello", source, segments=4, total=256, key=list_key(3), tag=3, id=0)


def act(what: int) -> bytes:
    """Have the target do something."""
    return struct.pack("<BH", 128 + what, 0)


ONE = bytes(16)
BOTH = hello(1) + hello(2)
INPUTS = {
    "greeting": BOTH + packet("bye"),
    "message": BOTH + packet("eager", payload=ONE) + act(0) + act(3) + act(40),
    "receive": BOTH + act(0) + packet("eager", payload=ONE, source=2) + act(5),
    "two": BOTH + packet("eager", payload=ONE) + packet("eager", payload=ONE, id=2) + act(10),
    "parts": BOTH
    + packet("eager", payload=ONE, total=32, segments=1)
    + packet("data", payload=ONE, total=32, offset=16)
    + act(44),
    "stream": BOTH + packet("eager", payload=ONE, stream=3, tag=2) + act(50) + act(0),
    "large": BOTH
    + packet("rts", total=2400)
    + act(20)
    + packet("data", payload=ONE, total=2400)
    + packet("data", payload=bytes(2384), total=2400, offset=16),
    "large left": BOTH + packet("rts", total=2400) + act(20) + packet("cancel", total=0),
    "large put": BOTH
    + packet("rts", total=2400, stream=1)
    + act(50)
    + packet("data", payload=bytes(2400), total=2400)
    + act(50),
    "rendezvous twice": BOTH + act(21) + packet("cts", 1, total=0) + act(26),
    "large cancelled": BOTH + packet("rts", total=4096) + packet("cancel") + act(20),
    "large dropped": BOTH + packet("rts", total=16) + act(0) + act(44),
    "send": BOTH + act(1) + packet("ack", 2, consumed=1, id=0, total=0) + act(21),
    "rendezvous": BOTH + act(21) + packet("cts", 2, total=0) + packet("drop", 2, total=0),
    "probe": BOTH + packet("probe", total=0, id=0) + packet("eager", payload=ONE) + act(0),
    "gave up": BOTH + packet("gave_up", channel=1, total=0, id=0) + act(2) + act(4),
    "collective": BOTH + packet("eager", payload=ONE, channel=1, tag=1) + act(2),
    "too many": BOTH + b"".join(packet("eager", payload=ONE, id=i) for i in range(1, 7)),
    "out of order": BOTH + packet("eager", payload=ONE, id=2),
    "no greeting": packet("eager", payload=ONE),
    "other ranks": packet("hello", segments=4, total=256, key=1, tag=3),
    "too long": BOTH + packet("eager", payload=bytes(512), segments=1),
    "another sender": hello(1) + packet("ack", sender=2, total=0),
    "another version": packet("hello", version=2, segments=4, total=256),
    "ready": BOTH + packet("ready", total=2400, offset=7) + act(21) + packet("ready", total=3),
    "direct": BOTH + act(20) + packet("direct", total=2400) + packet("direct", total=0),
    "counts": BOTH + packet("ack", consumed=9, total=0),
    "cut": hello(1)[:40],
    "nothing": b"",
}


def make_corpus(folder: Path) -> list[Path]:
    """Write the inputs."""
    return write_inputs(folder, INPUTS)


if __name__ == "__main__":
    main(make_corpus)
