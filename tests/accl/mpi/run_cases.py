# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: the cases of a file, one after the other, compared with NumPy.

    mpiexec -n N python run_cases.py CASES.json

Every case is done twice on the same data, and both results must be the same to the bit. Rank 0
prints one JSON object: the number of cases, and a sentence for each that failed on any rank.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import accl
from tests.accl.mpi.expected import close_enough, expected, input_size, inputs, output_size
from tests.accl.mpi.pretended_hosts import pretend_hosts

TIMEOUT_MS = 30_000
BUFFER_BYTES = 16384
POOL_BYTES = 16 * BUFFER_BYTES
COMPRESSED = np.dtype("float16")


def start(
    device: Any, case: dict[str, Any], source: Any, other: Any, result: Any, **how: Any
) -> Any:
    """Issue the call of a case; give what it gives."""
    operation, count, func = case["operation"], case["count"], case["func"]
    ranks, rank = len(device.communicators[0].ranks), device.communicators[0].local_rank
    root = case["root"] % ranks
    if operation not in ("copy", "combine", "barrier") and case["compressed"]:
        how["compress_dtype"] = COMPRESSED
    if operation == "copy":
        return device.copy(source, result, count, **how)
    if operation == "combine":
        return device.combine(count, func, source, other, result, **how)
    if operation == "bcast":
        return device.bcast(source if rank == root else result, count, root, **how)
    if operation in ("scatter", "gather"):
        return getattr(device, operation)(source, result, count, root, **how)
    if operation in ("allgather", "alltoall"):
        return getattr(device, operation)(source, result, count, **how)
    if operation == "reduce":
        return device.reduce(source, result, count, root, func, **how)
    if operation in ("allreduce", "reduce_scatter"):
        return getattr(device, operation)(source, result, count, func, **how)
    if operation == "barrier":
        return device.barrier()
    raise ValueError(operation)


def shift(device: Any, case: dict[str, Any], source: Any, result: Any, **how: Any) -> list[Any]:
    """Send to the next rank and receive from the one before, in an order that cannot deadlock."""
    ranks, rank = len(device.communicators[0].ranks), device.communicators[0].local_rank
    count = case["count"]
    if case["compressed"]:
        how["compress_dtype"] = COMPRESSED

    def send() -> Any:
        return device.send(source, count, (rank + 1) % ranks, 7, **how)

    def receive() -> Any:
        stays = "run_async" in how and not case["plain"]
        more = {"to_fpga": True} if stays else {}
        return device.recv(result, count, (rank - 1) % ranks, 7, **how, **more)

    if rank % 2 == 0:
        return [send(), receive()]
    return [receive(), send()]


def perform(device: Any, case: dict[str, Any], source: Any, other: Any, result: Any) -> None:
    """Do a case in its mode, so that the result is in the host's view."""

    def issue(**how: Any) -> list[Any]:
        if case["operation"] == "sendrecv":
            return shift(device, case, source, result, **how)
        if "run_async" in how and not case["plain"]:
            how["to_fpga"] = True
        return [start(device, case, source, other, result, **how)]

    if case["mode"] == "sync" or case["operation"] == "barrier":
        issue()
        return
    how: dict[str, Any] = {"run_async": True}
    if case["mode"] == "chained":
        how["waitfor"] = [device.nop(run_async=True)]
    for handle in issue(**how):
        if handle is not None:
            handle.wait()
    if not case["plain"]:
        result.sync_from_device()


def run_case(device: Any, case: dict[str, Any], seed: int) -> str | None:
    """Do a case twice; give what was wrong, or None."""
    ranks, rank = len(device.communicators[0].ranks), device.communicators[0].local_rank
    operation, count, dtype = case["operation"], case["count"], case["dtype"]
    if operation == "sendrecv" and ranks == 1 and count * np.dtype(dtype).itemsize > POOL_BYTES:
        # To itself a rank sends no more than its buffers hold.
        return None
    values = inputs(operation, dtype, count, ranks, seed, case["func"])
    size = max(output_size(operation, count, ranks), 1)
    allocate = np.zeros if case["plain"] else device.allocate
    source = allocate((max(input_size(operation, count, ranks), 1),), dtype=dtype)
    other = allocate((max(count, 1),), dtype=dtype)
    result = allocate((size + 1,), dtype=dtype)
    source[: values[rank].size] = values[rank]
    if operation == "combine":
        other[:count] = values[rank][::-1]
        if not case["plain"]:
            other.sync_to_device()
    seen = []
    for _ in range(2):
        result[:] = 77
        if not case["plain"]:
            result.sync_to_device()
        perform(device, case, source, other, result)
        seen.append(np.array(result))
    want = expected(
        operation, values, count, rank, case["root"] % ranks, case["func"], case["compressed"]
    )
    if operation == "bcast" and rank == case["root"] % ranks:
        want = None
    if seen[0].tobytes() != seen[1].tobytes():
        return "a second run gave another result"
    if source[: values[rank].size].tobytes() != values[rank].tobytes():
        return "the input was changed"
    if want is None:
        return None if np.all(seen[0] == 77) else "wrote where nothing is received"
    if np.any(seen[0][want.size :] != 77):
        return "wrote behind the result"
    got = seen[0][: want.size]
    if close_enough(operation, got, want, ranks, case["compressed"]):
        return None
    wrong = np.flatnonzero(~np.isclose(got, want, rtol=0, atol=0, equal_nan=True))
    first = int(wrong[0]) if wrong.size else 0
    return f"element {first} is {got[first]!r}, not {want[first]!r} ({wrong.size} differ)"


def main() -> int:
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    world = MPI.COMM_WORLD
    pretend_hosts(world)
    failures = []
    warnings.filterwarnings("ignore", "zero size buffer")
    for unified in (False, True):
        chosen = [(i, case) for i, case in enumerate(cases) if case["unified"] == unified]
        if not chosen:
            continue
        device = accl.from_comm(world, unified=unified, bufsize=BUFFER_BYTES)
        device.set_timeout(TIMEOUT_MS)
        for number, case in chosen:
            try:
                problem = run_case(device, case, number)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem is not None:
                failures.append(f"rank {world.rank} of {world.size}: {case}: {problem}")
        device.deinit()
    everywhere = world.gather(failures)
    if everywhere is not None:
        flat = [failure for part in everywhere for failure in part]
        print(json.dumps({"cases": len(cases), "failures": flat[:50]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
