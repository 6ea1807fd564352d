# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast accl is on this machine: ``python -m accl.bench``.

Two ranks, which are processes of this module, find each other by the name of a job. Where mpi4py
is installed they are also ranks of MPI, and where torch is, of a group of gloo: so all take turns.
Where ``OFFCHIP_MPI_PYTHON`` names a Python with another MPI, ranks of that are measured too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from accl import ACCLReduceFunctions, accl
from accl.launch import find_launcher, run_together
from offchip.measurements import (
    PEER,
    QUICK,
    Baseline,
    Effort,
    Measurement,
    Missing,
    Series,
    compare,
    main,
)

__all__ = ["SERIES"]

RANKS = 2
STARTS = 3
DEADLINE = 120.0
SIZES = (4, 4 << 10, 64 << 10, 1 << 20)
NAMES = ("allreduce, 2 ranks", "bcast, 2 ranks")
VARIABLE = "OFFCHIP_MPI_PYTHON"

# The environment of another MPI has its own NumPy and mpi4py, and this package from here.
PROGRAM = """
import runpy, sys
sys.path.append(sys.argv.pop(1))
runpy.run_module("accl.bench", run_name="__main__", alter_sys=True)
"""


def _mpi_calls(count: int) -> tuple[str, list[Callable[[], object]]]:
    """Make the calls of mpi4py, and name the MPI beneath it."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    ones, total = np.ones(count, np.float32), np.empty(count, np.float32)
    name = MPI.Get_library_version().replace(":", " ").split()
    known = {"MPICH": "MPICH", "Open": "Open MPI"}.get(name[0], name[0])
    return f"{known} through mpi4py", [
        lambda: world.Allreduce(ones, total, MPI.SUM),
        lambda: world.Bcast(ones, 0),
    ]


def _gloo_calls(count: int) -> list[Callable[[], object]]:
    """Make the calls of torch.distributed over gloo."""
    import torch
    import torch.distributed as dist

    ones: Any = torch.zeros(count)
    return [lambda: dist.all_reduce(ones), lambda: dist.broadcast(ones, 0)]


def _measure(device: accl, options: argparse.Namespace) -> Iterator[Measurement]:
    """Measure calls of all ranks beside peers, and work in each rank's own memory."""
    for size in SIZES:
        count = size // 4
        mine, total = device.allocate((count,), np.float32), device.allocate((count,), np.float32)
        mine[:] = 1
        mine.sync_to_device()
        out = np.empty(count, np.float32)
        plain = np.ones(count, np.float32)
        there = {"from_fpga": True, "to_fpga": True}
        works: tuple[Callable[[], object], ...] = (
            partial(device.allreduce, mine, total, count, ACCLReduceFunctions.SUM, **there),
            partial(device.bcast, mine, count, 0, **there),
        )
        limits = (
            Baseline("numpy.add of as much", partial(np.add, plain, plain, out)),
            Baseline("memcpy", partial(np.copyto, out, plain)),
        )
        peers: list[list[Baseline]] = [[], []]
        if options.mpi:
            against, calls = _mpi_calls(count)
            for found, call in zip(peers, calls, strict=True):
                found.append(Baseline(against, call, PEER))
        if options.gloo:
            for found, call in zip(peers, _gloo_calls(count), strict=True):
                found.append(Baseline("gloo through torch.distributed", call, PEER))
        for name, work, found, limit in zip(NAMES, works, peers, limits, strict=True):
            yield from compare(
                name,
                work,
                [*found, limit],
                x=size,
                x_unit="B",
                repeat=max(20, min(500, (8 << 20) // size)),
                effort=Effort(*options.effort),
            )


def _run_rank(options: argparse.Namespace) -> int:
    if options.mpi:
        from mpi4py import MPI

        options.rank = MPI.COMM_WORLD.rank
    if options.gloo:
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        meet = f"file://{options.gloo}"
        dist.init_process_group("gloo", init_method=meet, rank=options.rank, world_size=RANKS)
    with accl(RANKS, options.rank, job=options.job) as device:
        for item in _measure(device, options):
            if options.rank == 0:
                print(json.dumps(item._asdict()), flush=True)
    if options.gloo:
        dist.destroy_process_group()
    return 0


def _median_of_starts(effort: Effort) -> Iterator[Measurement | Missing]:
    """Start the ranks several times: on which cores they come to run makes a difference."""
    launcher = find_launcher() if importlib.util.find_spec("mpi4py") else None
    if launcher is None:
        yield Missing("all calls", "MPI through mpi4py", "pip install 'offchip[mpi]'")
    has_torch = importlib.util.find_spec("torch") is not None
    if not has_torch:
        yield Missing("all calls", "gloo through torch.distributed", "pip install 'offchip[torch]'")
    starts = 1 if effort == QUICK else STARTS
    here = [sys.executable, "-P", "-m", "accl.bench"]
    rounds = [list(_ranks(here, effort, launcher, has_torch)) for _ in range(starts)]
    try:
        others = [list(_other_ranks(effort)) for _ in range(starts)]
        rounds = [first + second for first, second in zip(rounds, others, strict=True)]
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        yield Missing("all calls", "another MPI through mpi4py", f"{VARIABLE}: {error}")
    for items in zip(*rounds, strict=True):
        yield sorted(items, key=lambda item: item.ratio)[len(items) // 2]


def _other_ranks(effort: Effort) -> Iterator[Measurement]:
    """Start ranks with another MPI, if one is named, and pass on what it was compared with."""
    python = os.environ.get(VARIABLE, "")
    if python:
        command = [python, "-P", "-c", PROGRAM, str(Path(__file__).resolve().parents[1])]
        launcher = str(Path(python).parent / "mpiexec")
        yield from (item for item in _ranks(command, effort, launcher, False) if item.kind == PEER)


def _ranks(
    command: list[str], effort: Effort, launcher: str | None, has_torch: bool
) -> Iterator[Measurement]:
    """Start the ranks, and pass on what rank 0 measured."""
    command = [*command, "--job", f"bench-{uuid.uuid4().hex}", "--effort", *map(str, effort)]
    with tempfile.TemporaryDirectory(prefix="offchip-bench-") as folder:
        if has_torch:
            command += ["--gloo", str(Path(folder, "meet"))]
        if launcher is not None:
            commands = [[launcher, "-n", str(RANKS), *command, "--mpi"]]
        else:
            commands = [[*command, "--rank", str(rank)] for rank in range(RANKS)]
        printed = run_together(commands, timeout=DEADLINE)
    for line in printed[0].splitlines():
        if line.startswith("{"):  # a launcher or MPI may say something of its own
            yield Measurement(**json.loads(line))


SERIES: tuple[Series, ...] = (_median_of_starts,)


def _main() -> int:
    if "--job" not in sys.argv[1:]:
        return main("accl", SERIES)
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", required=True)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--effort", type=int, nargs=2, required=True)
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--gloo", metavar="FILE")
    return _run_rank(parser.parse_args())


if __name__ == "__main__":
    sys.exit(_main())
