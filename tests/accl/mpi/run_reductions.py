# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: reductions that MPI makes itself, compared with NumPy, and repeated.

mpiexec -n 4 python run_reductions.py packets|hosts
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import ACCLArgumentError, ACCLReduceFunctions, accl

LIMIT_MS = 60_000
COUNTS = (1, 7, 3_001, 100_003)
DTYPES = ("float16", "float32", "float64", "int32", "int64")
FUNCTIONS = {
    ACCLReduceFunctions.SUM: np.add,
    ACCLReduceFunctions.MAX: np.maximum,
    ACCLReduceFunctions.PROD: np.multiply,
}
OPERATIONS = ("reduce", "allreduce", "reduce_scatter")
REPEATS = 20

world = MPI.COMM_WORLD
problems: list[str] = []


def operands(rank: int, count: int, dtype: str) -> np.ndarray:
    """Make what a rank combines: small numbers, whose sums and products all types have."""
    return (np.arange(count) % 5 * (rank + 1) % 3 + 1).astype(dtype)


def check(device: accl, case: tuple[str, int, str, ACCLReduceFunctions, bool]) -> None:
    """Make a call, and compare its result."""
    operation, count, dtype, function, in_place = case
    scatters = operation == "reduce_scatter"
    length = world.size * count if scatters else count
    expected: Any = operands(0, length, dtype)
    for rank in range(1, world.size):
        expected = FUNCTIONS[function](expected, operands(rank, length, dtype))
    if scatters:
        expected = expected[world.rank * count : (world.rank + 1) * count]
    source = device.allocate((length,), dtype=dtype)
    result = source if in_place else device.allocate((count,), dtype=dtype)
    source[:] = operands(world.rank, length, dtype)

    root = world.size - 1
    arguments = (root, function) if operation == "reduce" else (function,)
    getattr(device, operation)(source, result, count, *arguments)
    receives = operation != "reduce" or world.rank == root
    if receives and not np.array_equal(result[:count], expected):
        problems.append(f"rank {world.rank}: {case}")


def check_repeats(device: accl) -> None:
    """Add numbers whose sum depends on the order, again and again."""
    source = device.allocate((100_003,), dtype="float32")
    result = device.allocate((100_003,), dtype="float32")
    source[:] = np.random.default_rng(world.rank).standard_normal(100_003)
    seen = set()
    for _ in range(REPEATS):
        device.allreduce(source, result)
        seen.add(result.tobytes())
    everywhere = world.allgather(seen)
    if len(set().union(*everywhere)) != 1:
        problems.append(f"rank {world.rank}: sums differ")


def check_settings() -> None:
    """Ranks must choose alike, and reductions that there are."""
    for reductions in ("sum", "allreduce" if world.rank else "reduce"):
        try:
            accl.from_comm(world, transport="packets", mpi_reductions=reductions).deinit()
        except ACCLArgumentError:
            continue
        problems.append(f"rank {world.rank}: {reductions} was accepted")


def main() -> None:
    transport = "packets"
    if sys.argv[1] == "hosts":
        transport = "auto"
        os.environ["ACCL_HOST"] = f"host {world.rank % 2}"
    os.environ["ACCL_MPI_REDUCTIONS"] = "reduce_scatter, reduce,allreduce"
    device = accl.from_comm(world, transport=transport)
    device.set_timeout(LIMIT_MS)
    for operation in OPERATIONS:
        for count in COUNTS:
            for dtype in DTYPES:
                for function in FUNCTIONS:
                    for in_place in (False, True):
                        check(device, (operation, count, dtype, function, in_place))
    check_repeats(device)
    device.deinit()
    check_settings()

    everywhere = world.gather(problems)
    if everywhere is not None:
        print(json.dumps([text for part in everywhere for text in part]), flush=True)


main()
