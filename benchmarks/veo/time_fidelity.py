# SPDX-License-Identifier: BSD-3-Clause
"""Compare the modelled time of Vector Engine code with times that were published.

The times are of loops in C on one core of a VE10B, from listings of FTRACE and veperf that
docs/veo_time.md names. The loops here do the same on vectors of the same length, by intrinsics.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

SOURCE = Path(__file__).with_name("time_kernels.c")
MEGAHERTZ = 1400


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop, and cycles for each vector of `length` elements that were measured."""

    name: str
    kernel: str
    rows: int
    strips: int
    length: int
    measured: float
    fitted: bool = False


def cycles(microseconds: float, strips: float) -> float:
    """Cycles for a vector, of which so many took that long."""
    return microseconds * MEGAHERTZ / strips


# Passes over 1000 rows of 1000 elements have 4000 vectors of 250.
LOOPS = [
    Loop("B += A", "add", 100, 4, 250, cycles(67.84, 4000), True),
    Loop("B *= A", "multiply", 100, 4, 250, cycles(67.62, 4000)),
    Loop("B += A * A", "multiply_add", 100, 4, 250, cycles(68.03, 4000)),
    Loop("B += A where A > 0", "masked", 100, 4, 250, cycles(68.69, 4000), True),
    Loop("B += A[index]", "gather", 100, 4, 250, cycles(136.0, 4000), True),
    Loop("B[index] = B + A", "scatter", 100, 4, 250, cycles(456.3, 4000), True),
    Loop("B[index] += A", "gather_scatter", 100, 4, 250, cycles(589.8, 4000)),
    Loop("sum of a million", "sum", 1, 3906, 256, 40500 / 3906, True),
    Loop("B = 0.99 * B + A, 11 elements", "scaled_sum", 651, 1, 11, cycles(8.0, 651), True),
    Loop("B = 0.5 * (B + A), 11 elements", "half_sum", 651, 1, 11, cycles(7.9, 651), True),
    Loop("B = B * B + A * A, 9 elements", "squares", 551, 1, 9, cycles(6.6, 551), True),
    Loop("B = 0.99 * B + A, collapsed", "scaled_sum", 1, 28, 256, cycles(0.617, 28)),
    Loop("B = 0.5 * (B + A), collapsed", "half_sum", 1, 28, 256, cycles(0.522, 28)),
    Loop("B += C * C, rolled", "row_each", 10, 40, 250, cycles(70.8, 4000)),
    Loop("B += C * C, unrolled", "row_once", 10, 40, 250, cycles(36.2, 4000)),
    Loop("B = E", "copy", 100, 4, 250, cycles(41.8, 4000)),
    Loop("E = E - F * F, from HBM", "three_streams", 100, 4, 250, cycles(608.7, 36000)),
    Loop("B += A * A; B += A + A", "two_loops", 100, 4, 250, cycles(159.6, 4000)),
    # 267.4 GFLOPS, of 4096 operations for each vector of B.
    Loop("DGEMM", "product", 400, 1, 256, 4096 / 267.4 * MEGAHERTZ / 1000),
]

PROGRAM = """
import sys
import numpy as np
import veo
from benchmarks.veo.time_fidelity import LOOPS
with veo.VeoProc(0, library="soft") as proc:
    library, context = proc.load_library(sys.argv[1]), proc.open_context()
    a, b = (veo.to_device(proc, np.ones(1_000_000)) for _ in range(2))
    index = veo.to_device(proc, np.arange(250, dtype=np.int32)[::-1].copy())
    for loop in LOOPS:
        function = library.find_function(loop.kernel)
        function.args_type("void *", "void *", "void *", "long", "long", "long")
        function.ret_type("void")
        function(context, a, b, index, loop.rows, loop.strips, loop.length).wait_result()
"""


def measure() -> list[tuple[Loop, float]]:
    """Run all loops; return the modelled cycles for a vector of each."""
    from veo.report import read_report
    from veo.ve_clang import clang_command

    with tempfile.TemporaryDirectory() as folder:
        kernels, report = Path(folder) / "kernels.o", Path(folder) / "report"
        command = [*clang_command("C"), "-O2", "-c", "-o", str(kernels), str(SOURCE)]
        subprocess.run(command, check=True)
        environment = {**os.environ, "VEO_SOFT_REPORT": str(report), "VEO_SOFT_MODEL": "VE10B"}
        environment["PYTHONPATH"] = str(ROOT)
        subprocess.run([sys.executable, "-c", PROGRAM, str(kernels)], check=True, env=environment)
        calls = [call for call in read_report(report) if call.event == "call"]
    return [
        (loop, call.cycles / (loop.rows * loop.strips))
        for loop, call in zip(LOOPS, calls, strict=True)
    ]


def mean_error(results: list[tuple[Loop, float]]) -> float:
    """Return the mean error, in per cent, of what was not used for fitting."""
    errors = [abs(seen / loop.measured - 1) for loop, seen in results if not loop.fitted]
    return 100 * sum(errors) / len(errors)


def main() -> None:
    """Run the comparison, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    results = measure()
    print("| loop | elements | measured | modelled | error | |\n|---|---|---|---|---|---|")
    for loop, seen in results:
        error = 100 * (seen / loop.measured - 1)
        use = "fitted" if loop.fitted else ""
        print(
            f"| {loop.name} | {loop.length} | {loop.measured:.1f} | {seen:.1f} | {error:+.1f} % "
            f"| {use} |"
        )
    print(f"\nmean error of those that were not fitted: {mean_error(results):.1f} %")
    if options.json:
        rows = [{**dataclasses.asdict(loop), "modelled": seen} for loop, seen in results]
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
