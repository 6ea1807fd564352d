# SPDX-License-Identifier: BSD-3-Clause
"""Data in MRAM that C code uses directly."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain
from dpu.toolchain.driver import build_cached
from dpu.toolchain.frontend.mram_access import find_mram_accesses
from dpu.toolchain.frontend.soft_cache import serve_mram_accesses, split_operands
from tests.dpu.support.native import DONE
from tests.dpu.support.running import KERNELS, Running

RunKernel = Callable[..., Running]


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("tasklets", [1, 16])
def test_data_of_every_size_is_read_and_written(
    run_kernel: RunKernel, level: str, tasklets: int
) -> None:
    with run_kernel("mram_access", tasklets=tasklets, level=level) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("bytes", "B") == [i + 1 for i in range(96)]
        assert dpu.get("found", "I") == [sum(range(97))] * tasklets
        words = sum(i << 20 for i in range(48))
        assert dpu.get("sum", "I") == [words + 100 - 21 & 0xFFFF_FFFF]
        assert dpu.get("long_sum", "Q") == [(52 << 40) + 52]
        assert dpu.get("halves", "h") == [-3 * i for i in range(48)]
        assert dpu.get("flags", "I") == [5]
        assert dpu.get("bits", "I") == [77]
        tag, rank, count, total, weight, mean, *name = struct.unpack(
            "<Bxh4xI4xqf4xd5B".replace("4xI4x", "I"), bytes(dpu.get("copy", "B"))[:37]
        )
        assert (tag, rank, count, total, weight, mean) == (1, -3, 4, -5, 11.0, 6.75)
        assert name == [7, 8, 9, 10, 99]
        third = 0x1122334455667788 + 0x12345678
        packed = struct.pack("<BIQ", 1, 0x12345678, third)
        assert bytes(dpu.get("dense_copy", "B")) == packed
        assert bytes(dpu.get("dense", "B")) == bytes(13) + packed + bytes(13)


def test_operands_are_split_outside_of_parentheses() -> None:
    text = "i32 (a, b), ptr getelementptr (i8, ptr @x, i32 4), <2 x i32> {1, 2}, !dbg !4"
    assert split_operands(text) == [
        "i32 (a, b)",
        "ptr getelementptr (i8, ptr @x, i32 4)",
        "<2 x i32> {1, 2}",
        "!dbg !4",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "  %1 = load i24, ptr addrspace(255) @a, align 4",
        "  %1 = load <2 x i32>, ptr addrspace(255) @a, align 8",
        "  %1 = load atomic i32, ptr addrspace(255) @a seq_cst, align 4",
        "  store { i32, i32 } %0, ptr addrspace(255) @a, align 4",
        "  %1 = atomicrmw add ptr addrspace(255) @a, i32 1 seq_cst, align 4",
        "  call void @llvm.memmove.p255.p255.i32(ptr addrspace(255) @a, ptr addrspace(255) @b, "
        "i32 %n, i1 false)",
        "  %1 = load i32, ptr addrspacecast (ptr addrspace(255) @a to ptr), align 4",
    ],
)
def test_what_is_not_served_is_found(line: str) -> None:
    text = serve_mram_accesses(f"define void @f() {{\n{line}\n  ret void\n}}\n")
    assert line in text
    [(_, row, function, _)] = find_mram_accesses(text)
    assert (row, function) == (0, "f")


CAST = """#include "kernel.h"
typedef struct { int a, b, c[30]; } pair;
IN_MRAM int all[2048];
#define table (all + 1024)
MRAM pair *where = (MRAM pair *)table;
HOST int n = 3, out[4];
ALIGNED int room[4096];
int main(void)
{
    for (int i = 0; i < 40; i++) {
        table[i] = 1000 + i;
        *(volatile int *)(4096 + 4 * i) = i;
    }
    STATEMENT
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("out[0] = *(uint32_t *)&table[n];", 3),
        ("pair other = *(pair *)where; out[0] = other.b;", 1),
        ("int *p = (int *)table; p[n] = 77; out[0] = *(volatile int *)(4096 + 12);", 77),
    ],
)
def test_pointer_that_was_cast_accesses_wram_at_the_offset_in_mram(
    toolchain: Toolchain,
    machine_library: ctypes.CDLL,
    tmp_path: Path,
    statement: str,
    result: int,
    level: str,
) -> None:
    source = tmp_path / "source.c"
    source.write_text(CAST.replace("STATEMENT", statement))
    options = BuildOptions(level=level, includes=[KERNELS])
    said = build_cached([source], tmp_path / "program", options, toolchain=toolchain)
    if level == "-O2":
        assert re.search(
            r"source\.c:14: warning: main accesses WRAM through a pointer that was", said
        )
    with Running(machine_library, (tmp_path / "program").read_bytes()) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("out", "I")[0] == result
