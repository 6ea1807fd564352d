# SPDX-License-Identifier: BSD-3-Clause
"""Makes the logs that fuzzing of the log decoder starts from: what a DPU's printf() leaves.

``python -m tests.dpu.fuzz.log_corpus FOLDER``
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.support.corpora import main, write_inputs


def record(conversions: str, arguments: bytes = b"") -> bytes:
    """Put a record together, padded to 8 bytes as in the buffer."""
    data = conversions.encode() + b"\0" + arguments
    return data + bytes(-len(data) % 8)


def integers(letters: str, modifier: str, layout: str, *values: int) -> bytes:
    """Make a record for each letter and value."""
    return b"".join(
        record(f"%{modifier}{letter}", struct.pack(layout, value))
        for letter in letters
        for value in values
    )


LOGS = {
    "empty": b"",
    "text": record("%s", b"hello\n\0") + record("%c", b"!"),
    "integers": integers("diuxXopb", "", "<I", 0, 42, 0x80000000),
    "wide": integers("duxXob", "l", "<Q", 1, 1 << 63) + integers("d", "ll", "<q", -7),
    "narrow": integers("dux", "h", "<I", 0x12345678) + integers("dx", "hh", "<I", 0xFFFF),
    "fields": integers("dx", "-20.5", "<I", 5) + integers("dx", "+ #08", "<I", 5),
    "doubles": b"".join(
        record(f"%{spec}", struct.pack("<d", value))
        for spec in ("f", "e", "E", "10.3f", "lf", "lg", "lA", "g")
        for value in (0.0, -1.5, 1e300, float("nan"))
    ),
    "strings": record("%10s%-10s%.2s%3c%-3c", b"abc\0def\0ghi\0xy"),
    "several": record("%d%s%ld%s", struct.pack("<i3sxq3sx", -1, b"and", 1 << 40, b"end")),
    "unknown": record("%y%%n%", bytes(16)) + record("%d %d", bytes(8)),
    "wide fields": record("%4095d", bytes(4)) + record("%.4095f", bytes(8)),
    "too wide": record("%s", b"first\0") + record("%4096d", bytes(4)),
    "too precise": record("%.99999999999d", bytes(4)),
    "cut conversion": b"%d",
    "cut number": b"%d\0\1\2",
    "cut double": b"%f\0\1\2\3\4",
    "cut string": b"%s\0no end",
    "cut others": b"%p\0" + b"\1",
    "cut binary": b"%b\0\1",
    "cut wide": b"%ld\0\1\2\3\4",
    "cut character": b"%c\0",
}


def make_corpus(folder: Path) -> list[Path]:
    """Write the logs."""
    return write_inputs(folder, LOGS)


if __name__ == "__main__":
    main(make_corpus)
