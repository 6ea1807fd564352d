# SPDX-License-Identifier: BSD-3-Clause
"""Programs at random give the same on the DPU as on the host."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
from pathlib import Path

import pytest
from generated import make_program
from native import DONE
from running import KERNELS, SEED, Running

from dpu.toolchain import BuildOptions, Toolchain, build

_START = 14695981039346656037
_ON_HOST = f"""
#include <stdio.h>
int main(void) {{ unsigned long long h = {_START}ull; body(&h); printf("%llu", h); return 0; }}
"""
_ON_DPU = f"""
__attribute__((section(".dpu_host"), used)) unsigned long long result;
int main(void) {{ unsigned long long h = {_START}ull; body(&h); result = h; return 0; }}
"""
_COUNT = int(os.environ.get("OFFCHIP_TEST_PROGRAMS", "40"))
# Bits that shifts and sums lose are well defined so, and names may hide others.
_OPTIONS = ["-w", "-fwrapv", "-fno-strict-aliasing"]


def on_host(text: str, folder: Path) -> int:
    source, program = folder / "host.c", folder / "host"
    source.write_text(text + _ON_HOST)
    compiler = os.environ.get("CC", "gcc")
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    subprocess.run(
        [compiler, *_OPTIONS, "-O1", str(source), "-o", str(program)], check=True, env=environment
    )
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, check=True, env=environment
    )
    return int(done.stdout)


@pytest.mark.parametrize("number", range(_COUNT))
def test_random_program_gives_the_same_as_on_the_host(
    toolchain: Toolchain, machine_library: ctypes.CDLL, tmp_path: Path, number: int
) -> None:
    print(f"seed {SEED} program {number}")
    text = make_program(random.Random(f"{SEED} {number}"))
    level = ("-O2", "-O0", "-O1", "-O3", "-Os")[number % 5]
    expected = on_host(text, tmp_path)
    source, path = tmp_path / "dpu.c", tmp_path / "program.dpu"
    source.write_text(text + _ON_DPU)
    options = BuildOptions(level=level, defines={"STACK_SIZE_DEFAULT": 4096}, options=_OPTIONS)
    build([source, KERNELS / "memory.c"], path, options, toolchain=toolchain)
    with Running(machine_library, path.read_bytes()) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("result", "Q") == [expected]
