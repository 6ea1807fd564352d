# SPDX-License-Identifier: BSD-3-Clause
"""Measure what many ranks on one host cost, and estimate what many hosts would.

Ranks are processes that find each other by the name of a job. Each checks its results and says
how much memory it has. The estimate for hosts is no measurement: packets that MPI carries between
2 to 8 ranks of this host are timed, a line is laid through the times over the number of ranks (all
packet collectives go round a ring), and continued. A network adds its own latency for each step.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.harness import Report, Sample, arguments

RANKS = (1, 2, 4, 8, 16, 32)
PACKET_RANKS = (2, 3, 4, 8)
ESTIMATED = (16, 64, 256)
COUNT = 16384  # float32: 64 KiB
LIMIT_S = 300


def resident_kib() -> int:
    """Give the memory that this process has touched, that of other ranks too, without files."""
    found = 0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(("RssAnon:", "RssShmem:")):
            found += int(line.split()[1])
    return found


def run_rank(options: argparse.Namespace) -> dict[str, Any]:
    """Be one rank: check every collective once, and time three of them."""
    from accl import accl

    before = resident_kib()
    if options.job is None:
        from mpi4py import MPI

        device = accl.from_comm(MPI.COMM_WORLD, unified=True, bufsize=65536)
    else:
        device = accl(options.ranks, options.rank, unified=True, bufsize=65536, job=options.job)
    world = device.communicators[0]
    rank, ranks = world.local_rank, len(world.ranks)
    device.set_timeout(LIMIT_S * 1000)
    a, r = device.allocate((COUNT,)), device.allocate((COUNT,))
    each, all_ = device.allocate((ranks,)), device.allocate((ranks,))
    a[:], each[:] = rank + 1, np.arange(ranks) + 100 * rank
    device.allreduce(a, r)
    right = bool(np.all(r == ranks * (ranks + 1) // 2))
    device.alltoall(each, all_, 1)
    right &= bool(np.array_equal(all_, rank + 100 * np.arange(ranks)))
    memory = resident_kib() - before
    times = {}
    for name, call in (
        ("barrier", device.barrier),
        ("allreduce 4 B", lambda: device.allreduce(a, r, 1)),
        ("allreduce 64 KiB", lambda: device.allreduce(a, r, COUNT)),
    ):
        values = []
        for _ in range(options.rounds):
            device.barrier()
            begin = time.perf_counter()
            call()
            values.append((time.perf_counter() - begin) * 1e6)
        times[name] = statistics.median(values)
    allocated = device.memory_info()["allocated"]
    device.barrier()
    device.deinit()
    return {"right": right, "memory_kib": memory, "allocated": allocated, "times": times}


def answers_of(commands: list[list[str]], **environment: str) -> list[dict[str, Any]]:
    """Run processes; give the JSON lines that they print."""
    started = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        for command in commands
    ]
    answers = []
    for process in started:
        out, _ = process.communicate(timeout=LIMIT_S)
        if process.returncode != 0:
            raise RuntimeError(f"a rank ended with status {process.returncode}")
        # A launcher may put the lines of its ranks together.
        out = out.strip()
        while out:
            answer, end = json.JSONDecoder().raw_decode(out)
            answers.append(answer)
            out = out[end:].lstrip()
    if not all(answer["right"] for answer in answers):
        raise RuntimeError("a rank has wrong results")
    return answers


def add_rows(report: Report, ranks: int, answers: list[dict[str, Any]], prefix: str) -> None:
    for name in answers[0]["times"]:
        sample = Sample.of([answer["times"][name] for answer in answers])
        report.add(f"{prefix}{name}", sample, "us", x=ranks, label=f"{prefix}{name}, {ranks} ranks")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--job")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    options.rounds = options.rounds or (20 if options.quick else 200)
    program = [sys.executable, str(Path(__file__).resolve()), "--rounds", str(options.rounds)]
    if options.rank is not None:
        print(json.dumps(run_rank(options)))
        return 0
    report = Report("accl_scaling", (__doc__ or "").splitlines()[0])
    report.section("ranks on this host, unified memory")
    for ranks in RANKS[:4] if options.quick else RANKS:
        job = f"scaling-{uuid.uuid4().hex}"
        words = [*program, "--job", job, "--ranks", str(ranks), "--rank"]
        answers = answers_of([[*words, str(rank)] for rank in range(ranks)])
        add_rows(report, ranks, answers, "")
        for key, unit, scale in (("memory_kib", "MiB", 1024), ("allocated", "MiB", 1 << 20)):
            sample = Sample.of([answer[key] / scale for answer in answers])
            name = "touched memory" if key == "memory_kib" else "allocated memory"
            report.add(name, sample, unit, x=ranks, label=f"{name}, {ranks} ranks")
    estimate(report, program, PACKET_RANKS[:2] if options.quick else PACKET_RANKS)
    report.finish(options.json)
    return 0


def estimate(report: Report, program: list[str], measured: tuple[int, ...]) -> None:
    """Time packets on this host, and continue the line."""
    launcher = Path(sys.executable).parent / "mpiexec"
    if not launcher.exists():
        report.skip("packets", f"{launcher} is not there: install offchip with the extra mpi")
        return
    report.section("packets that MPI carries, on this host")
    times: dict[str, list[float]] = {}
    for ranks in measured:
        command = [str(launcher), "-n", str(ranks), *program, "--rank", "0"]
        answers = answers_of([command], ACCL_TRANSPORT="packets")
        add_rows(report, ranks, answers, "packets, ")
        for name in answers[0]["times"]:
            slowest = max(answer["times"][name] for answer in answers)
            times.setdefault(name, []).append(slowest)
    print("\n# estimate for one rank on each host, if a step costs what it does on this one")
    for name, values in times.items():
        slope, start = np.polyfit(measured, values, 1)
        text = ", ".join(f"{n} hosts {(start + slope * n) / 1e3:.1f} ms" for n in ESTIMATED)
        print(f"# {name}: {slope:.0f} us a rank; {text}")


if __name__ == "__main__":
    sys.exit(main())
