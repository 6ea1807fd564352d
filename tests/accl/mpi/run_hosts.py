# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: collectives of ranks that count as on several hosts.

    mpiexec -n N python run_hosts.py {bits,late,differ}

Rank 0 prints a JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import ACCLError, accl
from tests.accl.mpi.pretended_hosts import pretend_hosts

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
COUNTS = (1, 3, 1000, 4099, 40_000)
DTYPES = ("float16", "float32", "float64", "int32")
LATE_MS = 1500


def sums(device: Any, count: int, dtype: str, func: int, compress: bool, place: bool) -> bytes:
    """Give the results of all reductions, of numbers whose sum depends on the order."""
    rng = np.random.default_rng([count, RANK, func])
    source = device.allocate((count * RANKS,), dtype=dtype)
    result = device.allocate((count,), dtype=dtype)
    source[:] = (rng.standard_normal(source.size) * 1000).astype(dtype)
    how = {"compress_dtype": np.dtype("float16")} if compress else {}
    device.allreduce(source[:count], result, count, func, **how)
    found = result.tobytes()
    for root in {0, RANKS // 2, RANKS - 1}:
        device.reduce(source[:count], result, count, root, func, **how)
        found += result.tobytes()
    device.reduce_scatter(source, result, count, func, **how)
    found += result.tobytes()
    if place:
        device.allreduce(source[:count], source[:count], count, func, **how)
        found += source.tobytes()
    return found


def bits() -> dict[str, Any]:
    """Compare results between hosts with those of shared memory, bit by bit."""
    pretend_hosts(WORLD)
    apart = accl.from_comm(WORLD, bufsize=4096)
    os.environ.pop("ACCL_HOST", None)
    together = accl.from_comm(WORLD, bufsize=4096)
    different = []
    cases = [(count, dtype, func) for count in COUNTS for dtype in DTYPES for func in (0, 1)]
    for count, dtype, func in cases:
        for compress in (False, True) if dtype == "float32" else (False,):
            seen = [sums(d, count, dtype, func, compress, True) for d in (apart, together)]
            if seen[0] != seen[1]:
                different.append(f"{count} of {dtype}, function {func}, compressed {compress}")
    everywhere = WORLD.gather(different)
    apart.deinit()
    together.deinit()
    return {
        "cases": len(cases),
        "different": sorted({t for part in everywhere or () for t in part}),
    }


def code_of(call: Callable[[], object]) -> str:
    """Give the names of the error that a call ends with."""
    try:
        call()
    except ACCLError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def late() -> dict[str, Any]:
    """Have the last rank miss a barrier, and use the communicator and another one afterwards."""
    pretend_hosts(WORLD)
    device = accl.from_comm(WORLD, bufsize=4096)
    device.barrier()
    device.set_timeout(LATE_MS)
    missing = RANK == RANKS - 1
    first = "missing" if missing else code_of(device.barrier)
    WORLD.Barrier()
    second = code_of(device.barrier)
    if missing and second == "no error":
        # The others had been there, before they gave up.
        second = code_of(device.barrier)
    third = device.split_communicator(range(RANKS))
    device.set_timeout(60_000)
    WORLD.Barrier()
    one, result = device.allocate((1,)), device.allocate((1,))
    one[:] = 1
    device.allreduce(one, result, 1, 0, comm_id=third)
    seen = WORLD.gather((first, second, float(result[0])))
    device.deinit()
    return {"seen": seen}


def differ() -> dict[str, Any]:
    """Have the last rank make another call than the others."""
    pretend_hosts(WORLD)
    device = accl.from_comm(WORLD, bufsize=4096)
    device.set_timeout(20_000)
    data, results = device.allocate((1,)), device.allocate((RANKS,))
    device.barrier()
    seen = WORLD.gather(
        code_of(lambda: device.allreduce(data, results, 1, 0))
        if RANK < RANKS - 1
        else code_of(lambda: device.allgather(data, results, 1))
    )
    # A rank that closes its device is an error of others that are in the call.
    WORLD.Barrier()
    device.deinit()
    return {"seen": seen}


def main() -> None:
    answer = {"bits": bits, "late": late, "differ": differ}[sys.argv[1]]()
    if RANK == 0:
        print(json.dumps(answer))


main()
