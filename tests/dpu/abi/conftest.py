# SPDX-License-Identifier: BSD-3-Clause
"""Builds the C API cases against the installed headers and library, and libdpu under TSan."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Runs one of many cases.
CASE_RUNNER = ROOT / "tests" / "support" / "case.c"
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# What puts instructions together, for the program that the cases run.
LISTING = ROOT / "tests" / "dpu" / "support" / "instructions.sources"
ENCODER = [ROOT / name for name in LISTING.read_text().split()]


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
    command: list[str | Path] = [compiler, "-std=gnu11", "-D_GNU_SOURCE", *STRICT, "-g", "-O1"]
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
    tmp_path_factory: pytest.TempPathFactory, compiler: str, case_sources: list[Path], run: Run
) -> Path:
    """The cases and the library, built for ThreadSanitizer."""
    folder = tmp_path_factory.mktemp("tsan")
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=thread", "-fPIC"]
    flags += ["-DNDEBUG", '-DOFFCHIP_VERSION="of the tests"', "-fvisibility=hidden"]
    flags += [f"-I{ROOT / name}" for name in ("include/dpu", "csrc")]
    sources = [
        *(ROOT / "csrc/dpu").glob("lib/*/*.c"),
        *(ROOT / "csrc/dpu").glob("machine/*.c"),
        *(ROOT / "csrc/dpu").glob("isa/*.c"),
        *(ROOT / "csrc/formats").glob("dpu_*.c"),
        ROOT / "csrc/formats/lines.c",
    ]
    sources += [ROOT / "csrc/common/copy.c", ROOT / "csrc/common/cores.c"]
    objects = [folder / f"{source.parent.name}-{source.stem}.o" for source in sources]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        pairs = zip(sources, objects, strict=True)
        jobs = [pool.submit(run, [compiler, *flags, "-c", a, "-o", b]) for a, b in pairs]
        for job in jobs:
            job.result()
    library = folder / "libdpu.so"
    command: list[str | Path] = [compiler, *flags, "-shared", *objects, "-o", library]
    command += ["-Wl,-soname,libdpu.so", f"-Wl,--version-script={ROOT}/csrc/dpu/lib/libdpu.map"]
    run([*command, "-Wl,-Bsymbolic", "-pthread"])
    return build_cases(
        run,
        folder / "cases",
        library,
        ROOT / "include/dpu",
        compiler,
        case_sources,
        "-fsanitize=thread",
    )
