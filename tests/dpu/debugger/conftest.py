# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of the debuggers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from dpu.debugger.host import Host, program_command
from dpu.debugger.process import Process
from dpu.toolchain import BuildOptions, Toolchain, build

KERNEL = Path(__file__).with_name("kernel.c")


def line_of(mark: str) -> int:
    """The line of the kernel that has a text."""
    lines = KERNEL.read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if mark in text)


@pytest.fixture(scope="session")
def kernel(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile the kernel, once for each level."""
    folder = tmp_path_factory.mktemp("kernels")

    @cache
    def compile(level: str = "-O0", tasklets: int = 2) -> Path:
        path = folder / f"kernel{level}-{tasklets}.dpu"
        options = BuildOptions(level=level, defines={"NR_TASKLETS": tasklets})
        build([KERNEL], path, options, toolchain=toolchain)
        return path

    return compile


@pytest.fixture
def debug(kernel: Callable[..., Path]) -> Iterator[Callable[..., Process]]:
    """Start the kernel under the debugger; it waits at its launch."""
    made: list[Process] = []

    def start(level: str = "-O0", tasklets: int = 2) -> Process:
        made.append(Process(Host(program_command(str(kernel(level, tasklets))))))
        made[-1].start()
        return made[-1]

    yield start
    for process in made:
        process.close()
