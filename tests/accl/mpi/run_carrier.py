# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: calls of accl and of mpi4py, and then one of several ends.

mpiexec -n N python run_carrier.py LEVEL {deinit,exit,finalize}
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import mpi4py
import numpy as np

LEVEL, END = sys.argv[1:]
mpi4py.rc.thread_level = LEVEL

from mpi4py import MPI  # noqa: E402

from accl import accl  # noqa: E402
from accl.errors import ACCLPeerError, ACCLUnsupportedError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_MS = 60_000
COUNT = 100_000

problems: list[str] = []


def expect(condition: bool, what: str) -> None:
    """Note what does not hold."""
    if not condition:
        problems.append(f"rank {MPI.COMM_WORLD.rank}: {what}")


def threads() -> set[str]:
    """List the names of this process's threads."""
    names = set()
    for path in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # it may just be leaving
            names.add(path.read_text().strip())
    return names


def mix_calls(device: accl, world: MPI.Comm) -> None:
    """Make calls of both; an object collective of mpi4py keeps the GIL while it waits."""
    rank, ranks = world.rank, world.size
    a, b = device.allocate((COUNT,)), device.allocate((COUNT,))
    a[:] = rank + 1
    device.allreduce(a, b)
    expect(world.allreduce([rank]) == list(range(ranks)), "an object collective")
    expect(bool(np.all(b == ranks * (ranks + 1) // 2)), "an allreduce")

    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    handle = device.send(a, 100, right, 3, run_async=True)
    device.recv(b, 100, left, 3)
    handle.wait()
    expect(bool(np.all(b[:100] == left + 1)), "a message")
    handle = device.barrier(run_async=True)
    while not handle.test():
        pass
    expect(world.allgather(rank) == list(range(ranks)), "another object collective")


def call_elsewhere(device: accl) -> None:
    """Make a call in another thread, which only MPI_THREAD_MULTIPLE allows."""
    said: list[str] = []

    def call() -> None:
        try:
            device.barrier()
            said.append("ok")
        except ACCLUnsupportedError:
            said.append("unsupported")

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    expect(said == ["ok" if LEVEL == "multiple" else "unsupported"], f"another thread: {said}")


def stopped() -> bool:
    """Return whether the engine's thread has ended; a joined one stays listed for a moment."""
    until = time.monotonic() + 5
    while "accl-mpi" in threads():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def enter_finalize(finalize: Callable[[], None] = MPI.Finalize) -> None:
    """Stand for mpi4py's function: MPICH aborts if a thread is inside MPI from here on."""
    assert stopped()
    finalize()


def main() -> None:
    world = MPI.COMM_WORLD
    vars(MPI)["Finalize"] = enter_finalize
    device = accl.from_comm(world, transport="packets")
    device.set_timeout(LIMIT_MS)
    mix_calls(device, world)
    call_elsewhere(device)
    expect(("accl-mpi" in threads()) == (LEVEL == "multiple"), "the engine's thread")
    if END == "deinit":
        device.deinit()
        expect(stopped(), "the thread after deinit()")
    everywhere = world.gather(problems)
    if everywhere is not None:
        print(json.dumps([text for part in everywhere for text in part]), flush=True)

    if END == "finalize":
        MPI.Finalize()
        try:
            device.barrier()
            raise AssertionError("a call after MPI_Finalize() succeeded")
        except ACCLPeerError:
            pass


main()
