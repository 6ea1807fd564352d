# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of the benchmarks take turns, measure every cell, and say why one failed."""

from __future__ import annotations

import sys

import pytest

from benchmarks.accl.jobs import Job, measure, median_ratio
from benchmarks.accl.operations import COPY, COSTS, OPERATIONS, SIZELESS, cells_of
from benchmarks.harness import ROOT

ALL = (*COSTS, *OPERATIONS)
# A copy of the repository need not be installed where the launcher starts the ranks.
ENV = {"PYTHONPATH": str(ROOT)}


def test_cells_have_whole_elements_and_no_size_twice_without_one() -> None:
    assert list(cells_of(("barrier", "bcast"), [2, 7, 64])) == [
        ("barrier", 0),
        ("bcast", 4),
        ("bcast", 4),
        ("bcast", 64),
    ]
    assert set(SIZELESS) <= set(ALL)


def test_ratio_is_of_what_was_measured_together() -> None:
    # The third round was twice as slow for both, the fourth one for the baseline only.
    assert median_ratio([1.0, 1.1, 2.0, 1.0], [1.0, 1.0, 2.0, 2.0]) == 1.0
    with pytest.raises(ValueError, match="shorter"):
        median_ratio([1.0, 2.0], [1.0])


def test_jobs_measure_all_their_cells(mpiexec: str) -> None:
    jobs = {
        "mpi": Job(sys.executable, "mpi", 2, ALL, env=ENV),
        "packets": Job(sys.executable, "unified", 2, ALL, env=ENV | {"ACCL_TRANSPORT": "packets"}),
        "copies": Job(sys.executable, "floor", 1, (COPY,), env=ENV),
    }
    times, versions = measure(jobs, [4096], rounds=2, budget=0.001)
    cells = set(cells_of(ALL, [4096]))
    assert set(times["mpi"]) == set(times["packets"]) == cells
    assert set(times["copies"]) == {(COPY, 4096)}
    assert all(
        len(values) == 2 and min(values) > 0 for t in times.values() for values in t.values()
    )
    assert set(versions) == set(jobs)
    assert all("MPI" in version for version in versions.values())


def test_failed_job_says_why(mpiexec: str) -> None:
    jobs = {"mpi": Job(sys.executable, "mpi", 1, words=("--no-such-option",), env=ENV)}
    with pytest.raises(RuntimeError, match="mpi with .*: status .*no-such-option"):
        measure(jobs, [4], rounds=1, budget=0.001)
