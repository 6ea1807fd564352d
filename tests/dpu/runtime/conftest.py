# SPDX-License-Identifier: BSD-3-Clause
"""Programs that use the run time, compiled by the toolchain and put on the simulated machine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain, build
from tests.dpu.support.running import Running

PROGRAMS = Path(__file__).resolve().parent / "programs"


@pytest.fixture
def load(
    toolchain: Toolchain,
    machine_library: ctypes.CDLL,
    tmp_path: Path,
) -> Callable[..., Running]:
    """Compile a program of this folder and put it on a machine."""

    def load(
        name: str,
        *,
        tasklets: int = 1,
        level: str = "-O2",
        stack: int = 1024,
        defines: Mapping[str, str | int | None] | None = None,
        costs: str = "offchip",
    ) -> Running:
        macros = {"NR_TASKLETS": tasklets, "STACK_SIZE_DEFAULT": stack, **(defines or {})}
        options = BuildOptions(
            level=level, defines=macros, options=["-Wall", "-Werror"], costs=costs
        )
        output = tmp_path / "program.dpu"
        build([PROGRAMS / f"{name}.c"], output, options, toolchain=toolchain)
        return Running(machine_library, output.read_bytes())

    return load
