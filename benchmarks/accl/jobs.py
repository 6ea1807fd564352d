# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of `ranks.py` under an MPI launcher, which take turns."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness import HERE

LIMIT_S = 3600

# Operation and bytes of its count: the times of each round in microseconds.
Times = dict[tuple[str, int], list[float]]


@dataclass(frozen=True)
class Job:
    """What a job measures, and how its ranks are started.

    Parameters
    ----------
    python : str
        The interpreter of the ranks; its launcher is beside it.
    which : str
        What is measured: see `ranks.py`.
    ranks : int
        How many.
    words : tuple of str
        Further arguments of `ranks.py`.
    env : mapping
        Variables for launcher and ranks.
    launcher : tuple of str, optional
        The launcher with its options, apart from the number of ranks. None starts the ranks on
        this host.
    """

    python: str
    which: str
    ranks: int
    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    launcher: tuple[str, ...] | None = None


def launch_here(python: str, ranks: int) -> tuple[list[str], dict[str, str]]:
    """Give launcher and variables for ranks on this host, with a core for each if possible."""
    launcher = str(Path(python).parent / "mpiexec")
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    bound = ranks <= len(os.sched_getaffinity(0))
    # Open MPI binds by itself, MPICH does not.
    if "Open MPI" in version or "OpenRTE" in version or "PRRTE" in version:
        words = ["--oversubscribe", "--bind-to", "core" if bound else "none"]
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return [launcher, *words], allowed

    return [launcher, *(("-bind-to", "core") if bound else ())], {}


def run_job(job: Job, sizes: list[int], budget: float) -> Any:
    """Run one job and give what its rank 0 printed."""
    if job.launcher is None:
        command, env = launch_here(job.python, job.ranks)
    else:
        command, env = list(job.launcher), {}

    command += ["-n", str(job.ranks), job.python, str(HERE / "accl/ranks.py"), job.which]
    command += [",".join(map(str, sizes)), "--budget", str(budget), *job.words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, **env, **job.env},
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"{job.which} with {job.python}: status {done.returncode}: {lines[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(
    jobs: Mapping[str, Job], sizes: list[int], rounds: int, budget: float
) -> tuple[dict[str, Times], dict[str, str]]:
    """Run all jobs in turns; give the times of each, and what its MPI calls itself."""
    times: dict[str, Times] = {name: {} for name in jobs}
    versions = {}
    for number in range(rounds):
        # No job is always the first one.
        for name, job in list(jobs.items())[:: -1 if number % 2 else 1]:
            answer = run_job(job, sizes, budget)
            versions[name] = answer["library"]
            for operation, cells in answer["times"].items():
                for size, value in cells.items():
                    times[name].setdefault((operation, int(size)), []).append(value)
    return times, versions


def geometric_mean(ratios: Iterable[float]) -> float:
    """Average ratios."""
    return math.exp(statistics.fmean(map(math.log, ratios)))
