# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of `ranks.py` under an MPI launcher, which take turns cell after cell."""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.accl.operations import COPY, COSTS, OPERATIONS, cells_of
from benchmarks.harness import HERE

LIMIT_S = 3600
ENDING_S = 30
ALL = (*COSTS, COPY, *OPERATIONS)

# Operation and bytes of its count: the times of each round in microseconds.
Times = dict[tuple[str, int], list[float]]


@dataclass(frozen=True)
class Job:
    """Measurements of a job, and the way its ranks are started.

    Parameters
    ----------
    python : str
        The interpreter of the ranks; its launcher is beside it.
    which : str
        Whose calls: see `ranks.py`.
    ranks : int
        How many.
    operations : tuple of str, optional
        What is measured of it.
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
    operations: tuple[str, ...] = OPERATIONS
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


class Running:
    """A job that waits for its turn, cell after cell; made with `start()`."""

    def __init__(
        self, job: Job, process: subprocess.Popen[str], asking: list[int], errors: IO[str]
    ) -> None:
        self.job = job
        self.process = process
        self.asking = asking
        self.errors = errors
        self.library: str = self.answer()["library"]

    def answer(self) -> Any:
        """Read what rank 0 says next; a launcher may say something of its own."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        status = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines() or ["no message"]
        what = f"{self.job.which} with {self.job.python}"
        raise RuntimeError(f"{what}: status {status}: {lines[-1]}")

    def time_us(self, operation: str, size: int) -> float:
        """Have the job measure a cell."""
        for rank in self.asking:
            os.write(rank, f"{operation} {size}\n".encode())
        return float(self.answer()["us"])


def end(process: subprocess.Popen[str]) -> None:
    """Wait for a launcher whose ranks have nothing to do any more."""
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        process.terminate()


@contextlib.contextmanager
def start(job: Job, budget: float) -> Iterator[Running]:
    """Start a job; it ends with the context.

    Parameters
    ----------
    job : Job
        What runs.
    budget : float
        Seconds for a cell.
    """
    if job.launcher is None:
        command, env = launch_here(job.python, job.ranks)
    else:
        command, env = list(job.launcher), {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        errors = stack.enter_context((folder / "errors").open("w+"))
        command += ["-n", str(job.ranks), job.python, str(HERE / "accl/ranks.py"), job.which]
        command += ["--turns", str(folder), "--budget", str(budget), *job.words]
        fifos = [folder / str(rank) for rank in range(job.ranks)]
        for fifo in fifos:
            os.mkfifo(fifo)
        process = stack.enter_context(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, **env, **job.env},
            )
        )
        stack.callback(end, process)
        limit = threading.Timer(LIMIT_S, process.terminate)
        limit.start()
        stack.callback(limit.cancel)
        asking = []
        for fifo in fifos:
            # Opened to read too, this does not wait for the rank.
            asking.append(os.open(fifo, os.O_RDWR))
            stack.callback(os.close, asking[-1])
        yield Running(job, process, asking, errors)


def measure(
    jobs: Mapping[str, Job], sizes: list[int], rounds: int, budget: float
) -> tuple[dict[str, Times], dict[str, str]]:
    """Measure all cells of all jobs; give the times of each, and what its MPI calls itself.

    A round has new processes. They take turns cell after cell, as the cores of a virtual machine
    can be twice as quick for some seconds: only what is measured within the same moment can be
    compared. No job is always the first one.
    """
    times: dict[str, Times] = {name: {} for name in jobs}
    versions = {}
    for number in range(rounds):
        with contextlib.ExitStack() as stack:
            running = {name: stack.enter_context(start(job, budget)) for name, job in jobs.items()}
            versions = {name: job.library for name, job in running.items()}
            for index, (operation, size) in enumerate(cells_of(ALL, sizes)):
                turns = [name for name, job in jobs.items() if operation in job.operations]
                for name in turns[:: -1 if (number + index) % 2 else 1]:
                    found = running[name].time_us(operation, size)
                    times[name].setdefault((operation, size), []).append(found)
    return times, versions


def median_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """Give the median over the rounds of a cell's ratio to the baseline's in the same round."""
    return statistics.median(a / b for a, b in zip(values, base, strict=True))


def geometric_mean(ratios: Iterable[float]) -> float:
    """Average ratios."""
    return math.exp(statistics.fmean(map(math.log, ratios)))
