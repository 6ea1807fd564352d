# SPDX-License-Identifier: BSD-3-Clause
"""Speeds that a package measures of itself, where it is installed: ``python -m PACKAGE.bench``.

`offchip.bench` runs them for all packages. A speed is measured beside baselines, all in turn: its
peers, which do the same for the user, and its limit, which is what the machine takes for the work
itself. Ratios can be compared between machines and days, and absolute figures cannot. A peer that
is not installed is a `Missing`, which says how to install it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from offchip.closed_pipe import ends_at_closed_pipe

__all__ = [
    "FULL",
    "LIMIT",
    "PEER",
    "QUICK",
    "Baseline",
    "Effort",
    "Measurement",
    "Missing",
    "Series",
    "compare",
    "format_measurement",
    "format_missing",
    "format_place",
    "format_seconds",
    "main",
]

#: Kinds of baselines.
PEER, LIMIT = "peer", "limit"


class Effort(NamedTuple):
    """How much is measured.

    Parameters
    ----------
    rounds : int
        How often all are measured in turn.
    divisor : int
        By which the calls of a round are divided.
    """

    rounds: int = 7
    divisor: int = 1


FULL = Effort()
#: For tests of what is printed: its times say nothing.
QUICK = Effort(rounds=2, divisor=1000)


class Baseline(NamedTuple):
    """Something that work is measured beside.

    Parameters
    ----------
    against : str
        What it is, in the words of a user.
    work : callable
        Does it.
    kind : str
        `PEER` or `LIMIT`.
    times : int
        How often `work` does in one call what the measured work does.
    repeat : int, optional
        How often it is called in a round; as often as the measured work by default.
    """

    against: str
    work: Callable[[], object]
    kind: str = LIMIT
    times: int = 1
    repeat: int | None = None


class Missing(NamedTuple):
    """A peer that is not here.

    Parameters
    ----------
    name : str
        What would be measured.
    peer : str
        Beside what.
    install : str
        How to get it.
    """

    name: str
    peer: str
    install: str


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
    against, kind : str
        What the baseline is; see `Baseline`.
    """

    name: str
    x: float
    x_unit: str
    seconds: float
    baseline: float
    spread: float
    against: str
    kind: str = LIMIT

    @property
    def ratio(self) -> float:
        """The time as a multiple of the baseline's: less is better."""
        return self.seconds / self.baseline

    def as_dict(self) -> dict[str, object]:
        """Return the measurement as ``--json`` prints it."""
        return {**self._asdict(), "ratio": self.ratio}


Series = Callable[[Effort], Iterable[Measurement | Missing]]


def compare(
    name: str,
    work: Callable[[], object],
    baselines: Sequence[Baseline],
    *,
    x: float = 0,
    x_unit: str = "",
    repeat: int = 1,
    effort: Effort = FULL,
) -> list[Measurement]:
    """Measure work and its baselines in turn, and take medians.

    Parameters
    ----------
    name, x, x_unit
        See `Measurement`.
    work : callable
        What is measured; it and each baseline are called once before.
    baselines : sequence of Baseline
        What it is measured beside.
    repeat : int
        How often the work is called in a round.
    effort : Effort
        How much is measured.

    Returns
    -------
    list of Measurement
        One per baseline, with times of one call.
    """
    work()
    for baseline in baselines:
        baseline.work()
    times: list[float] = []
    bases: list[list[float]] = [[] for _ in baselines]
    for _ in range(effort.rounds):
        times.append(_time(work, max(1, repeat // effort.divisor)))
        for baseline, found in zip(baselines, bases, strict=True):
            calls = repeat if baseline.repeat is None else baseline.repeat
            found.append(_time(baseline.work, max(1, calls // effort.divisor)) / baseline.times)

    results = []
    for baseline, found in zip(baselines, bases, strict=True):
        ratios = [one / base for one, base in zip(times, found, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        results.append(
            Measurement(
                name=name,
                x=x,
                x_unit=x_unit,
                seconds=statistics.median(times),
                baseline=statistics.median(found),
                spread=(high - low) / 2 / middle,
                against=baseline.against,
                kind=baseline.kind,
            )
        )
    return results


def _time(work: Callable[[], object], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def format_measurement(item: Measurement) -> str:
    """Format a measurement as a line for people."""
    place = f"{format_place(item.x)} {item.x_unit}" if item.x_unit else ""
    return (
        f"  {item.name:<34}{place:>16}{format_seconds(item.seconds):>12}"
        f"{format_seconds(item.baseline):>12}{item.ratio:>9.2f}  {item.against}"
    )


def format_missing(item: Missing) -> str:
    """Format a peer that is not here as a line for people."""
    return f"  {item.name:<34}not compared with {item.peer}: {item.install}"


def format_place(number: float) -> str:
    """Format a place on a curve, with a binary prefix where it has no rest."""
    for limit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if number >= limit and number % limit == 0:
            return f"{number / limit:g} {name}"
    return f"{number:g} "


def format_seconds(value: float) -> str:
    """Format a time with three digits."""
    for limit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


@ends_at_closed_pipe
def main(package: str, series: Sequence[Series], arguments: Sequence[str] | None = None) -> int:
    """Run the command ``python -m PACKAGE.bench``.

    Parameters
    ----------
    package : str
        Import name of the package.
    series : sequence of callable
        Each takes an `Effort`, and yields measurements and peers that are missing.
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
    parser.add_argument("--quick", action="store_true", help="show the form; times say nothing")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    output = sys.stdout
    # Output of the work, such as the messages of VeBuild, is not part of the results.
    with contextlib.redirect_stdout(sys.stderr):
        for measure in series:
            for item in measure(effort):
                print(_format(item, as_json=options.json), file=output, flush=True)
    return 0


def _format(item: Measurement | Missing, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(item._asdict())
    return format_missing(item) if isinstance(item, Missing) else format_measurement(item)
