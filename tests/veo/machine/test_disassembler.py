# SPDX-License-Identifier: BSD-3-Clause
"""The text of instructions is what clang's assembler for the Vector Engine reads."""

from __future__ import annotations

import importlib.util
import random
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.veo.support.cores import Core, Operation

TARGET = "ve-unknown-linux-gnu"
EACH = 40


@pytest.fixture(scope="module")
def core() -> Iterator[Core]:
    made = Core()
    yield made
    made.close()


def draw_word(generator: random.Random, operation: Operation) -> int:
    """Fill the bits that the row leaves open; half of the words have few of them."""
    bits = generator.getrandbits(64)
    if generator.random() < 0.5:
        bits &= generator.getrandbits(64) & generator.getrandbits(64)
    return operation.match | (bits & ~operation.mask)


def is_only_necs(text: str) -> bool:
    """Tell whether integers are compared with a condition for floats, which clang refuses."""
    mnemonic = text.split()[0]
    return bool(re.search(r"num|nan", mnemonic) and re.search(r"\.[lw](\.|$)", mnemonic))


def text_section(path: Path) -> list[int]:
    """Read the words of .text of an object file."""
    data = path.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    sections = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
    start = sections[names][4]
    for name, _, _, _, offset, size in sections:
        if data[start + name :].startswith(b".text\0"):
            return list(struct.unpack_from(f"<{size // 8}Q", data, offset))
    raise AssertionError("no .text")


def assemble(texts: list[str], folder: Path) -> list[int]:
    source = folder / "code.s"
    source.write_text("\n".join([".text", *texts, ""]))
    command = [sys.executable, "-m", "ziglang", "clang", f"--target={TARGET}", "-c", str(source)]
    made = subprocess.run(
        [*command, "-o", str(folder / "code.o")], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[:2000]
    return text_section(folder / "code.o")


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs ziglang's clang")
def test_clang_assembles_every_text_to_the_same_instruction(core: Core, tmp_path: Path) -> None:
    generator = random.Random(1)
    texts: list[str] = []
    for operation in core.operations():
        found = 0
        while found < EACH:
            text = core.disassemble(draw_word(generator, operation))
            if not text.startswith(".quad") and not is_only_necs(text):
                texts.append(text)
                found += 1

    words = assemble(texts, tmp_path)
    assert len(words) == len(texts)
    again = [core.disassemble(word) for word in words]
    different = [pair for pair in zip(texts, again, strict=True) if pair[0] != pair[1]]
    assert different == []
    # Bits that the text does not show are those that the instruction does not use.
    assert assemble(again, tmp_path) == words
