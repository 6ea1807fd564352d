# SPDX-License-Identifier: BSD-3-Clause
"""What each rank runs: packets of many sizes from all to all, through the pump alone.

mpiexec -n N python run_pump.py LEVEL {finalize,exit,fail}
"""

from __future__ import annotations

import collections
import json
import os
import sys
import threading
import time

import mpi4py

LEVEL, END = sys.argv[1:]
mpi4py.rc.thread_level = LEVEL

from mpi4py import MPI  # noqa: E402

from accl.mpi_pump import PacketPump  # noqa: E402

PACKETS = 200
LIMIT_S = 60.0


def packet(rank: int, number: int) -> bytes:
    """Make a packet: who sent it, its number, and up to 70 kB of filling."""
    return f"{rank}:{number}".encode().ljust(8 + number * 997 % 70_000, b".")


class Queue:
    """What an engine would have: packets that leave, and those that arrived."""

    def __init__(self, ranks: int) -> None:
        self.leaving: collections.deque[tuple[int, bytes]] = collections.deque()
        self.arrived: list[list[bytes]] = [[] for _ in range(ranks)]
        self.gone: list[tuple[int, str]] = []

    def take(self) -> tuple[int, bytes] | None:
        return self.leaving.popleft() if self.leaving else None

    def deliver(self, rank: int, data: bytearray) -> None:
        if END == "fail":
            raise ValueError("planted")
        self.arrived[rank].append(bytes(data))

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        return bool(self.leaving)

    def busy(self) -> bool:
        return bool(self.leaving)

    def lost(self, rank: int, why: str) -> None:
        self.gone.append((rank, why))

    def farewell(self) -> None:
        pass


def fail(world: MPI.Comm) -> None:
    """Have the thread of every rank fail, and see what the engine is told."""
    queue = Queue(world.size)
    pump = PacketPump(world, queue)
    queue.leaving.extend((to, b"x") for to in range(world.size))
    deadline = time.monotonic() + LIMIT_S
    while len(queue.gone) < world.size - 1 and time.monotonic() < deadline:
        time.sleep(1e-3)
    others = [rank for rank in range(world.size) if rank != world.rank]
    text = "packets are no longer carried: planted"
    problems = [] if queue.gone == [(rank, text) for rank in others] else [repr(queue.gone)]
    try:
        pump.turn()
        problems.append("turn() does not raise the error")
    except ValueError:
        pass
    everywhere = world.gather(problems)
    if everywhere is not None:
        print(json.dumps([text for part in everywhere for text in part]), flush=True)
    # What is left in MPI cannot be delivered, so nobody finalizes. A launcher ends all ranks when
    # one leaves so: none does before the result is printed.
    world.Barrier()
    os._exit(0)


def main() -> None:
    if END == "fail":
        fail(MPI.COMM_WORLD)
    world = MPI.COMM_WORLD
    rank, ranks = world.rank, world.size
    queue = Queue(ranks)
    leaving, arrived = queue.leaving, queue.arrived
    pump = PacketPump(world, queue)
    leaving.extend((to, packet(rank, k)) for k in range(PACKETS) for to in range(ranks))
    deadline = time.monotonic() + LIMIT_S
    while sum(map(len, arrived)) < PACKETS * ranks and time.monotonic() < deadline:
        if not pump.turn():
            time.sleep(1e-5)
    problems = [
        f"rank {rank}: {len(got)} packets of {source}, or in another order"
        for source, got in enumerate(arrived)
        if got != [packet(source, k) for k in range(PACKETS)]
    ]
    if pump.any_thread != (LEVEL == "multiple"):
        problems.append(f"rank {rank}: any_thread is {pump.any_thread}")
    if not pump.any_thread:
        said = []
        other = threading.Thread(target=lambda: said.append(pump.turn()))
        leaving.append((rank, b"left alone"))
        other.start()
        other.join()
        if said != [False] or len(leaving) != 1:
            problems.append(f"rank {rank}: another thread turned the pump")
        leaving.clear()
    everywhere = world.gather(problems)
    if everywhere is not None:
        print(json.dumps([text for part in everywhere for text in part]), flush=True)
    if END == "finalize":
        MPI.Finalize()
        assert pump.stopped
        assert not any(thread.name == "accl-mpi" for thread in threading.enumerate())


main()
