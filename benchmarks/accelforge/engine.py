# SPDX-License-Identifier: BSD-3-Clause
"""Measure evaluations of mappings by the engine, beside the real AccelForge if there is one.

``--peer PYTHON`` names a Python that has AccelForge; both evaluate the same mappings in turns.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks` and `tests`

import numpy as np

from accelforge._model import Model, evaluate
from benchmarks.harness import ROOT, Report, Sample, arguments
from tests.accelforge.package import problems

US = 1e6


class Peer:
    """AccelForge in a process of its own, with a chain of matrix products."""

    def __init__(self, python: str, count: int) -> None:
        script = Path(__file__).with_name("peer.py")
        exporter = ROOT / "accelforge" / "export_problem.py"
        self.process = subprocess.Popen(
            [python, str(script), str(exporter), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.case: dict[str, Any] = json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the peer ended early")
        return line

    def evaluate(self) -> float:
        """Evaluate once; microseconds."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self._line()) * US

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def timed(work: Callable[[], Any], times: int) -> float:
    """Time WORK; microseconds each."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times * US


def check(case: dict[str, Any]) -> None:
    """Both say the same of the mapping."""
    ours = evaluate(case["problem"]).as_dict()
    for column, number in case["results"]:
        mine = ours.get(tuple(column), 0.0)
        if not math.isclose(mine, number, rel_tol=1e-5, abs_tol=1e-15):
            raise SystemExit(f"{column}: {mine}, AccelForge says {number}")


def outer_tile(problem: dict[str, Any]) -> str:
    """Find the first loop of a mapping."""
    mapping = problem["mapping"]
    return next(f"mapping[{i}].tile" for i, node in enumerate(mapping) if "temporal" in node)


def measure(report: Report, count: int, peer: Peer | None, rounds: int) -> None:
    """Add the rows of a chain of COUNT Einsums."""
    problem = problems.fused_chain(count, size=64, tile=8) if peer is None else peer.case["problem"]
    model = Model(problem)
    rows = 64_000 // count
    series = {outer_tile(problem): np.tile([1.0, 2, 4, 8, 16, 32, 64, 8], rows // 8)}
    totals = [("total", "energy"), ("total", "latency")]
    works: dict[str, Callable[[], float]] = {
        "problem to result": lambda: timed(lambda: evaluate(problem), 5),
        "compiled, one at a time": lambda: timed(model.evaluate, 500),
        "batch, one thread, per mapping": lambda: (
            timed(lambda: model.evaluate_batch(series, threads=1, columns=totals), 1) / rows
        ),
        "batch, all cores, per mapping": lambda: (
            timed(lambda: model.evaluate_batch(series, columns=totals), 1) / rows
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in works}
    theirs = []
    for _ in range(rounds):
        if peer is not None:
            theirs.append(peer.evaluate())
        for name, work in works.items():
            found[name].append(work())

    report.section(f"{count} Einsums", "AccelForge's evaluate_mapping, warm" if peer else "")
    baseline = Sample.of(theirs) if theirs else None
    for name, values in found.items():
        sample = Sample.of(values)
        extra = {"faster": baseline.median / sample.median} if baseline else {}
        report.add(name, sample, "us", x=count, baseline=baseline, **extra)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has AccelForge")
    options = parser.parse_args()
    report = Report("accelforge engine", "What does the evaluation of a mapping cost?")
    if options.peer is None:
        report.skip("AccelForge", "--peer names no Python that has it")

    for count in (1, 8) if options.quick else (1, 2, 8, 32):
        peer = None if options.peer is None else Peer(options.peer, count)
        if peer is not None:
            check(peer.case)
        measure(report, count, peer, 3 if options.quick or count == 32 else 7)
        if peer is not None:
            peer.close()
    report.finish(options.json)


if __name__ == "__main__":
    main()
