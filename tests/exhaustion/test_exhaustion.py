# SPDX-License-Identifier: BSD-3-Clause
"""Each library without memory: nothing crashes, hangs or is lost, and calls say what is missing.

A program makes every call of a library, again and again, and each time another allocation fails
(``failing.h``). Some of the allocations are tried here; all of them with ``OFFCHIP_FULL=1``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.builds import ROOT, STANDARD, STRICT, find_sources

# The programs have a malloc() of their own.
pytestmark = pytest.mark.nosanitize

HERE = Path(__file__).resolve().parent
FULL = os.environ.get("OFFCHIP_FULL", "0") not in ("", "0")
LIMIT_S = 1500 if FULL else 250
Run = Callable[..., str]


class Library(NamedTuple):
    """What a program is linked with, and how many of its allocations are left out."""

    package: str
    file: str
    sources: list[Path]
    step: int


DPU_SOURCES = ["tests/dpu/abi/cases/program.c", "tests/dpu/abi/cases/state.c"]
DPU_SOURCES += find_sources("@dpu_isa")
LIBRARIES = {
    "veo": Library("veo", "libveo.so.1", [], 29),
    "dpu": Library("dpu", "libdpu.so", [ROOT / name for name in DPU_SOURCES], 1),
    "accl": Library("accl", "libaccl.so", [], 7),
}


class Programs:
    """The programs of this folder, built when they are needed."""

    def __init__(self, folder: Path, compiler: str, run: Run) -> None:
        self.folder = folder
        self._compile = [compiler, *STANDARD, *STRICT, "-g", "-O1"]
        self._run = run

    def sweep(self, name: str) -> Path:
        """Build the program of a library."""
        return self.linked(f"sweep_{name}", name, HERE / "failing.c")

    def linked(self, source: str, name: str, *others: Path) -> Path:
        """Build a program from a source of this folder, and a library."""
        program = self.folder / source
        if not program.exists():
            library = LIBRARIES[name]
            found = importlib.util.find_spec(library.package)
            assert found is not None and found.origin is not None
            package = Path(found.origin).parent
            self._run(
                [*self._compile, f"-I{package / 'include'}", f"-I{ROOT}", f"-I{ROOT / 'csrc'}"]
                + [HERE / f"{source}.c", *others, *library.sources]
                + ["-o", program, package / "lib" / library.file, "-pthread"]
                + [f"-Wl,-rpath,{package / 'lib'}"]
            )
        return program

    def shared(self, source: str, *flags: str) -> Path:
        """Build a library from a source of this folder."""
        target = self.folder / f"{source}.so"
        if not target.exists():
            command = [*self._compile, *flags, "-shared", "-fPIC", HERE / f"{source}.c"]
            self._run([*command, "-o", target, "-ldl"])
        return target

    def start(self, name: str, *words: str, **changes: str) -> tuple[int, int, int]:
        """Run a sweep: allocations there were, that were made to fail, that a call told of."""
        ours = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("UPMEM", "DPU", "VE", "ACCL"))
        }
        done = subprocess.run(
            [str(self.sweep(name)), *words],
            env={**ours, "KERNELS": str(self.shared("scenario_kernel")), **changes},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            text=True,
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-4000:]}"
        seen = re.search(r"(\d+) allocations, (\d+) failed, (\d+) told", done.stdout)
        assert seen is not None, done.stdout
        print(seen[0])  # for the summary of `make nightly`
        return int(seen[1]), int(seen[2]), int(seen[3])


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, compiler: str, run: Run) -> Programs:
    return Programs(tmp_path_factory.mktemp("sweeps"), compiler, run)


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("mode", ["once", "on"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_every_allocation_may_fail(programs: Programs, name: str, mode: str) -> None:
    """One allocation, or that one and all that follow."""
    step = 1 if FULL else LIBRARIES[name].step
    allocations, failed, told = programs.start(name, mode, "1", str(step))
    assert allocations > 90
    assert failed >= allocations // step
    # In place of some there is another way: of all of accl's for a fifth.
    assert told > failed // 2


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("mode", ["once", "on"])
def test_every_allocation_may_fail_by_packets(programs: Programs, mode: str) -> None:
    words = (mode, "1", "1" if FULL else "23")
    allocations, _, _ = programs.start("accl", *words, ACCL_TRANSPORT="packets")
    assert allocations > 200


@pytest.mark.timeout(LIMIT_S + 60)
def test_every_allocation_of_a_worker_may_fail(programs: Programs, tmp_path: Path) -> None:
    failing = programs.shared("failing", "-DFAILING_PRELOADED")
    words = ("worker", str(failing), str(tmp_path / "report"), "1", "1")
    allocations, _, _ = programs.start("veo", *words)
    assert allocations > 10


def test_a_wait_ends_in_time_without_memory_for_results(programs: Programs) -> None:
    environment = {**os.environ, "KERNELS": str(programs.shared("scenario_kernel"))}
    program = programs.linked("no_results", "veo")
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_stream_puts_without_memory_are_told_of(programs: Programs, transport: str) -> None:
    environment = {**os.environ, "ACCL_TRANSPORT": transport}
    program = programs.linked("lost_puts", "accl")
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


def test_a_receive_tells_that_it_cannot_map_the_data(programs: Programs) -> None:
    program = programs.linked("unmapped", "accl")
    done = subprocess.run([program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


PLANTED = """
#include "failing.h"
#include <stdlib.h>
#include <unistd.h>
static void scenario(void)
{
    void *volatile first = malloc(10), *volatile second = first ? malloc(10) : NULL;
    told(first && second, "scenario", "%s");
    %s
    free(first);
    free(second);
}
int main(int argc, char *argv[])
{
    return sweep(argc, argv, scenario);
}
"""


@pytest.mark.parametrize(
    ("text", "fault", "report"),
    [
        ("out of memory", "", ""),
        ("out of memory", "if (!second) first = NULL;", "2: lost are 1 blocks"),
        ("out of memory", "if (!second) *(volatile char *)second = 0;", "status -11"),
        ("out of memory", "if (!second) for (;;) pause();", "1: hangs"),
        ("no", "", "1: scenario does not say that memory is missing: 'no'"),
        ("", 'told(0, "it", "so");', "0: it failed and nothing was made to: so"),
    ],
    ids=["nothing", "leak", "crash", "hang", "text", "failure"],
)
def test_a_planted_fault_is_found(
    text: str, fault: str, report: str, tmp_path: Path, compiler: str, run: Run
) -> None:
    source = tmp_path / "planted.c"
    source.write_text(PLANTED % (text, fault))
    program = tmp_path / "planted"
    run(
        [compiler, *STANDARD, "-g", f"-I{HERE}", "-DLIMIT_S=2"]
        + [source, HERE / "failing.c", "-o", program, "-pthread"]
    )
    done = subprocess.run([program, "once", "1", "1"], capture_output=True, text=True, timeout=100)
    output = f"{done.stdout}status {done.returncode}"
    assert report in output
    assert (done.returncode == 0) == (report == "")
