# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: random programs of accl's and mpi4py's calls.

    mpiexec -n N python run_mixed.py FIRST_SEED NUMBER LIMIT

A program that does not end within LIMIT seconds is a deadlock: each rank prints where it is, and
the job ends. Rank 0 prints a JSON object.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import accl
from tests.accl.mpi.mixed_programs import make_mixed_program
from tests.accl.mpi.pretended_hosts import pretend_hosts
from tests.accl.mpi.random_programs import COMMUNICATORS, Step, members
from tests.accl.mpi.run_programs import Failed, run_program

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
ALL = list(range(RANKS))
# Turns of a loop that keeps the interpreter's lock for some milliseconds.
BUSY = 100_000

# Function that ends a request: waits, and checks what it gave.
Finish = Callable[[], None]


def require(right: object, what: str) -> None:
    if not right:
        raise Failed(what)


def objects(step: Step, seed: int) -> None:
    """Make a collective of Python objects."""
    name, root = step["name"], step["root"]
    mine = {"rank": RANK, "seed": seed}
    everyone = [{"rank": rank, "seed": seed} for rank in ALL]
    if name == "allreduce":
        require(WORLD.allreduce((RANK, seed), MPI.MAX) == (RANKS - 1, seed), name)
    elif name == "bcast":
        require(WORLD.bcast(mine if root == RANK else None, root) == everyone[root], name)
    elif name == "gather":
        require(WORLD.gather(mine, root) == (everyone if root == RANK else None), name)
    elif name == "allgather":
        require(WORLD.allgather(mine) == everyone, name)
    elif name == "alltoall":
        require(WORLD.alltoall([(RANK, to) for to in ALL]) == [(at, RANK) for at in ALL], name)
    else:
        require(WORLD.scatter(everyone if root == RANK else None, root) == mine, name)


def communicator(step: Step) -> None:
    """Make a communicator, use it once, and free it."""
    if step["what"] == "dup":
        made, group = WORLD.Dup(), ALL
    else:
        made = WORLD.Split(RANK % 2, RANK)
        group = [rank for rank in ALL if rank % 2 == RANK % 2]
    require(made.allgather(RANK) == group, step["what"])
    made.Free()


def iallreduce(step: Step) -> Finish:
    source = np.full(step["count"], RANK + 1, "i8")
    result = np.zeros_like(source)
    request = WORLD.Iallreduce(source, result, MPI.SUM)

    def finish() -> None:
        request.Wait()
        require(np.all(result == RANKS * (RANKS + 1) // 2), "iallreduce")

    return finish


def window(step: Step) -> None:
    """Put something into the next rank's memory, in an epoch of all or of one."""
    made = MPI.Win.Allocate(8, 8, comm=WORLD)
    memory = np.frombuffer(made.tomemory(), "i8")
    memory[0] = -1
    value = np.array([RANK], "i8")
    following = (RANK + 1) % RANKS
    if step["what"] == "window":
        made.Fence()
        made.Put(value, following)
        made.Fence()
    else:
        WORLD.Barrier()
        made.Lock(following)
        made.Put(value, following)
        made.Unlock(following)
        WORLD.Barrier()
        made.Lock(RANK)
        made.Sync()
        made.Unlock(RANK)
    right = memory[0] == (RANK - 1) % RANKS
    del memory
    made.Free()
    require(right, step["what"])


def messages(step: Step) -> Finish:
    source = np.full(step["count"], RANK, "i8")
    result = np.empty_like(source)
    before = (RANK - 1) % RANKS
    requests = [
        WORLD.Irecv(result, before, 77),
        WORLD.Isend(source, (RANK + 1) % RANKS, 77),
    ]

    def finish() -> None:
        MPI.Request.Waitall(requests)
        require(np.all(result == before), "messages")

    return finish


def mpi_step(step: Step, seed: int) -> Finish | None:
    """Make a call of mpi4py; give what ends it, if it stays open."""
    what = step["what"]
    if what == "objects":
        objects(step, seed)
    elif what in ("dup", "split"):
        communicator(step)
    elif what == "iallreduce":
        return iallreduce(step)
    elif what == "ibarrier":
        return WORLD.Ibarrier().Wait
    elif what in ("window", "lock"):
        window(step)
    elif what == "messages":
        return messages(step)
    elif step["root"] == RANK:
        sum(range(BUSY))
    return None


def open_call(device: Any, step: Step) -> Finish:
    """Start a collective of accl that stays open."""
    count = step["count"]
    source, result = device.allocate((count,)), device.allocate((count,))
    source[:] = RANK + 1
    handle = device.allreduce(source, result, count, 0, run_async=True)

    def finish() -> None:
        handle.wait()
        result.sync_from_device()
        require(np.all(result == RANKS * (RANKS + 1) // 2), "open allreduce")

    return finish


def run_mixed(device: Any, comms: list[int], program: list[Step], seed: int) -> None:
    """Do every step that this rank takes part in, and end requests when their time has come."""
    opened: list[tuple[int, Finish]] = []
    for number, step in enumerate(program):
        finish: Finish | None = None
        if step["kind"] == "mpi":
            finish = mpi_step(step, seed)
        elif step["kind"] == "open":
            finish = open_call(device, step)
        else:
            run_program(device, comms, [step], seed + number)
        if finish is not None:
            opened.append((number + step["open"], finish))
        for entry in [entry for entry in opened if entry[0] <= number]:
            entry[1]()
            opened.remove(entry)
    for _, last in opened:
        last()


def main() -> int:
    first, number, limit = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    pretend_hosts(WORLD)
    warnings.filterwarnings("ignore", "zero size buffer")
    device = accl.from_comm(WORLD, bufsize=4096)
    comms = [0]
    for comm in range(1, COMMUNICATORS):
        group = members(comm, RANKS)
        comms.append(device.split_communicator(group) if RANK in group else -1)
    problem = None
    for seed in range(first, first + number):
        faulthandler.dump_traceback_later(limit, exit=True)
        try:
            run_mixed(device, comms, make_mixed_program(seed, RANKS), seed)
        except Exception as error:
            # The others may wait for this rank in MPI, which knows no deadline.
            problem = f"seed {seed}, rank {RANK}: {type(error).__name__}: {error}"
            print(problem, file=sys.stderr, flush=True)
            WORLD.Abort(1)
    faulthandler.cancel_dump_traceback_later()
    device.deinit()
    if RANK == 0:
        print(json.dumps({"programs": number}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
