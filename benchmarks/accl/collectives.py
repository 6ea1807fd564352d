# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long collectives take on one host, beside the same of MPICH and Open MPI.

Two MPIs cannot share a process: jobs of accl and of each MPI take turns, cell after cell, and a
cell is the median over the rounds, of times and of ratios. accl starts with the MPI of this
interpreter's environment; ``--mpich`` and ``--openmpi`` name the interpreters of environments that
have mpi4py and that MPI. The baseline of a cell is the quicker MPI; the ratio of 0.5 means half its
time.

``--transport packets`` has all ranks reach each other as if they were on different hosts, through
MPI. The baseline is then mpi4py with the same MPI, and there are rows on what that costs the rest
of the program.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

from benchmarks.accl.jobs import Job, Times, geometric_mean, measure, median_ratio
from benchmarks.accl.operations import COPY
from benchmarks.accl.packets import measure_packets
from benchmarks.harness import Report, Sample, arguments, size_name

SIZES = [4, 64, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
QUICK_SIZES = [4, 1024, 65536, 1 << 20]
# Median targets in microseconds for two ranks.
AT_MOST = {("allreduce", 4): 0.9, ("barrier", 0): 0.4}
SLOWEST_RATIO = 1.1
FLOOR_FROM = 1 << 20
FLOOR_RATIO = 1.5
PACKETS_MOST = 4 << 20


def copies(operation: str, ranks: int) -> tuple[float, int]:
    """Say what memory an operation must move at least.

    Parameters
    ----------
    operation : str
        As in `operations.py`.
    ranks : int
        How many take part.

    Returns
    -------
    tuple
        The number of copies of the count, where a copy reads and writes it, and a reduction's
        read or write is half of one; and how many ranks can share them.
    """
    total = {
        "pingpong": 1,
        "bcast": ranks - 1,
        "scatter": ranks,
        "gather": ranks,
        "allgather": ranks * ranks,
        "reduce": (ranks + 1) / 2,
        "allreduce": ranks,
        "reduce_scatter": ranks * (ranks + 1) / 2,
    }[operation]
    return total, {"pingpong": 1, "bcast": ranks - 1}.get(operation, ranks)


def add_rows(report: Report, times: dict[str, Times], ranks: int) -> list[float]:
    """Add a row for each cell; give the ratios to the quicker MPI."""
    ratios = []
    incumbents = [name for name in ("mpich", "openmpi") if name in times]
    cores = len(os.sched_getaffinity(0))
    for cell in sorted(times["unified"]):
        operation, size = cell
        sample = Sample.of(times["unified"][cell])
        known = [times[name][cell] for name in incumbents if cell in times[name]]
        best = min(known, key=statistics.median) if known else None
        ratio = median_ratio(times["unified"][cell], best) if best else None
        extra = {
            name: Sample.of(times[name][cell]).median
            for name in (*incumbents, "separate")
            if cell in times[name]
        }
        limits = [AT_MOST[cell]] if ranks == 2 and cell in AT_MOST else []
        if ratio is not None and not limits:
            limits.append(sample.median / ratio * SLOWEST_RATIO)
        if size >= FLOOR_FROM:
            total, sharers = copies(operation, ranks)
            sharers = min(sharers, cores)
            one = times["copy alone" if sharers == 1 else "copies"][COPY, size]
            extra["floor"] = Sample.of(one).median * total / sharers
            limits.append(extra["floor"] * FLOOR_RATIO)
        report.add(
            f"{operation}, {ranks} ranks",
            sample,
            "us",
            x=float(size),
            label=f"{operation} {size_name(size) if size else ''}",
            baseline=Sample.of(best) if best else None,
            ratio=ratio,
            at_most=min(limits, default=None),
            **extra,
        )
        if ratio is not None:
            ratios.append(ratio)
    return ratios


def measure_shared(
    report: Report, options: argparse.Namespace, sizes: list[int], rounds: int, budget: float
) -> None:
    """Compare shared memory with both MPIs."""
    cores = len(os.sched_getaffinity(0))
    for ranks in options.ranks:
        jobs = {
            "copy alone": Job(options.mpich, "floor", 1, (COPY,)),
            "copies": Job(options.mpich, "floor", min(ranks, cores), (COPY,)),
            "unified": Job(sys.executable, "unified", ranks),
            "mpich": Job(options.mpich, "mpi", ranks),
            "separate": Job(sys.executable, "separate", ranks),
        }
        if options.openmpi:
            jobs["openmpi"] = Job(options.openmpi, "mpi", ranks)
        times, versions = measure(jobs, sizes, rounds, budget)
        report.environment |= versions
        report.section(f"{ranks} ranks, unified memory", "the quicker MPI")
        ratios = add_rows(report, times, ranks)
        if ratios:
            slower = sum(ratio > SLOWEST_RATIO for ratio in ratios)
            print(
                f"# {ranks} ranks: geometric mean of the ratios {geometric_mean(ratios):.2f}, "
                f"worst {max(ratios):.2f}, {slower} of {len(ratios)} cells above {SLOWEST_RATIO}"
            )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--mpich", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--openmpi", metavar="PYTHON")
    parser.add_argument("--transport", choices=("shared", "packets"), default="shared")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--sizes", type=int, nargs="+", help="bytes of a call's count")
    parser.add_argument("--rounds", type=int, help="5 unless --quick")
    parser.add_argument("--budget", type=float, help="seconds for a cell of a round")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    budget = options.budget or (0.02 if options.quick else 0.2)
    packets = options.transport == "packets"
    most = PACKETS_MOST if packets else max(SIZES)
    sizes = options.sizes or (QUICK_SIZES if options.quick else [s for s in SIZES if s <= most])
    name = "accl_packets" if packets else "accl_collectives"
    report = Report(name, (__doc__ or "").splitlines()[0])
    if not options.openmpi:
        report.skip("Open MPI", "no --openmpi PYTHON was given")

    if packets:
        pythons = {"mpich": options.mpich, "openmpi": options.openmpi}
        for mpi, python in pythons.items():
            if python:
                measure_packets(report, mpi, python, options.ranks, sizes, rounds, budget)
    else:
        measure_shared(report, options, sizes, rounds, budget)

    report.finish(options.json)


if __name__ == "__main__":
    main()
