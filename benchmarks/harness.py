# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of all benchmarks: environment, samples, the table, JSON, compiling C baselines.

A script makes a :class:`Report`, measures with :func:`batches` or :func:`alternate`, and adds a
row for each result with the baseline that was measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

sys.path.append(str(ROOT))  # for `buildtools`

from buildtools import graph  # noqa: E402
from offchip.bench_place import describe_place  # noqa: E402


@dataclass(frozen=True)
class Sample:
    """Median and spread of repeated measurements, in the unit of the row."""

    median: float
    p25: float
    p75: float
    p99: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Summarise measurements; quantiles are those of the nearest rank."""
        ordered = sorted(values)

        def rank(q: float) -> float:
            return ordered[max(0, math.ceil(q * len(ordered)) - 1)]

        return cls(statistics.median(ordered), rank(0.25), rank(0.75), rank(0.99), len(ordered))

    @classmethod
    def exact(cls, value: float) -> Sample:
        """Take a number that does not vary."""
        return cls(value, value, value, value, 1)

    def map(self, function: Callable[[float], float]) -> Sample:
        """Change the unit; where the order is turned around, the quartiles change places."""
        low, high = sorted((function(self.p25), function(self.p75)))
        return Sample(function(self.median), low, high, function(self.p99), self.count)


def batches(work: Callable[[int], Any], batch: int, rounds: int, warmup: int = 2) -> Sample:
    """Time ``work(batch)`` and return nanoseconds an operation, one value for each round."""
    for _ in range(warmup):
        work(batch)
    values = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        work(batch)
        values.append((time.perf_counter_ns() - start) / batch)
    return Sample.of(values)


def alternate(first: Callable[[], float], second: Callable[[], float], rounds: int) -> tuple:
    """Run two measurements in turns, so that a disturbance meets both; return their samples."""
    first(), second()
    pairs = [(first(), second()) for _ in range(rounds)]
    return Sample.of([a for a, _ in pairs]), Sample.of([b for _, b in pairs])


class Report:
    """The rows of a run, printed as they come.

    Parameters
    ----------
    name : str
        Name of the benchmark.
    question : str
        What it answers.
    """

    def __init__(self, name: str, question: str) -> None:
        self.name = name
        self.question = question
        self.rows: list[dict[str, Any]] = []
        self.skipped: list[dict[str, str]] = []
        self.missed: list[str] = []
        self.environment = environment()
        print(f"# {name}: {question}")
        for key, value in self.environment.items():
            print(f"# {key}: {value}")

    def section(self, title: str, baseline: str = "") -> None:
        """Begin a part of the table."""
        print(f"\n# {title}" + (f"  (baseline: {baseline})" if baseline else ""))
        print(
            f"{'':<38}{'median':>11}{'p25':>11}{'p75':>11}{'p99':>11} {'unit':<6}"
            f"{'baseline':>11}{'ratio':>8}  target"
        )

    def add(
        self,
        series: str,
        sample: Sample,
        unit: str,
        *,
        x: float | None = None,
        label: str | None = None,
        baseline: Sample | None = None,
        ratio: float | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
        ratio_at_least: float | None = None,
        ratio_at_most: float | None = None,
        **extra: float,
    ) -> None:
        """Add a row.

        Parameters
        ----------
        series : str
            What is measured; rows of one series and different ``x`` are a curve.
        sample : Sample
            The result, in ``unit``.
        x : float, optional
            Position on the curve (bytes, seconds).
        label : str, optional
            Printed instead of the series.
        baseline : Sample, optional
            The same measured for the baseline, in the same unit.
        ratio : float, optional
            The ratio to the baseline, if not that of the medians.
        at_most, at_least, ratio_at_least, ratio_at_most : float, optional
            The target for the median, or for its ratio to the baseline.
        extra : float
            Further figures, printed after the row.
        """
        if ratio is None and baseline and baseline.median:
            ratio = sample.median / baseline.median
        target, met = "", None
        if at_most is not None:
            target, met = f"<= {at_most:g}", sample.median <= at_most
        elif at_least is not None:
            target, met = f">= {at_least:g}", sample.median >= at_least
        elif ratio_at_least is not None and ratio is not None:
            target, met = f"ratio >= {ratio_at_least:g}", ratio >= ratio_at_least
        elif ratio_at_most is not None and ratio is not None:
            target, met = f"ratio <= {ratio_at_most:g}", ratio <= ratio_at_most
        name = label or series
        if met is False:
            self.missed.append(f"{name}: {_number(sample.median)} {unit}, target {target}")
        self.rows.append(
            {
                "series": series,
                "x": x,
                "unit": unit,
                **asdict(sample),
                "baseline": baseline.median if baseline else None,
                "ratio": ratio,
                "target": target or None,
                "met": met,
                **extra,
            }
        )
        cells = [sample.median, sample.p25, sample.p75, sample.p99]
        verdict = "" if met is None else f"{target} {'met' if met else 'MISSED'}"
        print(
            f"{name:<38}"
            + "".join(f"{_number(cell):>11}" for cell in cells)
            + f" {unit:<6}"
            + (f"{_number(baseline.median):>11}" if baseline else f"{'':>11}")
            + (f"{ratio:>8.2f}" if ratio is not None else f"{'':>8}")
            + f"  {verdict}"
            + "".join(f"  {key}={_number(value)}" for key, value in extra.items()),
            flush=True,
        )

    def skip(self, what: str, reason: str) -> None:
        """Say that something was not measured."""
        self.skipped.append({"what": what, "reason": reason})
        print(f"{what:<38} skipped: {reason}", flush=True)

    def finish(self, json_path: Path | None) -> None:
        """Print the targets that were missed and write the JSON file."""
        print("\n# targets missed: " + ("; ".join(self.missed) if self.missed else "none"))
        if json_path is not None:
            json_path.parent.mkdir(parents=True, exist_ok=True)
            document = {
                "benchmark": self.name,
                "question": self.question,
                "environment": self.environment,
                "rows": self.rows,
                "skipped": self.skipped,
            }
            json_path.write_text(json.dumps(document, indent=1) + "\n")
            print(f"# written: {json_path}")


def arguments(description: str) -> argparse.ArgumentParser:
    """Make the parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    return parser


def environment() -> dict[str, str]:
    """Describe machine and software, as far as it can be found out."""
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return {
        **describe_place(),
        "governor": governor.read_text().strip() if governor.exists() else "unknown",
    }


def compile_c(
    name: str, folder: str | Path, *, shared: bool = False, flags: Sequence[str] = ()
) -> Path:
    """Compile a C file, named from this folder or by a path, to a program or a library."""
    source = HERE / name
    out = Path(folder) / (source.stem + (".so" if shared else ""))
    command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-pthread"]
    command += ["-shared", "-fPIC"] if shared else []
    subprocess.run([*command, f"-I{ROOT}", "-o", str(out), str(source), *flags], check=True)
    return out


def with_libdpu() -> list[str]:
    """List what a C program is compiled with to have the libdpu of this tree in it."""
    graph.build("release", "tests/libdpu.a")
    folders = [f"-I{ROOT / part}" for part in ("include/dpu", "csrc")]
    return [*folders, str(graph.folder_of("release") / "tests/libdpu.a"), "-ldl"]


def parse_values(text: str) -> dict[str, list[float]]:
    """Read lines of a name and numbers, as the C programs print them."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: [float(word) for word in words[1:]] for words in lines if len(words) > 1}


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process, to the nanosecond (the clock ticks are 10 ms)."""
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[0])
        except (OSError, IndexError):
            continue  # the thread has ended meanwhile
    return total / 1e9


def size_name(size: int) -> str:
    """Write a number of bytes with a binary unit."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def _number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    # Four significant digits, but no more than fit the column.
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{min(max(digits, 0), 5)}f}"


def isolated_python(*words: str, env: dict[str, str] | None = None) -> str:
    """Run this interpreter on a script or command without this folder on its path."""
    done = subprocess.run(
        [sys.executable, "-P", *words],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"exit status {done.returncode}: {lines[-1]}")
    return done.stdout
