# SPDX-License-Identifier: BSD-3-Clause
"""Measure how time and memory of the mapper grow with Einsums and levels of memory.

Each case is a chain of matrix products of 128 by 128 with memories of 1 MiB, 64 KiB, 4 KiB and so
on below DRAM, any of which may hold any tensor, mapped for energy in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import accelforge as af

CASES = [
    *((einsums, levels) for levels in (2, 3) for einsums in (2, 4, 8, 16, 32)),
    *((1, levels) for levels in (3, 4, 5, 6)),
    (2, 4),
    (2, 5),
]


def memory(level: int, size: float, energy: float) -> af.arch.Memory:
    """Make a memory that may hold what it likes."""
    tensors = {"keep": "~DRAM" if level == 1 else "Nothing", "may_keep": "All"}
    if level == 0:
        tensors["keep"] = "~Intermediates"
    return af.arch.Memory(
        name=f"L{level}" if level else "DRAM",
        size=size,
        area=0,
        leak_power=0,
        tensors=tensors,
        actions=[{"name": n, "energy": energy, "throughput": "inf"} for n in ("read", "write")],
    )


def spec_of(einsums: int, levels: int) -> af.Spec:
    """Make a case."""
    mac = [{"name": "compute", "energy": 0.5, "throughput": 1}]
    nodes = [
        memory(0, float("inf"), 100),
        *(memory(n, 2**23 // 16 ** (n - 1), 100 / 4**n) for n in range(1, levels)),
        af.arch.Compute(name="MAC", area=0, leak_power=0, actions=mac),
    ]
    workload = af.Spec.from_yaml(
        af.examples.workloads.basic.matmuls, N_EINSUMS=einsums, M=128, KN=128
    ).workload
    spec = af.Spec(arch=af.Arch(nodes=nodes), workload=workload)
    spec.mapper.metrics = af.Metrics.ENERGY
    return spec


def measure(einsums: int, levels: int, limit: float) -> dict[str, Any]:
    """Map a case in this process."""
    spec = spec_of(einsums, levels)
    spec.mapper.time_limit = limit
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = spec.map_workload_to_arch(print_progress=False)
    return {
        "einsums": einsums,
        "levels": levels,
        "cpu_s": time.process_time() - begin,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "proved": result.bounds is None,
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw time and memory over Einsums, and over levels."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(2, 2, figsize=(8, 5), sharey="row", layout="constrained")
    for axes, other, along in (
        (grid[:, 0], "levels", "einsums"),
        (grid[:, 1], "einsums", "levels"),
    ):
        for fixed in sorted({row[other] for row in rows}):
            line = sorted((r for r in rows if r[other] == fixed), key=lambda r: r[along])
            if len(line) < 3:
                continue
            name = {"levels": "levels", "einsums": "Einsums" if fixed > 1 else "Einsum"}[other]
            for axis, key, label in zip(
                axes, ("cpu_s", "peak_mib"), ("CPU seconds", "peak MiB"), strict=True
            ):
                axis.plot(
                    [r[along] for r in line], [r[key] for r in line], "o-", label=f"{fixed} {name}"
                )
                axis.set_yscale("log")
                axis.set_ylabel(label)
                axis.set_xlabel({"einsums": "Einsums", "levels": "levels of memory"}[along])
                axis.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    parser.add_argument("--plot", type=Path, help="draw them; needs the extra plot")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a case")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        einsums, levels = map(int, options.case.split(","))
        print(json.dumps(measure(einsums, levels, options.limit)))
        return
    rows = []
    print("einsums  levels   CPU s  peak MiB  proved")
    for einsums, levels in CASES:
        words = ["--case", f"{einsums},{levels}", "--limit", str(options.limit)]
        done = subprocess.run(
            [sys.executable, __file__, *words], stdout=subprocess.PIPE, check=True
        )
        row = json.loads(done.stdout)
        rows.append(row)
        shown = "yes" if row["proved"] else "no"
        print(
            f"{einsums:7} {levels:7} {row['cpu_s']:7.2f} {row['peak_mib']:9.0f}  {shown}",
            flush=True,
        )
    if options.plot:
        draw(rows, options.plot)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
