# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: collectives whose results are where their sources are, compared with NumPy.

mpiexec -n N python run_overlaps.py auto|packets|hosts
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import accl

world = MPI.COMM_WORLD
ranks, me = world.size, world.rank
if sys.argv[1] == "hosts":
    os.environ["ACCL_HOST"] = f"host {me % 2}"


def numbers(rank: int, size: int) -> np.ndarray:
    return np.random.default_rng(rank).integers(-99, 99, size).astype("f4")


def cases(new: Callable[..., Any], count: int) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Make calls in new memory; give the name of each, what came out, and what should have."""
    firsts = [numbers(rank, count) for rank in range(ranks)]
    wholes = np.array([numbers(rank, ranks * count) for rank in range(ranks)])
    mine = slice(me * count, (me + 1) * count)

    shifted = new((count + 1,))
    shifted[:-1] = firsts[me]
    device.allreduce(shifted[:-1], shifted[1:])
    yield "allreduce", shifted[1:], np.sum(firsts, 0)

    whole = new((ranks * count,))
    whole[mine] = firsts[me]
    device.allgather(whole[mine], whole)
    yield "allgather", whole, np.concatenate(firsts)

    whole = new((ranks * count,))
    whole[:] = wholes[me]
    device.alltoall(whole, whole)
    yield "alltoall", whole, wholes[:, mine].ravel()

    whole = new((ranks * count,))
    whole[:] = wholes[me]
    device.reduce_scatter(whole, whole[mine])
    yield "reduce_scatter", whole[mine], wholes[:, mine].sum(0)


device = accl.from_comm(world, transport="packets" if sys.argv[1] == "packets" else "auto")
device.set_timeout(60_000)
wrong = [
    f"rank {me}: {name} of {count} in {kind}"
    for kind, new in (("arrays", partial(np.zeros, dtype="f4")), ("buffers", device.allocate))
    for count in (1, 30_000)
    for name, result, expected in cases(new, count)
    if not np.array_equal(result, expected)
]
found = world.gather(wrong)
device.deinit()
if found is not None:
    print(json.dumps([text for part in found for text in part]), flush=True)
