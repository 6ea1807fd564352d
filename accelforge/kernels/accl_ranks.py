# SPDX-License-Identifier: BSD-3-Clause
"""One rank of those that `accl_kernels` starts: times calls of accl, and prints what they took.

    python accl_ranks.py JOB RANKS RANK PLAN

PLAN is a JSON list of [call, bytes]. Rank 0 prints a JSON list of seconds: the shortest time that a
call took on the slowest rank.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from accl import ACCLReduceFunctions, accl

# Rounds go on for BUDGET seconds, or for up to LONGEST until there are ENOUGH of them.
BUDGET, LONGEST, ENOUGH = 0.1, 1.0, 100
ROUNDS, CALLS = 10, 10  # rounds between looks at the clock, calls that are timed together


def call_of(device: Any, name: str, size: int) -> Callable[[], object]:
    """Return what is timed."""
    rank, ranks = device.communicators[0].local_rank, len(device.communicators[0].ranks)
    count = max(1, size // 4)
    a, b, c = (device.allocate((count,), np.float32) for _ in range(3))
    a[:], b[:], c[:] = rank + 1, 1, 0
    total = ACCLReduceFunctions.SUM
    if name == "barrier":
        return lambda: device.barrier()
    if name == "combine":
        return lambda: device.combine(count, total, a, b, c)
    if name == "bcast":
        return lambda: device.bcast(a)
    if name == "allreduce":
        device.allreduce(a, c, func=total)
        if not (np.asarray(c) == ranks * (ranks + 1) / 2).all():
            raise RuntimeError("allreduce computed a wrong sum")
        return lambda: device.allreduce(a, c, func=total)
    raise ValueError(f"unknown call {name}")


def best(device: Any, call: Callable[[], object]) -> float:
    """Return the shortest time of a call, in seconds, on this rank."""
    # Where ranks wait for a core, a round takes a thousand times as long as the shortest one.
    shortest, count, start = float("inf"), 0, time.perf_counter()
    goes_on = device.allocate((1,), np.int64)
    goes_on[0] = 1
    while goes_on[0]:
        shortest = min(shortest, rounds(device, call))
        count += ROUNDS
        limit = BUDGET if count >= ENOUGH else LONGEST
        goes_on[0] = time.perf_counter() < start + limit
        device.bcast(goes_on)  # all do as many
    return shortest


def rounds(device: Any, call: Callable[[], object]) -> float:
    """Return the shortest time of a call in some rounds."""
    shortest = float("inf")
    for _ in range(ROUNDS):
        device.barrier()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        shortest = min(shortest, (time.perf_counter() - start) / CALLS)
    return shortest


def main() -> None:
    """Run one rank."""
    job, ranks, rank = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cores = sorted(os.sched_getaffinity(0))
    if ranks <= len(cores):
        os.sched_setaffinity(0, {cores[rank]})  # two ranks on one core take turns
    with accl(ranks, rank, bufsize=65536, job=job) as device:
        plan = json.loads(sys.argv[4])
        found = [best(device, call_of(device, name, size)) for name, size in plan]
        mine = device.allocate((len(found),), np.float64)
        slowest = device.allocate((len(found),), np.float64)
        mine[:] = found
        device.allreduce(mine, slowest, func=ACCLReduceFunctions.MAX)
        if rank == 0:
            print(json.dumps(np.asarray(slowest).tolist()))


if __name__ == "__main__":
    main()
