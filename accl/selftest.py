# SPDX-License-Identifier: BSD-3-Clause
"""Check that accl works on this machine: ``python -m accl.selftest``.

Ranks are processes of this module, which find each other by the name of a job; where mpi4py is
installed also ranks that mpiexec starts.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import uuid

import numpy as np

from accl import ACCLReduceFunctions, accl, library_info
from accl.errors import ACCLError
from accl.launch import find_launcher, run_together
from offchip.checks import Check, Skipped, main, require

__all__ = ["CHECKS"]

RANKS = 3
COUNT = 10_000
CALLS = 200
DEADLINE = 30.0


def _library() -> str:
    info = library_info()
    return f"{info['kind']}, {info['path']}"


def _alone() -> str:
    with accl(1, 0, job=f"selftest-{uuid.uuid4().hex}") as device:
        source = device.allocate((COUNT,), np.float32)
        target = device.allocate((COUNT,), np.float32)
        source[:] = np.arange(COUNT)
        device.allreduce(source, target, func=ACCLReduceFunctions.SUM)
        require(np.array_equal(source, target), "an allreduce of one rank changed its data")
        try:
            device.send(source, COUNT, dst=7)
        except ACCLError:
            return "a call is made, and a wrong one is an exception"
    raise AssertionError("a message to a rank that does not exist raised no ACCLError")


def run_rank(device: accl) -> str:
    """Make the calls of one rank; return what rank 0 reports."""
    world = device.communicators[0]
    rank, ranks = world.local_rank, len(world.ranks)
    mine = device.allocate((COUNT,), np.int64)
    total = device.allocate((COUNT,), np.int64)
    mine[:] = np.arange(COUNT) * (rank + 1)
    device.allreduce(mine, total, func=ACCLReduceFunctions.SUM)
    want = np.arange(COUNT) * (ranks * (ranks + 1) // 2)
    require(np.array_equal(total, want), "the sum over all ranks is wrong")

    if rank == 0:
        device.send(mine, COUNT, dst=ranks - 1, tag=5)
    elif rank == ranks - 1:
        device.recv(total, COUNT, src=0, tag=5)
        require(np.array_equal(total, np.arange(COUNT)), "the message of rank 0 is wrong")

    device.barrier()
    start = time.perf_counter()
    for _ in range(CALLS):
        device.barrier()
    seconds = (time.perf_counter() - start) / CALLS
    return f"allreduce and a message between {ranks} ranks: right; barrier {seconds * 1e6:.1f} us"


def _ranks() -> str:
    job = f"selftest-{uuid.uuid4().hex}"
    command = [sys.executable, "-P", "-m", "accl.selftest", "--job", job, "--ranks", str(RANKS)]
    return _wait([[*command, "--rank", str(rank)] for rank in range(RANKS)])


def _mpi() -> str:
    if importlib.util.find_spec("mpi4py") is None:
        raise Skipped(
            "mpi4py is not installed: install offchip[mpi]; in a checkout: pip install '.[mpi]'"
        )
    launcher = find_launcher()
    if launcher is None:
        raise Skipped(
            "mpiexec was not found: install offchip[mpi]; in a checkout: pip install '.[mpi]'"
        )
    return _wait([[launcher, "-n", "2", sys.executable, "-P", "-m", "accl.selftest", "--mpi"]])


def _wait(commands: list[list[str]]) -> str:
    """Run commands beside each other; return what they print."""
    return " ".join(filter(None, map(str.strip, run_together(commands, timeout=DEADLINE))))


def _run_as_rank(arguments: list[str]) -> int:
    """Be a rank that the checks above started: ``--mpi``, or ``--job J --ranks N --rank R``."""
    if arguments == ["--mpi"]:
        from mpi4py import MPI

        device = accl.from_comm(MPI.COMM_WORLD)
    else:
        _, job, _, ranks, _, rank = arguments
        device = accl(int(ranks), int(rank), job=job)
    with device:
        report = run_rank(device)
        if device.communicators[0].local_rank == 0:
            print(report)
    return 0


#: The checks by what they check.
CHECKS: dict[str, Check] = {
    "the library is found": _library,
    "a device of one rank": _alone,
    "ranks that are processes of a job": _ranks,
    "ranks that mpiexec starts": _mpi,
}

if __name__ == "__main__":
    if sys.argv[1:2] in (["--mpi"], ["--job"]):
        sys.exit(_run_as_rank(sys.argv[1:]))
    sys.exit(main("accl", CHECKS))
