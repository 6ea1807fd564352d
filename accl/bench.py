# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast accl is on this machine: ``python -m accl.bench``.

Two ranks, which are processes of this module, find each other by the name of a job.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from accl import ACCLReduceFunctions, accl
from accl.launch import run_together
from offchip.measurements import ROUNDS, Measurement, Series, compare, main

__all__ = ["SERIES"]

RANKS = 2
STARTS = 3
DEADLINE = 60.0
SIZES = (4, 4 << 10, 64 << 10, 1 << 20)


def _measure(device: accl) -> Iterator[Measurement]:
    """Measure calls of all ranks beside a sum in each rank's own memory."""
    for size in SIZES:
        count = size // 4
        mine, total = device.allocate((count,), np.float32), device.allocate((count,), np.float32)
        mine[:] = 1
        mine.sync_to_device()
        out = np.empty(count, np.float32)
        plain = np.ones(count, np.float32)
        calls: dict[str, Callable[[], object]] = {
            "allreduce, 2 ranks": partial(
                device.allreduce,
                mine,
                total,
                count,
                ACCLReduceFunctions.SUM,
                from_fpga=True,
                to_fpga=True,
            ),
            "bcast, 2 ranks": partial(device.bcast, mine, count, 0, from_fpga=True, to_fpga=True),
        }
        for name, work in calls.items():
            yield compare(
                name,
                work,
                partial(np.add, plain, plain, out),
                against="numpy.add of as much",
                x=size,
                x_unit="B",
                repeat=max(20, min(500, (8 << 20) // size)),
                rounds=ROUNDS,
            )


def _run_rank(options: argparse.Namespace) -> int:
    with accl(RANKS, options.rank, job=options.job) as device:
        for item in _measure(device):
            if options.rank == 0:
                print(json.dumps(item._asdict()), flush=True)
    return 0


def _best_of_starts() -> Iterator[Measurement]:
    """Start the ranks several times: on which cores they come to run makes a difference."""
    rounds = [list(_ranks()) for _ in range(STARTS)]
    for items in zip(*rounds, strict=True):
        yield min(items, key=lambda item: item.ratio)


def _ranks() -> Iterator[Measurement]:
    """Start the ranks, and pass on what rank 0 measured."""
    job = f"bench-{uuid.uuid4().hex}"
    command = [sys.executable, "-P", "-m", "accl.bench", "--job", job, "--rank"]
    printed = run_together([[*command, str(rank)] for rank in range(RANKS)], timeout=DEADLINE)
    for line in printed[0].splitlines():
        yield Measurement(**json.loads(line))


SERIES: tuple[Series, ...] = (_best_of_starts,)


def _main() -> int:
    if "--job" not in sys.argv[1:]:
        return main("accl", SERIES)
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", required=True)
    parser.add_argument("--rank", type=int, required=True)
    return _run_rank(parser.parse_args())


if __name__ == "__main__":
    sys.exit(_main())
