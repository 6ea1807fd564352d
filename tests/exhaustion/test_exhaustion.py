# SPDX-License-Identifier: BSD-3-Clause
"""Each library without memory: nothing crashes, hangs or is lost, and calls say what is missing.

A program makes every call of a library, again and again, and each time another allocation fails
(``failing.h``). Some of the allocations are tried here; all of them with ``OFFCHIP_FULL=1``.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import STANDARD, c_program
from tests.support.full import FULL

# The programs have a malloc() of their own.
pytestmark = pytest.mark.nosanitize

HERE = Path(__file__).resolve().parent
LIMIT_S = 1500 if FULL else 250
Run = Callable[..., str]
Sweep = Callable[..., tuple[int, int, int]]


# Of so many allocations of a library one is tried.
STEPS = {"veo": 29, "dpu": 1, "accl": 7}
# Blocks that are left each time, though nothing fails: accl counts how often each of two ranks
# has started in a job.
KEPT = {"veo": 0, "dpu": 0, "accl": 2}


def program(name: str) -> Path:
    """Give a program or library of this folder."""
    return c_program(f"tests/exhaustion/{name}", "installed")


def run_to_the_end(name: str, environment: dict[str, str]) -> None:
    """Run a program that ends with status 0 unless something is wrong."""
    done = subprocess.run(
        [program(name)], env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.fixture
def sweep(tmp_path: Path, compiler: str) -> Sweep:
    def start(name: str, *words: str, **changes: str) -> tuple[int, int, int]:
        """Run a sweep: allocations there were, that were made to fail, that a call told of."""
        ours = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("UPMEM", "DPU", "VE", "ACCL"))
        }
        done = subprocess.run(
            [program(f"sweep_{name}"), *words],
            env={**ours, "KERNELS": str(program("scenario_kernel.so")), **changes},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            text=True,
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-4000:]}"
        seen = re.search(r"(\d+) allocations, (\d+) failed, (\d+) told", done.stdout)
        assert seen is not None, done.stdout
        for kept in re.findall(r"(\d+) blocks kept each time", done.stdout):
            assert int(kept) <= KEPT[name]
        print(seen[0])  # for the summary of `make nightly`
        return int(seen[1]), int(seen[2]), int(seen[3])

    return start


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("mode", ["once", "on"])
@pytest.mark.parametrize("name", STEPS)
def test_every_allocation_may_fail(sweep: Sweep, name: str, mode: str) -> None:
    """One allocation, or that one and all that follow."""
    step = 1 if FULL else STEPS[name]
    allocations, failed, told = sweep(name, mode, "1", str(step))
    assert allocations > 90
    assert failed >= allocations // step
    # In place of some there is another way: of all of accl's for a fifth.
    assert told > failed // 2


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("mode", ["once", "on"])
def test_every_allocation_may_fail_by_packets(sweep: Sweep, mode: str) -> None:
    words = (mode, "1", "1" if FULL else "23")
    allocations, _, _ = sweep("accl", *words, ACCL_TRANSPORT="packets")
    assert allocations > 200


@pytest.mark.timeout(LIMIT_S + 60)
def test_every_allocation_of_a_worker_may_fail(sweep: Sweep, tmp_path: Path) -> None:
    failing = program("failing.so")
    words = ("worker", str(failing), str(tmp_path / "report"), "1", "1")
    allocations, _, _ = sweep("veo", *words)
    assert allocations > 10


def test_results_of_what_was_submitted_need_no_more_memory(compiler: str) -> None:
    environment = {**os.environ, "KERNELS": str(program("scenario_kernel.so"))}
    done = subprocess.run(
        [program("no_results")], env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_stream_puts_without_memory_are_told_of(sweep: Sweep, transport: str) -> None:
    environment = {**os.environ, "ACCL_TRANSPORT": transport}
    done = subprocess.run(
        [program("lost_puts")], env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"


def test_a_receive_tells_that_it_cannot_map_the_data(compiler: str) -> None:
    run_to_the_end("unmapped", dict(os.environ))


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
    planted = tmp_path / "planted"
    run(
        [compiler, *STANDARD, "-g", f"-I{HERE}", "-DLIMIT_S=2"]
        + [source, HERE / "failing.c", "-o", planted, "-pthread"]
    )
    done = subprocess.run([planted, "once", "1", "1"], capture_output=True, text=True, timeout=100)
    output = f"{done.stdout}status {done.returncode}"
    assert report in output
    assert (done.returncode == 0) == (report == "")
