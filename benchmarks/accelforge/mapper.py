# SPDX-License-Identifier: BSD-3-Clause
"""Measure the mapper, beside the real AccelForge if there is one.

OFFCHIP_ACCELFORGE_PYTHON names a Python that has AccelForge; both map the same cases in turns, with
one thread each, and must find the same optimum.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for `benchmarks`

import accelforge as af
from benchmarks.accelforge.cases import CASES, Case
from benchmarks.harness import Report, Sample, arguments

SAME = 1e-4
OBJECTIVES = {
    "ENERGY": "Total<SEP>energy",
    "LATENCY": "Total<SEP>latency",
    "ENERGY_DELAY_PRODUCT": "Total<SEP>energy_delay_product",
}


class Peer:
    """AccelForge in a process of its own."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("mapper_peer.py")
        self.process = subprocess.Popen(
            [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Map a case; give the seconds and the totals."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"AccelForge ended at the case {case['name']}")
        return dict(json.loads(line))

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Map a case; give the seconds and the totals."""
    spec = af.Spec.from_yaml(*case["files"], jinja_parse_data=case["variables"])
    spec.mapper.metrics = reduce(or_, (af.Metrics[name] for name in case["metrics"].split("|")))
    for name, value in case["settings"].items():
        setattr(spec.mapper, name, value)
    start = time.perf_counter()
    result = spec.map_workload_to_arch(print_progress=False)
    seconds = time.perf_counter() - start
    columns = [name for name in OBJECTIVES.values() if name in result.columns]
    rows = [
        dict(zip(columns, values, strict=True))
        for values in zip(*(result._table()[name] for name in columns), strict=True)
    ]
    return {"seconds": seconds, "rows": rows}


def best(found: dict[str, Any], case: Case) -> list[float]:
    """Give the smallest of each objective."""
    names = [OBJECTIVES[name] for name in case.metrics.split("|")]
    return [min(row[name] for row in found["rows"]) for name in names]


def measure(
    report: Report, case: Case, folder: Path, peer: Peer | None, rounds: int
) -> float | None:
    """Add the row of a case; give how many times faster than AccelForge it is."""
    plain = case.plain(folder)
    ours = run(plain)
    values, theirs = [], []
    for _ in range(rounds):
        if peer is not None and case.peer:
            answer = peer.run(plain)
            theirs.append(answer["seconds"] * 1e3)
            for a, b in zip(best(ours, case), best(answer, case), strict=True):
                if not math.isclose(a, b, rel_tol=SAME):
                    raise SystemExit(f"{case.name}: the best is {a}, AccelForge finds {b}")
        values.append(run(plain)["seconds"] * 1e3)

    sample = Sample.of(values)
    baseline = Sample.of(theirs) if theirs else None
    faster = baseline.median / sample.median if baseline else None
    extra = {"mappings": float(len(ours["rows"]))}
    if faster is not None:
        extra["faster"] = faster
    report.add(case.name, sample, "ms", baseline=baseline, **extra)
    return faster


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--case", help="only cases with this text in their names")
    options = parser.parse_args()
    report = Report("accelforge mapper", "How long does it take to find the best mapping?")
    python = os.environ.get("OFFCHIP_ACCELFORGE_PYTHON")
    if not python:
        report.skip("AccelForge", "OFFCHIP_ACCELFORGE_PYTHON names no Python that has it")
    peer = Peer(python) if python else None

    af.set_n_parallel_jobs(1)
    report.section("map_workload_to_arch, one thread", "AccelForge, warm" if peer else "")
    chosen = [case for case in CASES if (case.quick or not options.quick)]
    chosen = [case for case in chosen if (options.case or "") in case.name]
    with tempfile.TemporaryDirectory() as folder:
        ratios = [
            measure(report, case, Path(folder), peer, 1 if options.quick else 3) for case in chosen
        ]
    known = [ratio for ratio in ratios if ratio is not None]
    if known:
        print(f"\n# times faster: median {statistics.median(known):.0f}, least {min(known):.0f}")
    if peer is not None:
        peer.close()
    report.finish(options.json)


if __name__ == "__main__":
    main()
