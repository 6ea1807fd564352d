# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: random programs of several threads and communicators.

    mpiexec -n N python run_interleaved.py FIRST_SEED NUMBER [--deadlocks] [--timeout MS]

Programs that the model expects to end must end, and give each receive the message that the model
says. With --deadlocks only those that it expects not to end are run, each of which must be seen as
a deadlock. Rank 0 prints a JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import TAG_ANY, ACCLError, accl
from tests.accl.mpi.interleaved import (
    ANY,
    COMMUNICATORS,
    Program,
    Step,
    collectives_agree,
    expect,
    make_program,
    members,
)

SHORT, LARGE = 500, 40_000
BUFSIZE = 4096


class Runner:
    """One rank's part of a program."""

    def __init__(self, device: Any, comms: list[int], rank: int, ranks: int) -> None:
        self.device, self.comms, self.rank, self.ranks = device, comms, rank, ranks
        self.handles: dict[int, Any] = {}
        self.buffers: dict[int, Any] = {}
        self.problems: list[str] = []

    def make(self, step: Step) -> None:
        """Start or make a call."""
        call, device = step.call, self.device
        later = step.what == "start"
        how: dict[str, Any] = {"comm_id": self.comms[call.comm], "run_async": later}
        if call.kind == "barrier":
            device.barrier(comm_id=self.comms[call.comm])
            return
        tag = TAG_ANY if call.tag == ANY else call.tag
        count = LARGE if call.large else SHORT
        source = device.allocate((count,), dtype=np.int32)
        source[:] = call.number
        if call.kind == "send":
            handle = device.send(source, count, call.other, tag, **how)
        elif call.kind == "recv":
            self.buffers[id(call)] = source
            handle = device.recv(source, count, call.other, tag, to_fpga=later, **how)
        else:
            group = members(call.comm, self.ranks)
            result = device.allocate((count * len(group),), dtype=np.int32)
            method = getattr(device, call.kind)
            handle = method(source, result, count, to_fpga=later, **how)
        self.handles[id(call)] = handle

    def run(self, steps: list[Step]) -> None:
        """Do the steps of a thread."""
        try:
            for step in steps:
                if step.what == "wait":
                    self.handles[id(step.call)].wait()
                else:
                    self.make(step)
        except ACCLError as error:
            self.problems.append(f"{step.what} of {step.call}: {error}")

    def check(self, program: Program, taken: dict[int, int]) -> None:
        """Compare what was received with what the model says."""
        for call, buffer in ((c, self.buffers.get(id(c))) for c in calls_of(program[self.rank])):
            if buffer is None:
                continue
            buffer.sync_from_device()
            if not (buffer == taken[id(call)]).all():
                self.problems.append(f"{call} received {buffer[0]}, not {taken[id(call)]}")


def calls_of(threads: list[list[Step]]) -> list[Any]:
    """List the calls of a rank."""
    return [step.call for steps in threads for step in steps if step.what != "wait"]


def open_device(world: Any, timeout: int) -> tuple[Any, list[int]]:
    """Open a device with all communicators."""
    device = accl.from_comm(world, bufsize=BUFSIZE)
    device.set_timeout(timeout)
    comms = [0]
    for comm in range(1, COMMUNICATORS):
        group = members(comm, world.size)
        comms.append(device.split_communicator(group) if world.rank in group else -1)
    return device, comms


def run_program(device: Any, comms: list[int], program: Program, taken: Any, world: Any) -> Any:
    """Run a program; what went wrong here."""
    runner = Runner(device, comms, world.rank, world.size)
    threads = [threading.Thread(target=runner.run, args=(steps,)) for steps in program[world.rank]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if taken is not None and not runner.problems:
        runner.check(program, taken)
    return runner.problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("number", type=int)
    parser.add_argument("--deadlocks", action="store_true")
    parser.add_argument("--timeout", type=int, default=30_000)
    options = parser.parse_args()
    world = MPI.COMM_WORLD
    failures: list[str] = []
    device, comms = open_device(world, options.timeout)
    seed, done = options.first, 0
    while done < options.number and not failures:
        program = make_program(seed, world.size)
        taken = expect(program)
        seed += 1
        if not collectives_agree(program) or (taken is None) != options.deadlocks:
            continue
        done += 1
        gathered = world.allgather(run_program(device, comms, program, taken, world))
        problems = [f"seed {seed - 1}, {text}" for texts in gathered for text in texts]
        if not options.deadlocks:
            failures += problems
            continue
        if not any("TIMEOUT" in text for text in problems):
            failures.append(f"seed {seed - 1}: no deadlock was seen: {problems}")
        device.deinit()
        world.barrier()
        device, comms = open_device(world, options.timeout)
    device.deinit()
    if world.rank == 0:
        print(json.dumps({"programs": done, "failures": failures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
