# SPDX-License-Identifier: BSD-3-Clause
"""Whatever executes the searches, the result is the same."""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.resource_tracker
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import accelforge as af
from tests.accelforge.mapper.small import chain_of, rows, rows_of_mapped

RUN_MODULE = Path(__file__).resolve().parents[2] / "support" / "run_module.py"

# It runs until the interpreter ends, and is no leak of a test.
multiprocessing.resource_tracker.ensure_running()


@pytest.fixture
def alone() -> list[list[object]]:
    """Mappings that one thread finds."""
    before = af.util.get_n_parallel_jobs()
    af.set_n_parallel_jobs(1)
    try:
        return rows_of_mapped(chain_of(3))
    finally:
        af.set_n_parallel_jobs(before)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads(alone: object, threads: int) -> None:
    before = af.util.get_n_parallel_jobs()
    af.set_n_parallel_jobs(threads)
    try:
        assert rows_of_mapped(chain_of(3)) == alone
    finally:
        af.set_n_parallel_jobs(before)


def test_an_executor_with_threads(alone: object) -> None:
    with ThreadPoolExecutor(3) as executor:
        found = chain_of(3).map_workload_to_arch(print_progress=False, executor=executor)
    assert rows(found) == alone


def test_an_executor_with_processes(alone: object) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        found = chain_of(3).map_workload_to_arch(print_progress=False, executor=executor)
        (swept,) = af.sweep(rows_of_mapped, [chain_of(3)], executor=executor)
    assert rows(found) == alone
    assert swept == alone


def test_ranks_of_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip(f"{mpiexec} is not there: install offchip with the extra mpi")
    command = [str(mpiexec), "-n", "4", sys.executable, str(RUN_MODULE)]
    done = subprocess.run(
        [*command, "tests.accelforge.mapper.run_sweep"],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
        env={**os.environ},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found = json.loads(done.stdout.strip().splitlines()[-1])
    specs = [chain_of(3, buffer=size) for size in (200, 400, 800, 400)]
    assert found == af.sweep(rows_of_mapped, specs)
