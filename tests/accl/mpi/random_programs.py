# SPDX-License-Identifier: BSD-3-Clause
"""Random programs for several ranks that cannot deadlock, and one fault to plant in them.

A program is a list of global steps. Each frees a communicator and makes it again, or is a
collective of some communicator, or a set of
messages of which a rank issues its part: all sends asynchronously, then all receives, then it
waits, and then all meet in a barrier. As the messages of a step fit into the receivers' buffers,
every program ends, however the ranks are scheduled.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["COMMUNICATORS", "VECTORS", "Step", "make_program", "plant_deadlock"]

Step = dict[str, Any]

COLLECTIVES = (
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "alltoall",
    "barrier",
)
COUNTS = (0, 1, 2, 7, 64, 255, 256, 257, 1000, 5000)
# Four messages of the longest, with the widest elements, fit into 16 buffers of 4096 bytes.
MESSAGE_COUNTS = (0, 1, 2, 7, 64, 255, 511, 512, 513, 1000)
DTYPES = ("int32", "int64", "float32")
# Calls with a count for each rank.
VECTORS = ("sendrecv", "gatherv", "scatterv", "allgatherv")
# Communicators by the ranks in them: all, and the even ones.
COMMUNICATORS = 2


def members(comm: int, ranks: int) -> list[int]:
    """List the ranks of a communicator."""
    return list(range(0, ranks, comm + 1))


def make_program(seed: int, ranks: int, steps: int = 12) -> list[Step]:
    """Make a program.

    Parameters
    ----------
    seed : int
        The same seed gives the same program on every rank.
    ranks : int
        How many run it.
    steps : int
        Its length.
    """
    rng = random.Random(seed * 1000 + ranks)
    program = []
    for number in range(steps):
        comm = rng.randrange(COMMUNICATORS)
        group = members(comm, ranks)
        step: Step = {"comm": comm, "count": rng.choice(COUNTS), "dtype": rng.choice(DTYPES)}
        if rng.random() < 0.4:
            step["kind"] = "messages"
            step["count"] = rng.choice(MESSAGE_COUNTS)
            step["messages"] = [
                {
                    "src": rng.randrange(len(group)),
                    "dst": rng.randrange(len(group)),
                    "tag": rng.choice((number, None)),
                }
                for _ in range(rng.randrange(1, 5))
            ]
        elif rng.random() < 0.25:
            step["kind"] = rng.choice(VECTORS)
            step["root"] = rng.randrange(len(group))
            step["counts"] = [rng.choice(COUNTS) for _ in group]
        elif comm and rng.random() < 0.3:
            step["kind"] = "renew"
        else:
            step["kind"] = rng.choice(COLLECTIVES)
            step["root"] = rng.randrange(len(group))
            step["func"] = rng.randrange(4)
            step["run_async"] = step["kind"] != "barrier" and rng.random() < 0.3
        program.append(step)
    return program


def plant_deadlock(program: list[Step], ranks: int, seed: int) -> list[Step]:
    """Put a receive that nobody sends to into the middle of a program."""
    rng = random.Random(seed)
    planted = list(program)
    planted.insert(len(planted) // 2, {"kind": "lonely", "rank": rng.randrange(ranks)})
    return planted
