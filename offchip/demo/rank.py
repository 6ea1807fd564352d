# SPDX-License-Identifier: BSD-3-Clause
"""Work of a rank of the demonstration: ``python -m offchip.demo.rank``.

It counts the bytes of its share of a text on its DPUs, adds its counts to those of the other ranks,
and on rank 0 a Vector Engine finds the code. Rank 0 prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import veo
from accl import ACCLReduceFunctions, accl
from dpu import DpuSet
from offchip.demo.plan import BYTES_PER_DPU, DPUS, read_text

ROUNDS, CALLS = 100, 10


class Clock:
    """Times of the stages, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    def calls(self, name: str, call: Callable[[], object]) -> None:
        """Time a short call as its prediction is made: ten together, in the fastest round."""
        rounds = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            rounds.append(time.perf_counter() - start)
        self.seconds[name] = min(rounds) / CALLS


def count(program: bytes, text: np.ndarray, clock: Clock) -> tuple[np.ndarray, dict[str, float]]:
    """Count bytes on this rank's DPUs; return the counts, and what the simulator says."""
    with clock.stage("allocate DPUs, load program"):
        dpus = DpuSet(nr_dpus=DPUS, binary=program)
    with dpus:
        with clock.stage("copy text to DPUs"):
            dpus.copy("A", list(text.reshape(DPUS, BYTES_PER_DPU)))
        with clock.stage("count on DPUs"):
            dpus.exec()
        with clock.stage("copy counts from DPUs"):
            counts = np.array(dpus.H.uint32(), np.int64).sum(axis=0)
        report = dpus.report
    modelled = {} if report is None else {"count on DPUs": report.seconds}
    return counts, modelled


def find_code(library: str, counts: np.ndarray, clock: Clock) -> tuple[int, list[int]]:
    """Have a Vector Engine find Huffman's code; return the bits of the text, and of each byte."""
    lengths = np.zeros(256, np.int32)
    with veo.VeoProc(0) as proc:
        kernel = proc.load_library(library).huffman
        kernel.args_type("long *", "int *")
        kernel.ret_type("long")
        context = proc.open_context()
        arguments = (veo.OnStack(counts), veo.OnStack(lengths, inout=veo.INTENT_OUT))
        kernel(context, *arguments).wait_result()  # the first call touches fresh memory
        with clock.stage("code on the VE"):
            bits = kernel(context, *arguments).wait_result(timeout=30)
    return bits, lengths.tolist()


def open_rank(options: argparse.Namespace) -> accl:
    """Open this rank: as the launcher numbers it, or by the name of the job."""
    if options.job is not None:
        return accl(options.ranks, options.rank, job=options.job)
    from mpi4py import MPI

    return accl.from_comm(MPI.COMM_WORLD)


def main() -> int:
    """Run the rank."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--job")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()

    clock = Clock()
    with open_rank(options) as device:
        world = device.communicators[0]
        rank, ranks = world.local_rank, len(world.ranks)
        text = read_text(ranks)
        mine = np.split(text, ranks)[rank]
        counts, modelled = count(options.program.read_bytes(), mine, clock)

        source = device.allocate((256,), np.int64)
        total = device.allocate((256,), np.int64)
        source[:] = counts
        device.barrier()
        clock.calls(
            "sum over the ranks",
            lambda: device.allreduce(source, total, 256, ACCLReduceFunctions.SUM),
        )
        if rank == 0:
            bits, lengths = find_code(options.library, np.asarray(total), clock)
            result = {
                "bits": bits,
                "lengths": lengths,
                "counts": total.tolist(),
                "seconds": clock.seconds,
                "modelled": modelled,
                "mpi": options.job is None,
            }
            print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
