# SPDX-License-Identifier: BSD-3-Clause
"""Script of each of two ranks: reductions of several steps by packets, compared with NumPy.

mpiexec -n 2 python run_sums.py
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import ACCLReduceFunctions, accl

LIMIT_MS = 60_000
# From a part of a step to more than two; no multiple of a piece, nor of a vector of the processor.
COUNTS = (3_001, 20_003, 300_007)
DTYPES = ("float16", "float32", "float64", "int32")
COMPRESSED = np.dtype("float16")
OPERATIONS = ("reduce", "allreduce", "reduce_scatter")

problems: list[str] = []


def operands(rank: int, count: int, dtype: str) -> np.ndarray:
    """Make what a rank adds: numbers that float16 has too, and whose sums it has."""
    return (np.arange(count) * (rank + 2) % 1021).astype(dtype)


def check(device: accl, case: tuple[str, int, str, bool, bool]) -> None:
    """Make a call, and compare its result."""
    operation, count, dtype, in_place, compressed = case
    rank, how = MPI.COMM_WORLD.rank, {}
    if compressed:
        how["compress_dtype"] = COMPRESSED
    length = 2 * count if operation == "reduce_scatter" else count
    total: Any = operands(0, length, dtype) + operands(1, length, dtype)
    if operation == "reduce_scatter":
        total = total[rank * count : (rank + 1) * count]
    source = device.allocate((length,), dtype=dtype)
    result = source if in_place else device.allocate((count,), dtype=dtype)
    source[:] = operands(rank, length, dtype)

    root = (1,) if operation == "reduce" else ()
    getattr(device, operation)(source, result, count, *root, ACCLReduceFunctions.SUM, **how)
    receives = operation != "reduce" or rank == 1
    if receives and not np.array_equal(result[:count], total):
        problems.append(f"rank {rank}: {case}")
    if not in_place and not np.array_equal(source, operands(rank, length, dtype)):
        problems.append(f"rank {rank}: operands of {case}")


def main() -> None:
    device = accl.from_comm(MPI.COMM_WORLD, transport="packets")
    device.set_timeout(LIMIT_MS)
    for operation in OPERATIONS:
        for count in COUNTS:
            for dtype in DTYPES:
                for in_place in (False, True):
                    check(device, (operation, count, dtype, in_place, False))
            check(device, (operation, count, "float32", False, True))
            check(device, (operation, count, "float32", True, True))

    device.deinit()
    everywhere = MPI.COMM_WORLD.gather(problems)
    if everywhere is not None:
        print(json.dumps([text for part in everywhere for text in part]), flush=True)


main()
