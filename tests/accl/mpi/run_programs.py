# SPDX-License-Identifier: BSD-3-Clause
"""Script of each rank: random programs, compared with NumPy.

    mpiexec -n N python run_programs.py FIRST_SEED NUMBER [--plant] [--timeout MS]

A rank that waits for what never comes gets RECEIVE_TIMEOUT_ERROR, and the run ends with the
step at which that was: this is how a deadlock is seen. Rank 0 prints a JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from typing import Any

import numpy as np
from mpi4py import MPI

from accl import TAG_ANY, ACCLReceiveTimeoutError, accl
from tests.accl.mpi.expected import close_enough, expected, input_size, inputs, output_size
from tests.accl.mpi.pretended_hosts import pretend_hosts
from tests.accl.mpi.random_programs import (
    COMMUNICATORS,
    VECTORS,
    Step,
    make_program,
    members,
    plant_deadlock,
)


class Failed(Exception):
    """A program did not do what it should."""


def deadlock(device: Any, step: Step) -> None:
    """Receive what nobody sends."""
    rank, ranks = device.communicators[0].local_rank, len(device.communicators[0].ranks)
    if rank == step["rank"]:
        device.recv(device.allocate((4,)), 4, (rank + 1) % ranks, 4_000_000)


def messages(device: Any, step: Step, comm: int, rank: int, seed: int) -> None:
    """Do this rank's part of a set of messages."""
    count, dtype = step["count"], step["dtype"]
    sent, received = [], []
    for number, message in enumerate(step["messages"]):
        tag = TAG_ANY if message["tag"] is None else message["tag"]
        data = inputs("sendrecv", dtype, count, 1, seed + number)[0]
        if message["src"] == rank:
            buffer = device.allocate((max(count, 1),), dtype=dtype)
            buffer[:count] = data
            sent.append(
                device.send(buffer, count, message["dst"], tag, comm_id=comm, run_async=True)
            )
        if message["dst"] == rank:
            buffer = device.allocate((max(count, 1),), dtype=dtype)
            handle = device.recv(
                buffer, count, message["src"], tag, comm_id=comm, to_fpga=True, run_async=True
            )
            received.append((handle, buffer, data))
    for handle, buffer, data in received:
        handle.wait()
        buffer.sync_from_device()
        if not np.array_equal(buffer[:count], data):
            raise Failed("a message has other data than was sent")
    for handle in sent:
        handle.wait()
    device.barrier(comm_id=comm)


def collective(device: Any, step: Step, comm: int, rank: int, ranks: int, seed: int) -> None:
    """Do a collective and compare its result."""
    kind, count, dtype = step["kind"], step["count"], step["dtype"]
    if kind == "barrier":
        device.barrier(comm_id=comm)
        return
    values = inputs(kind, dtype, count, ranks, seed)
    source = device.allocate((max(input_size(kind, count, ranks), 1),), dtype=dtype)
    result = device.allocate((max(output_size(kind, count, ranks), 1),), dtype=dtype)
    source[: values[rank].size] = values[rank]
    how: dict[str, Any] = {"comm_id": comm, "run_async": step["run_async"]}
    if step["run_async"]:
        how["to_fpga"] = True
    root, func = step["root"], step["func"]
    if kind == "bcast":
        handle = device.bcast(source if rank == root else result, count, root, **how)
    elif kind in ("scatter", "gather"):
        handle = getattr(device, kind)(source, result, count, root, **how)
    elif kind == "reduce":
        handle = device.reduce(source, result, count, root, func, **how)
    elif kind in ("allreduce", "reduce_scatter"):
        handle = getattr(device, kind)(source, result, count, func, **how)
    else:
        handle = getattr(device, kind)(source, result, count, **how)
    if handle is not None:
        handle.wait()
        result.sync_from_device()
    want = expected(kind, values, count, rank, root, func)
    if want is None or (kind == "bcast" and rank == root):
        return
    if not close_enough(kind, np.array(result[: want.size]), want, ranks, False):
        raise Failed(f"{kind} gave a wrong result")


def vectors(device: Any, step: Step, comm: int, rank: int, ranks: int, seed: int) -> None:
    """Do a call with a count for each rank and compare its result."""
    kind, counts, root = step["kind"], step["counts"], step["root"]
    parts = [inputs(kind, step["dtype"], counts[i], 1, seed + i)[0] for i in range(ranks)]
    whole = np.concatenate(parts)

    def filled(values: Any) -> Any:
        buffer = device.allocate((len(values),), dtype=step["dtype"])
        buffer[:] = values
        return buffer

    own, every = filled(parts[rank]), filled(np.zeros_like(whole))
    if kind == "sendrecv":
        to, source = (rank + 1) % ranks, (rank - 1) % ranks
        got, want = filled(np.zeros_like(parts[source])), parts[source]
        device.sendrecv(own, to, got, source, comm_id=comm)
    elif kind == "gatherv":
        got, want = every, whole if rank == root else np.zeros_like(whole)
        device.gatherv(own, every, counts, root=root, comm_id=comm)
    elif kind == "scatterv":
        got, want = filled(np.zeros_like(parts[rank])), parts[rank]
        device.scatterv(filled(whole), got, counts, root=root, comm_id=comm)
    else:
        got, want = every, whole
        device.allgatherv(own, every, counts, comm_id=comm)
    if not np.array_equal(got, want):
        raise Failed(f"{kind} gave a wrong result")


def run_program(device: Any, comms: list[int], program: list[Step], seed: int) -> None:
    """Do every step that this rank takes part in."""
    rank, ranks = device.communicators[0].local_rank, len(device.communicators[0].ranks)
    for number, step in enumerate(program):
        try:
            if step["kind"] == "lonely":
                deadlock(device, step)
                continue
            group = members(step["comm"], ranks)
            if rank not in group:
                continue
            comm, inside = comms[step["comm"]], group.index(rank)
            if step["kind"] == "renew":
                device.free_communicator(comm)
                comms[step["comm"]] = device.split_communicator(group)
            elif step["kind"] in VECTORS:
                vectors(device, step, comm, inside, len(group), seed + number)
            elif step["kind"] == "messages":
                messages(device, step, comm, inside, seed + number)
            else:
                collective(device, step, comm, inside, len(group), seed + number)
        except ACCLReceiveTimeoutError as error:
            raise Failed(f"deadlock in step {number} ({step['kind']}): {error}") from error


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("number", type=int)
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--timeout", type=int, default=60_000)
    options = parser.parse_args()
    world = MPI.COMM_WORLD
    pretend_hosts(world)
    warnings.filterwarnings("ignore", "zero size buffer")
    device = accl.from_comm(world, bufsize=4096)
    device.set_timeout(options.timeout)
    comms = [0]
    for comm in range(1, COMMUNICATORS):
        group = members(comm, world.size)
        comms.append(device.split_communicator(group) if world.rank in group else -1)
    problem = None
    for seed in range(options.first, options.first + options.number):
        program = make_program(seed, world.size)
        if options.plant:
            program = plant_deadlock(program, world.size, seed)
        try:
            run_program(device, comms, program, seed)
        except Exception as error:
            problem = f"seed {seed}, rank {world.rank}: {type(error).__name__}: {error}"
            break
    problems = world.gather(problem)
    device.deinit()
    if problems is not None:
        failures = [text for text in problems if text is not None]
        print(json.dumps({"programs": options.number, "failures": failures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
