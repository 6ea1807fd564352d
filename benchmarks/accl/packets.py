# SPDX-License-Identifier: BSD-3-Clause
"""The rows of ``collectives.py --transport packets``: accl through MPI, beside mpi4py itself."""

from __future__ import annotations

import os

from benchmarks.accl.jobs import Job, Times, geometric_mean, measure
from benchmarks.harness import ROOT, Report, Sample, size_name

# Targets, as ratios to what mpi4py takes with the same MPI; by number of ranks.
MEAN_RATIO = {2: 1.2, 4: 1.5}
WORST_RATIO = 1.6
WORST_ORDERED_RATIO = 2.0
ORDERED_FROM = 1 << 20
CPU_RATIO = 2.0
OWN_RATIO = 1.5
ORDERED = ("reduce", "allreduce", "reduce_scatter")
# Cells that are not times of an operation of both.
COSTS = {"barrier cpu": CPU_RATIO, "own allreduce": OWN_RATIO}


def limit_of(operation: str, size: int, ranks: int) -> float | None:
    """Give the target of a cell."""
    if operation in COSTS:
        return COSTS[operation] if ranks == 2 or operation == "barrier cpu" else None
    if ranks != 2:
        return None
    slow = operation in ORDERED and size >= ORDERED_FROM
    return WORST_ORDERED_RATIO if slow else WORST_RATIO


def add_rows(report: Report, times: dict[str, Times], ranks: int, mpi: str) -> None:
    """Add a row for each cell, and say what the ratios are as a whole."""
    ratios: dict[tuple[str, int], float] = {}
    for cell in sorted(times["packets"]):
        operation, size = cell
        sample = Sample.of(times["packets"][cell])
        base = Sample.of(times["mpi"][cell])
        limit = limit_of(operation, size, ranks)
        report.add(
            f"{operation}, {ranks} ranks, {mpi}",
            sample,
            "us",
            x=float(size),
            label=f"{operation} {size_name(size) if size else ''}",
            baseline=base,
            at_most=None if limit is None else base.median * limit,
        )
        if operation not in COSTS:
            ratios[cell] = sample.median / base.median

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
    for ranks in rank_counts:
        jobs = {
            "mpi": Job(python, "mpi", ranks, ("--costs",), env),
            "packets": Job(
                python, "unified", ranks, ("--costs",), env | {"ACCL_TRANSPORT": "packets"}
            ),
        }
        times, versions = measure(jobs, sizes, rounds, budget)
        report.environment[mpi] = versions["mpi"]
        report.section(f"{ranks} ranks, packets through {mpi}", "mpi4py with the same MPI")
        add_rows(report, times, ranks, mpi)
