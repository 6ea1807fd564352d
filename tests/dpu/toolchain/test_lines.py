# SPDX-License-Identifier: BSD-3-Clause
"""Faults and disassembly lead to lines of C."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpu import DpuSet
from dpu.errors import DpuError
from dpu.toolchain import BuildOptions, Toolchain, build

TEXT = """#include <attributes.h>
#include <stdint.h>
__host uint32_t index, divisor, value;
uint32_t table[4];

static __noinline uint32_t look(uint32_t i)
{
    uint32_t *p = table;

    return p[i];
}

int main(void)
{
    value = look(index);
    value += 100u / divisor;
    return 0;
}
"""


@pytest.fixture
def program(toolchain: Toolchain, tmp_path: Path) -> Path:
    source, output = tmp_path / "source.c", tmp_path / "program.dpu"
    source.write_text(TEXT)
    build([source], output, BuildOptions(), toolchain=toolchain)
    return output


@pytest.mark.parametrize(
    ("index", "divisor", "expected"),
    [
        (1 << 20, 1, r"\(look\+0x\d, \S+source\.c:10\): WRAM access at 0x40\w+ out of bounds"),
        (0, 0, r"called at pc 0x\w+ \(main\+0x\w+, \S+source\.c:16\): division by zero"),
    ],
)
def test_a_fault_says_file_and_line(program: Path, index: int, divisor: int, expected: str) -> None:
    with DpuSet(1, binary=program) as dpus:
        dpus.index, dpus.divisor = index.to_bytes(4, "little"), divisor.to_bytes(4, "little")
        with pytest.raises(DpuError) as caught:
            dpus.exec()
    assert re.search(expected, caught.value.detail), caught.value.detail


def test_objdump_shows_lines(program: Path) -> None:
    command = [sys.executable, "-P", "-m", "dpu.objdump", "-l", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    main = text.partition("<main>:")[2]
    for line in (15, 16):
        assert f"; {program.parent / 'source.c'}:{line}\n" in main
    plain = subprocess.run(
        [*command[:4], "-d", str(program)], capture_output=True, text=True, check=True
    ).stdout
    assert "source.c" not in plain
    assert plain.splitlines() == [line for line in text.splitlines() if not line.startswith(";")]
