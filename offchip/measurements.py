# SPDX-License-Identifier: BSD-3-Clause
"""Speeds that a package measures of itself, where it is installed: ``python -m PACKAGE.bench``.

`offchip.bench` runs them for all packages. A speed is measured beside a baseline that does
comparable work with the host's own means, both in turn: the ratio of the two can be compared
between machines and days, and absolute figures cannot.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Measurement", "Series", "compare", "format_measurement", "format_place", "main"]

ROUNDS = 7


class Measurement(NamedTuple):
    """A speed and its baseline, both as medians.

    Parameters
    ----------
    name : str
        What was measured; measurements with the same name form a curve.
    x : float
        The place on the curve: bytes, tasklets, or 0 for a curve of one point.
    x_unit : str
        What `x` counts.
    seconds : float
        What one operation took.
    baseline : float
        What the baseline took, in seconds.
    spread : float
        Half the distance between the quartiles of the ratio, divided by its median.
    against : str
        What the baseline is.
    """

    name: str
    x: float
    x_unit: str
    seconds: float
    baseline: float
    spread: float
    against: str

    @property
    def ratio(self) -> float:
        """The time as a multiple of the baseline's: less is better."""
        return self.seconds / self.baseline

    def as_dict(self) -> dict[str, object]:
        """Return the measurement as ``--json`` prints it."""
        return {**self._asdict(), "ratio": self.ratio}


Series = Callable[[], Iterable[Measurement]]


def compare(
    name: str,
    work: Callable[[], object],
    baseline: Callable[[], object],
    *,
    against: str,
    x: float = 0,
    x_unit: str = "",
    repeat: int = 1,
    repeat_baseline: int | None = None,
    rounds: int = ROUNDS,
) -> Measurement:
    """Measure work and its baseline in turn, and take medians.

    Parameters
    ----------
    name, against, x, x_unit
        See `Measurement`.
    work, baseline : callable
        What is measured; each is called once before.
    repeat, repeat_baseline : int
        How often each is called in a round; the baseline as often as the work by default.
    rounds : int
        How many rounds there are.

    Returns
    -------
    Measurement
        Times of one call.
    """
    many = repeat if repeat_baseline is None else repeat_baseline
    work()
    baseline()
    times, bases = [], []
    for _ in range(rounds):
        times.append(_time(work, repeat))
        bases.append(_time(baseline, many))
    ratios = [one / base for one, base in zip(times, bases, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Measurement(
        name=name,
        x=x,
        x_unit=x_unit,
        seconds=statistics.median(times),
        baseline=statistics.median(bases),
        spread=(high - low) / 2 / middle,
        against=against,
    )


def _time(work: Callable[[], object], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def format_measurement(item: Measurement) -> str:
    """Format a measurement as a line for people."""
    place = f"{format_place(item.x)} {item.x_unit}" if item.x_unit else ""
    return (
        f"  {item.name:<34}{place:>16}{_seconds(item.seconds):>12}{_seconds(item.baseline):>12}"
        f"{item.ratio:>9.2f}  {item.against}"
    )


def format_place(number: float) -> str:
    """Format a place on a curve, with a binary prefix where it has no rest."""
    for limit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if number >= limit and number % limit == 0:
            return f"{number / limit:g} {name}"
    return f"{number:g} "


def _seconds(value: float) -> str:
    for limit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def _run(series: Sequence[Series]) -> Iterator[Measurement]:
    for measure in series:
        yield from measure()


def main(package: str, series: Sequence[Series], arguments: Sequence[str] | None = None) -> int:
    """Run the command ``python -m PACKAGE.bench``.

    Parameters
    ----------
    package : str
        Import name of the package.
    series : sequence of callable
        Each yields measurements.
    arguments : sequence of str, optional
        Those of the process if None.

    Returns
    -------
    int
        0.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {package}.bench", description=f"Measure how fast {package} is here."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per measurement")
    options = parser.parse_args(arguments)
    output = sys.stdout
    # Output of the work, such as the messages of VeBuild, is not part of the results.
    with contextlib.redirect_stdout(sys.stderr):
        for item in _run(series):
            text = json.dumps(item._asdict()) if options.json else format_measurement(item)
            print(text, file=output, flush=True)
    return 0
