# SPDX-License-Identifier: BSD-3-Clause
"""Time torch.distributed's backend accl against gloo, for tensors as any program has them.

The ranks have a group of each backend, and each measurement of one is followed by one of the
other, so that both meet the same state of the machine. A measurement is the time of several calls
on the slowest rank. Results are checked before. The last lines have geometric means over
all_reduce, broadcast, all_gather and reduce_scatter.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.harness import Report, Sample, arguments

RANKS = (2, 4)
SIZES = (4096, 262_144, 16 << 20)
# Bytes that a measurement moves at least, and the number of measurements of each backend.
MOVED_BYTES, ROUNDS = 4 << 20, 15
MAIN = ("all_reduce", "broadcast", "all_gather", "reduce_scatter")
LIMIT_S = 1200


def operations(group: Any, ranks: int, nbytes: int) -> dict[str, Callable[[], Any]]:
    """Give a call of each operation; a rank's part has `nbytes` where all have parts."""
    import torch
    import torch.distributed as dist

    count = nbytes // 4
    mine, whole = torch.zeros(count), torch.zeros(count * ranks)
    part = torch.zeros(count // ranks)
    rows = list(torch.zeros(ranks, count))
    return {
        "all_reduce": lambda: dist.all_reduce(mine, group=group),
        "broadcast": lambda: dist.broadcast(mine, 0, group=group),
        "all_gather": lambda: dist.all_gather(rows, mine, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(
            part, mine[: ranks * part.numel()], group=group
        ),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(whole, mine, group=group),
        "barrier": lambda: dist.barrier(group=group),
    }


def check(group: Any, rank: int, ranks: int) -> bool:
    """Say whether the main operations give the right results."""
    import torch
    import torch.distributed as dist

    total, sent = torch.arange(1000.0) + rank, torch.full((1000,), float(rank))
    dist.all_reduce(total, group=group)
    right = torch.equal(total, ranks * torch.arange(1000.0) + sum(range(ranks)))
    rows = [torch.empty(1000) for _ in range(ranks)]
    dist.all_gather(rows, sent, group=group)
    right &= all(bool((row == number).all()) for number, row in enumerate(rows))
    part = torch.empty(1000)
    dist.reduce_scatter_tensor(part, torch.full((ranks * 1000,), float(rank)), group=group)
    right &= bool((part == sum(range(ranks))).all())
    dist.broadcast(sent, 1, group=group)
    return right and bool((sent == 1).all())


def run_rank(options: argparse.Namespace) -> dict[str, Any]:
    """Be one rank."""
    import torch
    import torch.distributed as dist

    import accl.torch

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{options.meet}", rank=options.rank, world_size=options.ranks
    )
    groups = {"gloo": dist.group.WORLD, "accl": dist.new_group(backend="accl")}
    right = all(check(group, options.rank, options.ranks) for group in groups.values())
    times: dict[str, dict[str, list[float]]] = {}
    for nbytes in SIZES:
        calls = {name: operations(group, options.ranks, nbytes) for name, group in groups.items()}
        repeats = max(1, min(100, MOVED_BYTES // nbytes))
        for operation in calls["gloo"]:
            if operation == "barrier" and nbytes != SIZES[0]:
                continue
            found = times.setdefault(f"{operation} {nbytes}", {"gloo": [], "accl": []})
            for round_ in range(options.rounds + 2):
                for name in groups:
                    call = calls[name][operation]
                    dist.barrier(groups["gloo"])
                    begin = time.perf_counter()
                    for _ in range(repeats):
                        call()
                    took = torch.tensor([(time.perf_counter() - begin) / repeats * 1e6])
                    dist.all_reduce(took, op=dist.ReduceOp.MAX, group=groups["gloo"])
                    if round_ >= 2:
                        found[name].append(took.item())
    dist.destroy_process_group()
    return {"right": right, "times": times, "version": accl.__version__}


def measure(ranks: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Run a job; give the times that its first rank has seen."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, str(Path(__file__).resolve()), "--rounds", str(rounds)]
        words += ["--ranks", str(ranks), "--meet", f"{folder}/meet", "--rank"]
        started = [
            subprocess.Popen([*words, str(rank)], stdout=subprocess.PIPE, text=True, env=os.environ)
            for rank in range(ranks)
        ]
        outputs = [process.communicate(timeout=LIMIT_S)[0] for process in started]
    if any(process.returncode for process in started):
        raise RuntimeError("a rank failed")
    answers = [json.loads(output) for output in outputs]
    if not all(answer["right"] for answer in answers):
        raise RuntimeError("a rank has wrong results")
    times: dict[str, dict[str, list[float]]] = answers[0]["times"]
    return times


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--meet")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else ROUNDS)
    if options.rank is not None:
        print(json.dumps(run_rank(options)))
        return 0
    report = Report("accl_torch_gloo", (__doc__ or "").splitlines()[0])
    means = []
    for ranks in [options.ranks] if options.ranks else RANKS[:1] if options.quick else RANKS:
        report.section(f"{ranks} ranks")
        ratios: dict[int, list[float]] = {}
        for cell, times in measure(ranks, options.rounds).items():
            operation, nbytes = cell.split()
            gloo, ours = Sample.of(times["gloo"]), Sample.of(times["accl"])
            report.add(
                f"{operation}",
                ours,
                "us",
                baseline=gloo,
                x=int(nbytes),
                label=f"{operation}, {nbytes} B, {ranks} ranks",
            )
            if operation in MAIN:
                ratio = statistics.median(times["accl"]) / statistics.median(times["gloo"])
                ratios.setdefault(int(nbytes), []).append(ratio)
        means += [
            f"# {ranks} ranks, {nbytes} B: {math.exp(statistics.mean(map(math.log, found))):.2f}"
            for nbytes, found in ratios.items()
        ]
    print("\n# time over gloo's, geometric means", *means, sep="\n")
    report.finish(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
