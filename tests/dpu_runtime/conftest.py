# SPDX-License-Identifier: BSD-3-Clause
"""Programs that use the run time, compiled by the toolchain and put on the simulated machine."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
# The machine of the simulator's tests, and the loader of the toolchain's.
sys.path[:0] = [str(TESTS / "dpu_toolchain"), str(TESTS / "dpu")]

from native import build as build_machine  # noqa: E402
from running import Running  # noqa: E402

from dpu.toolchain import BuildOptions, Toolchain, ToolchainError, build, find_toolchain  # noqa: E402
from dpu.toolchain.driver import compile_object  # noqa: E402

RUNTIME = TESTS.parent / "csrc" / "dpu_runtime"
INCLUDES = [RUNTIME / "include", RUNTIME]
PROGRAMS = HERE / "programs"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Werror"]


@pytest.fixture(scope="session")
def machine_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The machine as a shared library of its own."""
    return build_machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """A compiler whose code is translated; the vendor's has a run time of its own."""
    try:
        return find_toolchain({"PATH": os.environ.get("PATH", os.defpath)})
    except ToolchainError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def runtime_objects(
    toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """All of the run time, compiled."""
    folder = tmp_path_factory.mktemp("runtime")
    options = BuildOptions(system_includes=INCLUDES, options=["-std=gnu11", *WARNINGS])
    objects = {}
    for source in sorted(RUNTIME.glob("*.c")):
        objects[source.stem] = folder / f"{source.stem}.o"
        compile_object(source, objects[source.stem], options, toolchain=toolchain)
    return objects


@pytest.fixture
def load(
    toolchain: Toolchain,
    runtime_objects: dict[str, Path],
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
    ) -> Running:
        macros = {"NR_TASKLETS": tasklets, "STACK_SIZE_DEFAULT": stack, **(defines or {})}
        options = BuildOptions(
            level=level, defines=macros, system_includes=INCLUDES, options=["-Wall", "-Werror"]
        )
        text = (PROGRAMS / f"{name}.c").read_text()
        objects = [
            path
            for stem, path in runtime_objects.items()
            if stem != "stdout_default" or "STDOUT_BUFFER_INIT" not in text
        ]
        output = tmp_path / "program.dpu"
        build([PROGRAMS / f"{name}.c", *objects], output, options, toolchain=toolchain)
        return Running(machine_library, output.read_bytes())

    return load
