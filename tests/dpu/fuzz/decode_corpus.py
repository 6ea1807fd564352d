# SPDX-License-Identifier: BSD-3-Clause
"""Start inputs for the fuzzer of the decoder: words of every form, and operands to encode."""

from __future__ import annotations

import re
import struct
from pathlib import Path

TABLE = Path(__file__).resolve().parents[3] / "csrc" / "dpu" / "isa" / "instructions.def"
WORDS_A_FILE = 100


def make_corpus(folder: Path) -> list[Path]:
    """Write the files."""
    found = re.findall(
        r'^FORM\(\w+, "[\w.]+", "\w*", \w+, \w+, (0x\w+),', TABLE.read_text(), re.MULTILINE
    )
    words = [int(text, 16) for text in found]
    assert len(words) == 973
    files = []
    for start in range(0, len(words), WORDS_A_FILE):
        path = folder / f"words-{start}"
        some = words[start : start + WORDS_A_FILE]
        path.write_bytes(b"".join(word.to_bytes(6, "little") for word in some))
        files.append(path)
    # A form, a condition's code, how many operands too many; values with what they are shifted by.
    for form in range(0, len(words), 40):
        path = folder / f"operands-{form}"
        values = b"".join(struct.pack("<iB", value, 0) for value in (form % 24, 0, -1, 24, 2, 64))
        path.write_bytes(struct.pack("<HBB", form, form % 70, 8) + values)
        files.append(path)
    return files
