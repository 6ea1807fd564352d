# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of the DPU's C toolchain."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain, build
from dpu.toolchain.link.program import Program
from dpu.toolchain.link.runtime import runtime_objects
from offchip.code_cache import cache_folder
from tests.dpu.support.running import KERNELS, SEED, Running
from tests.dpu.toolchain.checked_programs import HEAD, LAUNCH, Check


@pytest.fixture
def own_cache(toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own, which has the run time and no program."""
    compiled = runtime_objects(toolchain, "v1A")[0].parent
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = cache_folder("dpu")
    shutil.copytree(compiled, folder / compiled.name)
    return folder


@pytest.fixture
def compile_text(toolchain: Toolchain, tmp_path: Path) -> Callable[..., Program]:
    """Compile text, C unless another suffix is given, to a program."""

    def compile(text: str, *, tasklets: int = 1, suffix: str = ".c", **options: object) -> Program:
        source = tmp_path / f"source{suffix}"
        source.write_text(text)
        defines = {"NR_TASKLETS": tasklets, **options.pop("defines", {})}  # type: ignore[dict-item]
        chosen = BuildOptions(defines=defines, includes=[KERNELS], **options)  # type: ignore[arg-type]
        program = build([source], tmp_path / "program.dpu", chosen, toolchain=toolchain)
        assert program is not None
        return program

    return compile


@pytest.fixture
def check(compile_text: Callable[..., Program], tmp_path: Path) -> Check:
    """Run a program with checks, on a chip of other sizes if that is asked for."""

    def run(
        body: str,
        checks: str,
        *,
        dpus: int = 1,
        launches: int = 1,
        level: str = "-O2",
        tasklets: int = 2,
        sizes: str = "",
    ) -> subprocess.CompletedProcess[str]:
        compile_text(HEAD + body, tasklets=tasklets, level=level, sizes=sizes)
        environment = dict(os.environ, DPU_CHECK=checks)
        if sizes:
            environment["UPMEM_PROFILE"] = sizes
        program = str(tmp_path / "program.dpu")
        return subprocess.run(
            [sys.executable, "-P", "-c", LAUNCH, program, str(dpus), str(launches)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=100,
            check=False,
        )

    return run


@pytest.fixture
def run_kernel(
    toolchain: Toolchain, machine_library: ctypes.CDLL, tmp_path: Path
) -> Callable[..., Running]:
    """Compile a kernel and load it."""

    def load(name: str, *, tasklets: int, level: str) -> Running:
        options = BuildOptions(
            level=level, defines={"NR_TASKLETS": tasklets}, options=["-Wall", "-Werror"]
        )
        path = tmp_path / "program.dpu"
        source = KERNELS / f"{name}.c"
        build([source, KERNELS / "memory.c"], path, options, toolchain=toolchain)
        return Running(machine_library, path.read_bytes())

    return load


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of a test's own; its failure shows the seed."""
    print(f"seed {SEED}")
    return random.Random(f"{SEED} {request.node.name}")
