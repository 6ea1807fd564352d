# SPDX-License-Identifier: BSD-3-Clause
"""Random programs that mix accl's calls with those of mpi4py.

A program is a list of global steps, as in `random_programs`; some of them are mpi4py's. Requests
of both may stay open over the steps that follow. All ranks make their calls in the same order, so
every program ends if neither library needs the other one, or the interpreter's lock, to finish what
it has begun.
"""

from __future__ import annotations

import random

from tests.accl.mpi.random_programs import Step, make_program

__all__ = ["MPI_KINDS", "make_mixed_program"]

# Object collectives; communicators; requests; windows; messages; a rank that holds the lock.
MPI_KINDS = (
    *("objects", "objects", "dup", "split"),
    *("iallreduce", "ibarrier", "window", "lock", "messages", "busy"),
)
OBJECTS = ("allreduce", "bcast", "gather", "allgather", "alltoall", "scatter")
COUNTS = (1, 7, 1000, 20_000)
# Of steps that requests stay open.
OPEN_MOST = 3


def make_mixed_program(seed: int, ranks: int, steps: int = 14) -> list[Step]:
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
    rng = random.Random(seed * 1000 + ranks + 500)
    program = make_program(seed, ranks, steps)
    mixed: list[Step] = []
    for step in program:
        if rng.random() < 0.5:
            mixed.append(step)
            continue
        mixed.append(
            {
                "kind": "mpi",
                "what": rng.choice(MPI_KINDS),
                "name": rng.choice(OBJECTS),
                "root": rng.randrange(ranks),
                "count": rng.choice(COUNTS),
                "open": rng.randrange(OPEN_MOST + 1),
            }
        )
        # An asynchronous call of accl that stays open while the program makes calls of MPI.
        if rng.random() < 0.3:
            mixed.append(
                {"kind": "open", "count": rng.choice(COUNTS), "open": rng.randrange(1, OPEN_MOST)}
            )
    return mixed
