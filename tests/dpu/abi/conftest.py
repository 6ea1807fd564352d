# SPDX-License-Identifier: BSD-3-Clause
"""Builds the C API cases against the installed headers and library, and libdpu under TSan."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.builds import (
    ROOT,
    SANITIZERS,
    STANDARD,
    STRICT,
    Objects,
    find_sources,
    shared_library,
)

HERE = Path(__file__).resolve().parent
# Runs one of many cases.
CASE_RUNNER = ROOT / "tests" / "support" / "case.c"
# What puts instructions together, for the program that the cases run.
ENCODER = [ROOT / name for name in find_sources("@dpu_isa")]


Run = Callable[..., str]


class Installed(NamedTuple):
    """Where the package keeps what C programs need."""

    library: Path
    include: Path


@pytest.fixture(scope="session")
def installed() -> Installed:
    found = importlib.util.find_spec("dpu")
    assert found is not None and found.origin is not None
    package = Path(found.origin).parent
    return Installed(package / "lib/libdpu.so", package / "include")


@pytest.fixture(scope="session")
def case_sources() -> list[Path]:
    return [*sorted((HERE / "cases").glob("*.c")), CASE_RUNNER]


def build_cases(
    run: Run,
    program: Path,
    library: Path,
    include: Path,
    compiler: str,
    sources: Sequence[Path],
    *flags: str,
) -> Path:
    """Build the cases and link them with a library as a user of it would."""
    command: list[str | Path] = [compiler, *STANDARD, *STRICT, "-g", "-O1"]
    command += [*flags, f"-I{include}", f"-I{ROOT}", f"-I{ROOT / 'csrc'}", *sources, *ENCODER]
    command += ["-o", program, library, f"-Wl,-rpath,{library.parent}", "-pthread"]
    run(command)
    return program


@pytest.fixture(scope="session")
def cases_program(
    tmp_path_factory: pytest.TempPathFactory,
    installed: Installed,
    compiler: str,
    case_sources: list[Path],
    run: Run,
    checked: Callable[[Path], Path],
) -> Path:
    program = tmp_path_factory.mktemp("cases") / "cases"
    return checked(build_cases(run, program, *installed, compiler, case_sources))


@pytest.fixture(scope="session")
def dpu_programs(tmp_path_factory: pytest.TempPathFactory, cases_program: Path) -> Path:
    """The folder with count.dpu and assert.dpu."""
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([str(cases_program), "writes_its_programs"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="session")
def tsan_cases(
    tmp_path_factory: pytest.TempPathFactory,
    compiler: str,
    case_sources: list[Path],
    run: Run,
    objects: Objects,
) -> Path:
    """The cases and the library, built for ThreadSanitizer."""
    folder = tmp_path_factory.mktemp("tsan")
    library = shared_library(objects, "dpu/lib/libdpu.so", "tsan", folder / "libdpu.so")
    return build_cases(
        run,
        folder / "cases",
        library,
        ROOT / "include/dpu",
        compiler,
        case_sources,
        *SANITIZERS["tsan"],
    )
