# SPDX-License-Identifier: BSD-3-Clause
"""The rows of ``collectives.py --transport packets``: accl through MPI, beside mpi4py itself."""

from __future__ import annotations

import os

from benchmarks.accl.jobs import Job, Times, geometric_mean, measure, median_ratio
from benchmarks.accl.operations import COSTS, OPERATIONS
from benchmarks.harness import ROOT, Report, Sample, size_name

# Targets, as ratios to what mpi4py takes with the same MPI; by number of ranks.
MEAN_RATIO = {2: 1.2, 4: 1.5}
WORST_RATIO = 1.6
WORST_ORDERED_RATIO = 2.0
ORDERED_FROM = 1 << 20
CPU_RATIO = 2.0
OWN_RATIO = 1.5
ORDERED = ("reduce", "allreduce", "reduce_scatter")


def limit_of(operation: str, size: int, ranks: int) -> float | None:
    """Give the target of a cell."""
    if operation == "barrier cpu":
        return CPU_RATIO
    if ranks != 2:
        return None
    if operation == "own allreduce":
        return OWN_RATIO
    slow = operation in ORDERED and size >= ORDERED_FROM
    return WORST_ORDERED_RATIO if slow else WORST_RATIO


def add_rows(report: Report, times: dict[str, Times], ranks: int, mpi: str) -> None:
    """Add a row for each cell, and say what the ratios are as a whole."""
    ratios: dict[tuple[str, int], float] = {}
    for cell in sorted(times["packets"]):
        operation, size = cell
        sample = Sample.of(times["packets"][cell])
        base = Sample.of(times["mpi"][cell])
        ratio = median_ratio(times["packets"][cell], times["mpi"][cell])
        report.add(
            f"{operation}, {ranks} ranks, {mpi}",
            sample,
            "us",
            x=float(size),
            label=f"{operation} {size_name(size) if size else ''}",
            baseline=base,
            ratio=ratio,
            ratio_at_most=limit_of(operation, size, ranks),
        )
        if operation not in COSTS:
            ratios[cell] = ratio

    worst = max(ratios, key=lambda cell: ratios[cell])
    mean = geometric_mean(ratios.values())
    target = MEAN_RATIO.get(ranks)
    report.add(
        f"geometric mean of the ratios, {mpi}",
        Sample.of([mean]),
        "",
        x=float(ranks),
        label=f"geometric mean, {ranks} ranks",
        at_most=target,
        worst=ratios[worst],
    )
    print(f"# worst cell: {worst[0]} {size_name(worst[1])}, {ratios[worst]:.2f}")


def measure_packets(
    report: Report,
    mpi: str,
    python: str,
    rank_counts: list[int],
    sizes: list[int],
    rounds: int,
    budget: float,
) -> None:
    """Compare accl through an MPI with that MPI, for each number of ranks."""
    # The environment of the other MPI may have no accl of its own.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {"PYTHONPATH": os.pathsep.join(paths)}
    operations = (*COSTS, *OPERATIONS)
    for ranks in rank_counts:
        jobs = {
            "mpi": Job(python, "mpi", ranks, operations, env=env),
            "packets": Job(
                python, "unified", ranks, operations, env=env | {"ACCL_TRANSPORT": "packets"}
            ),
        }
        times, versions = measure(jobs, sizes, rounds, budget)
        report.environment[mpi] = versions["mpi"]
        report.section(f"{ranks} ranks, packets through {mpi}", "mpi4py with the same MPI")
        add_rows(report, times, ranks, mpi)
