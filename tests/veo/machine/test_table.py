# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of instructions that nothing else looks at bit by bit."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

# Of "MNEMONIC BITS" in lines, sorted, as NEC's own table of opcodes has them (its port of gdb,
# branch gdb-ve of veos-sxarr-NEC, 7.12.1): 266 forms that are of the VE3 alone.
VE3 = "8f9505015c802f40c7cce95a27c510f44394f65d6a8d4d038cb55125d70e6d46"


def test_names_of_the_ve3_are_those_of_the_source(root: Path) -> None:
    text = (root / "csrc/veo/isa/ve3.def").read_text()
    rows = re.findall(r'^VE3\("([^"]+)", 0x([0-9A-F]{16})\)', text, re.MULTILINE)
    assert len(rows) == len(set(rows)) == text.count("\nVE3(") == 266
    lines = "\n".join(sorted(f"{mnemonic} {bits.lower()}" for mnemonic, bits in rows))
    assert hashlib.sha256(lines.encode()).hexdigest() == VE3
