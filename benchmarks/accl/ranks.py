# SPDX-License-Identifier: BSD-3-Clause
"""One job of `collectives.py`: times the collectives of one implementation on all ranks.

    mpiexec -n N python ranks.py {mpi,unified,separate,plain,floor} {SIZES,--turns FOLDER}
        [--budget SECONDS] [--compress]

Sizes, as ``4,1024``, are bytes of the count that the operation takes: a rank's chunk for scatter,
gather, allgather and reduce_scatter, else the whole vector. A value is the median time of a call in
microseconds, the largest of all ranks; a ping-pong, of the first and the last rank, counts half.
With ``--compress`` accl sends float32 as float16. Rank 0 prints a JSON object for each cell.

With ``--turns`` the ranks sleep until somebody asks for a cell: each reads its own FIFO in the
folder, named after the rank, for lines of an operation and a size. So jobs of several programs can
take turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.accl.operations import COPY, COSTS, OPERATIONS, cells_of

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
SUM = RANKS * (RANKS + 1) // 2
LAST = RANKS - 1
SETTLING_CALLS = 10_000
SETTLING_S = 2.0
AWAKE_S = 0.01
# A call, and whether what it gave is right.
Cell = tuple[Callable[[], object], Callable[[], bool]]


class Arrays:
    """Arrays that the calls work on; each rank sends its number plus one.

    Parameters
    ----------
    allocate : callable
        Takes a number of float32.
    count : int
        Elements of a part.
    """

    def __init__(self, allocate: Callable[[int], np.ndarray], count: int) -> None:
        self.count = count
        self.part, self.whole = allocate(count), allocate(count * RANKS)
        self.result, self.results = allocate(count), allocate(count * RANKS)
        self.shared = allocate(count)
        self.part[:] = self.whole[:] = RANK + 1
        self.shared[:] = 7 if RANK == 0 else 0

    def clear(self) -> None:
        """Forget the results."""
        self.result[:] = 0
        self.results[:] = 0

    def gives(self, value: int) -> bool:
        """Return whether the result is this value everywhere."""
        return bool(np.all(self.result == value))

    def gathered(self) -> bool:
        """Return whether each rank's part is at its place."""
        rows = self.results.reshape(RANKS, self.count)
        return all(bool(np.all(rows[rank] == rank + 1)) for rank in range(RANKS))

    def cells(self, calls: dict[str, Callable[[], object]]) -> dict[str, Cell]:
        """Put each call together with its check."""
        root = RANK == 0
        peer = {0: RANKS, LAST: 1}.get(RANK, 0)
        checks: dict[str, Callable[[], bool]] = {
            "barrier": lambda: True,
            "pingpong": lambda: self.gives(peer),
            "bcast": lambda: bool(np.all(self.shared == 7)),
            "scatter": lambda: self.gives(1),
            "gather": lambda: not root or self.gathered(),
            "allgather": self.gathered,
            "reduce": lambda: not root or self.gives(SUM),
            "allreduce": lambda: self.gives(SUM),
            "reduce_scatter": lambda: self.gives(SUM),
            "copy": lambda: self.gives(RANK + 1),
        }
        return {name: (call, checks[name]) for name, call in calls.items()}


def mpi_cells(count: int) -> tuple[Arrays, dict[str, Cell]]:
    """Make the calls of mpi4py."""
    a = Arrays(lambda n: np.zeros(n, "f4"), count)

    def pingpong() -> None:
        if RANK == 0:
            WORLD.Send(a.part, LAST, 1)
            WORLD.Recv(a.result, LAST, 2)
        elif RANK == LAST:
            WORLD.Recv(a.result, 0, 1)
            WORLD.Send(a.part, 0, 2)

    root = RANK == 0
    return a, a.cells(
        {
            "barrier": WORLD.Barrier,
            "pingpong": pingpong,
            "bcast": lambda: WORLD.Bcast(a.shared, 0),
            "scatter": lambda: WORLD.Scatter(a.whole if root else None, a.result, 0),
            "gather": lambda: WORLD.Gather(a.part, a.results if root else None, 0),
            "allgather": lambda: WORLD.Allgather(a.part, a.results),
            "reduce": lambda: WORLD.Reduce(a.part, a.result if root else None, MPI.SUM, 0),
            "allreduce": lambda: WORLD.Allreduce(a.part, a.result, MPI.SUM),
            "reduce_scatter": lambda: WORLD.Reduce_scatter_block(a.whole, a.result, MPI.SUM),
        }
    )


def accl_cells(
    device: Any, allocate: Callable[[int], np.ndarray], count: int, compress: bool
) -> tuple[Arrays, dict[str, Cell]]:
    """Make the same calls of accl."""
    a = Arrays(allocate, count)
    # Given once: a call with ** takes a tenth of a microsecond more.
    how = {"compress_dtype": np.dtype("float16")} if compress else {}
    peer, ping, pong = (LAST, 1, 2) if RANK == 0 else (0, 2, 1)
    send = partial(device.send, a.part, count, peer, ping, **how)
    receive = partial(device.recv, a.result, count, peer, pong, **how)

    def pingpong() -> None:
        if RANK == 0:
            send()
            receive()
        elif RANK == LAST:
            receive()
            send()

    return a, a.cells(
        {
            "barrier": device.barrier,
            "pingpong": pingpong,
            "bcast": partial(device.bcast, a.shared, count, 0, **how),
            "scatter": partial(device.scatter, a.whole, a.result, count, 0, **how),
            "gather": partial(device.gather, a.part, a.results, count, 0, **how),
            "allgather": partial(device.allgather, a.part, a.results, count, **how),
            "reduce": partial(device.reduce, a.part, a.result, count, 0, 0, **how),
            "allreduce": partial(device.allreduce, a.part, a.result, count, 0, **how),
            "reduce_scatter": partial(device.reduce_scatter, a.whole, a.result, count, 0, **how),
        }
    )


def floor_cells(count: int) -> tuple[Arrays, dict[str, Cell]]:
    """Make one copy of the vector on each rank: what transfers cannot be quicker than."""
    a = Arrays(lambda n: np.zeros(n, "f4"), count)
    return a, a.cells({"copy": lambda: np.copyto(a.result, a.part)})


def median_us(call: Callable[[], object], meet: Callable[[], object], budget: float) -> float:
    """Time a call on all ranks; every repetition starts behind a barrier of its own kind."""
    for _ in range(3):
        call()
    meet()
    begin = time.perf_counter()
    call()
    call()
    estimate = WORLD.allreduce((time.perf_counter() - begin) / 2, MPI.MAX)
    times = np.empty(int(max(7, min(2000, budget / max(estimate, 1e-7)))))
    for i in range(times.size):
        meet()
        begin = time.perf_counter()
        call()
        times[i] = time.perf_counter() - begin
    return float(WORLD.allreduce(float(np.median(times)), MPI.MAX) * 1e6)


def cpu_us(call: Callable[[], object], budget: float) -> float:
    """Give the processor time that a call takes on the rank where that is most."""
    call()
    begin = time.perf_counter()
    for _ in range(20):
        call()
    each = WORLD.allreduce((time.perf_counter() - begin) / 20, MPI.MAX)
    calls = int(max(20, min(20_000, budget / max(each, 1e-7))))
    used = time.process_time()
    for _ in range(calls):
        call()
    return float(WORLD.allreduce((time.process_time() - used) / calls, MPI.MAX) * 1e6)


def settle(meet: Callable[[], object]) -> None:
    """Let the system find a core for each rank, which takes it some tens of milliseconds."""
    begin = time.perf_counter()
    for _ in range(SETTLING_CALLS // 100):
        meet()
    each = WORLD.allreduce((time.perf_counter() - begin) / (SETTLING_CALLS // 100), MPI.MAX)
    for _ in range(min(SETTLING_CALLS, int(SETTLING_S / each))):
        meet()


def wake(meet: Callable[[], object]) -> None:
    """Make barriers for some milliseconds: caches and cores were another job's."""
    begin, awake = time.perf_counter(), True
    while awake:
        for _ in range(20):
            meet()
        awake = WORLD.bcast(time.perf_counter() - begin < AWAKE_S)


class Job:
    """The calls that this job measures.

    Parameters
    ----------
    options : argparse.Namespace
        As `main` reads them.
    device : accl.accl or None
        Whose calls are measured; None for MPI's and for copies.
    """

    def __init__(self, options: argparse.Namespace, device: Any) -> None:
        self.options = options
        self.device = device
        self.meet = WORLD.Barrier if device is None else device.barrier

    def time_us(self, operation: str, size: int) -> float:
        """Measure a cell; ends the job where the result is wrong."""
        budget = self.options.budget
        wake(self.meet)
        if operation == "barrier cpu":
            return cpu_us(self.meet, budget)
        count = size // 4
        if operation == "own allreduce":
            one, out = np.ones(count, "f4"), np.zeros(count, "f4")
            return median_us(lambda: WORLD.Allreduce(one, out, MPI.SUM), WORLD.Barrier, budget)

        if operation == COPY:
            arrays, cells = floor_cells(count)
        elif self.device is None:
            arrays, cells = mpi_cells(count)
        else:
            allocate = self.device.allocate
            if self.options.which == "plain":
                allocate = partial(np.zeros, dtype="f4")
            arrays, cells = accl_cells(self.device, allocate, count, self.options.compress)
        call, right = cells[operation]
        arrays.clear()
        found = median_us(call, self.meet, budget)
        if not right():
            print(f"rank {RANK}: wrong result of {operation} at {size} bytes", file=sys.stderr)
            WORLD.Abort(1)
        return found * (0.5 if operation == "pingpong" else 1.0)


def all_cells(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Give every cell: for a job that is started without ``--turns``."""
    operations = (COPY,) if options.which == "floor" else (*COSTS, *OPERATIONS)
    return (
        (operation, size)
        for operation, size in cells_of(operations, options.sizes)
        if RANKS > 1 or operation != "pingpong"
    )


def asked_cells(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the cells that are asked for, until the FIFO is closed."""
    with (folder / str(RANK)).open() as lines:
        for line in lines:
            operation, size = line.rsplit(maxsplit=1)
            yield operation, int(size)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("which", choices=("mpi", "unified", "separate", "plain", "floor"))
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "sizes", nargs="?", type=lambda text: [int(part) for part in text.split(",")]
    )
    asked.add_argument("--turns", type=Path, metavar="FOLDER", help="has the ranks' FIFOs")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds for a cell")
    parser.add_argument("--compress", action="store_true")
    options = parser.parse_args()
    # The first one of them duplicates the communicator.
    WORLD.allreduce(0)
    device = None
    if options.which in ("unified", "separate", "plain"):
        from accl import accl

        device = accl.from_comm(WORLD, unified=options.which == "unified", bufsize=64 * 1024)
    job = Job(options, device)
    settle(job.meet)
    if RANK == 0:
        print(json.dumps({"library": MPI.Get_library_version().split("\n")[0]}), flush=True)
    for operation, size in asked_cells(options.turns) if options.turns else all_cells(options):
        found = job.time_us(operation, size)
        if RANK == 0:
            print(json.dumps({"operation": operation, "bytes": size, "us": found}), flush=True)
    if device is not None:
        device.deinit()


if __name__ == "__main__":
    main()
