# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps profile keys over a program, for what it would gain if the chip were different.

`study` runs a function, or a `Host`, at each combination of values of keys, and keeps the figures;
``python -m dpu.study`` does the same for a host program from a shell.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpu.asm import AsmError
from dpu.errors import DpuError
from dpu.toolchain import ToolchainError
from offchip.closed_pipe import ends_at_closed_pipe
from offchip.lazy import need
from offchip.store import Store, StoreError
from offchip.waiting_line import Waiting

__all__ = ["FIGURES", "Host", "Point", "Study", "StudyError", "study"]

#: What a `Host` reports: launches, their cycles, instructions and modelled seconds, the energy of
#: the instructions (NaN if it is unknown), and the seconds with transfers.
FIGURES = ("launches", "cycles", "instructions", "launch_seconds", "launch_joules", "seconds")

# Lines of a host's messages that are a reason.
_SHOWN_LINES = 3

Run = Callable[[str], Mapping[str, float]]


class StudyError(Exception):
    """A program could not be run at one point of a study; the others go on."""


@dataclass(frozen=True)
class Host:
    """Runs a host program with a profile, and takes figures from its report (``DPU_SOFT_REPORT``).

    Parameters
    ----------
    command : tuple of str
        The program and its arguments. Profile keys come to it by ``UPMEM_PROFILE``, after those
        that are there already.
    timeout : float, optional
        Seconds after which it is ended.
    """

    command: tuple[str, ...]
    timeout: float | None = None

    def __call__(self, profile: str) -> dict[str, float]:
        """Return `FIGURES` of a run; raise StudyError if it fails."""
        already = os.environ.get("UPMEM_PROFILE", "")
        with tempfile.TemporaryDirectory(prefix="dpu-study-") as folder:
            environment = {
                **os.environ,
                "UPMEM_PROFILE": ",".join(part for part in (already, profile) if part),
                "DPU_SOFT_REPORT": f"{folder}/%p.csv",
            }
            try:
                done = subprocess.run(
                    self.command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=self.timeout,
                    check=False,
                )
            except OSError as error:
                raise StudyError(f"{self.command[0]} cannot be run: {error.strerror}") from error
            except subprocess.TimeoutExpired as error:
                raise StudyError(f"{self.command[0]} took more than {self.timeout} s") from error
            if done.returncode != 0:
                # The last line of Python's is a hint where to read on.
                said = " / ".join(done.stderr.split("\n")[-_SHOWN_LINES - 1 :]).strip(" /")
                raise StudyError(f"{self.command[0]} ended with status {done.returncode}: {said}")
            return _figures(sorted(Path(folder).glob("*.csv")))


def _figures(reports: Sequence[Path]) -> dict[str, float]:
    """Return the totals of all processes of a run."""
    total = dict.fromkeys(FIGURES, 0.0)
    for report in reports:
        with open(report, newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                if row["event"] == "total_launch":
                    total["launches"] += float(row["number"])
                    total["cycles"] += float(row["cycles"])
                    total["instructions"] += float(row["instructions"])
                    total["launch_seconds"] += float(row["seconds"])
                    total["launch_joules"] += float(row["joules"] or math.nan)
                elif row["event"] == "total":
                    total["seconds"] += float(row["seconds"])
    if total["launches"] == 0:
        raise StudyError("no DPU was launched: the program must use the simulator's libdpu")
    return total


@dataclass(frozen=True)
class Point:
    """One combination of values.

    Parameters
    ----------
    keys : dict of str to str
        Profile keys and their values.
    figures : dict of str to float
        What was found; empty if the program could not be run.
    reason : str
        Why it could not be run.
    """

    keys: dict[str, str]
    figures: dict[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Study:
    """The points of a study.

    Parameters
    ----------
    keys : dict of str to tuple of str
        The values of each key.
    figures : tuple of str
        Names of the figures.
    points : tuple of Point
        All combinations, the last key changing first.
    """

    keys: dict[str, tuple[str, ...]]
    figures: tuple[str, ...]
    points: tuple[Point, ...]

    def table(self) -> str:
        """Return a table as text: a row for each point, with why it has no figures."""
        rows = [[*self.keys, *self.figures, ""]]
        for point in self.points:
            numbers = [_number(point.figures[n]) if point.figures else "-" for n in self.figures]
            rows.append([*point.keys.values(), *numbers, point.reason])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        widths[-1] = 0
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as what JSON has."""
        points = [
            {
                "keys": point.keys,
                "figures": {n: None if math.isnan(v) else v for n, v in point.figures.items()}
                or None,
                "reason": point.reason,
            }
            for point in self.points
        ]
        return {"keys": {k: [*v] for k, v in self.keys.items()}, "points": points}

    def plot(self, figure: str = "", ax: Any = None) -> Any:
        """Plot a figure over the first key, a line for each combination of the others.

        Parameters
        ----------
        figure : str, optional
            One of `figures`; by default the last.
        ax : matplotlib.axes.Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            There is no such figure.
        """
        name = figure or self.figures[-1]
        if name not in self.figures:
            raise ValueError(f"figures are {', '.join(self.figures)}, not {figure!r}")
        if ax is None:
            _, ax = need("matplotlib.pyplot", "A plot", "plot").subplots()
        first, *others = self.keys
        for values in itertools.product(*(self.keys[key] for key in others)):
            chosen = dict(zip(others, values, strict=True))
            line = [p for p in self.points if chosen.items() <= p.keys.items()]
            label = ", ".join(f"{key}={value}" for key, value in chosen.items())
            heights = [point.figures.get(name, math.nan) for point in line]
            ax.plot([point.keys[first] for point in line], heights, "o-", label=label or None)
        ax.set(xlabel=first, ylabel=name.replace("_", " "), ylim=(0, None))
        if others:
            ax.legend(fontsize="small")
        return ax


def _number(value: float) -> str:
    """Write cycles whole, however many, other figures with six digits, and NaN as a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}"


def study(
    run: Run,
    keys: Mapping[str, Sequence[object]],
    *,
    figures: Sequence[str] = FIGURES,
    file: str | os.PathLike[str] | None = None,
    about: str = "",
    executor: Executor | None = None,
) -> Study:
    """Run a program at each combination of values of profile keys.

    Parameters
    ----------
    run : callable
        Takes a profile, and returns `figures` by their names: a `Host`, or a function that builds
        and launches a program. What the linker, the library or the host refuses there is the reason
        of the point; other exceptions end the study.
    keys : mapping
        The values of each key.
    figures : sequence of str
        Names of what `run` returns.
    file : path, optional
        Where points are kept: what is there is not run again. It has one study, and is refused for
        another.
    about : str
        What `run` runs, which tells studies in files apart; by default the command of a `Host`.
    executor : concurrent.futures.Executor, optional
        Where points run; by default one after the other, here.

    Raises
    ------
    StoreError
        If the file has something else, is in use, or cannot be written.
    """
    values = {key: tuple(map(str, choices)) for key, choices in keys.items()}
    if not values or not all(values.values()):
        raise ValueError("a study needs keys, and values of each")
    chosen = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    if not about and isinstance(run, Host):
        about = " ".join(run.command)
    described = {
        "about": about,
        "keys": {k: [*v] for k, v in values.items()},
        "figures": [*figures],
    }
    store = None if file is None else Store(file, described, [*values], figures, "dpu-study")
    with nullcontext() if store is None else closing(store):
        points = {} if store is None else _stored(store, chosen, figures)
        missing = [number for number in range(len(chosen)) if number not in points]
        for number, point in _run_all(run, chosen, missing, tuple(figures), executor):
            points[number] = point
            if store is not None:
                costs = [point.figures.get(name, math.nan) for name in figures]
                columns = [[value] for value in point.keys.values()]
                store.write(number, [(number, 0)], columns, np.array([costs]), point.reason)
    return Study(values, tuple(figures), tuple(points[n] for n in range(len(chosen))))


def _stored(
    store: Store, chosen: Sequence[dict[str, str]], figures: Sequence[str]
) -> dict[int, Point]:
    """Return the points that a file has."""
    numbers, _, costs = store.read()
    reasons = store.reasons()
    points = {}
    for number, row in zip(numbers.tolist(), costs.tolist(), strict=True):
        if number not in range(len(chosen)):
            raise StoreError(f"{store.path} is damaged: there is no point {number}")
        reason = reasons.get(number, "")
        found = {} if reason else dict(zip(figures, row, strict=True))
        points[number] = Point(chosen[number], found, reason)
    return points


def _run_all(
    run: Run,
    chosen: Sequence[dict[str, str]],
    missing: Sequence[int],
    figures: tuple[str, ...],
    executor: Executor | None,
) -> Any:
    """Yield each missing point with its number, as it is done."""
    if executor is None:
        for number in missing:
            yield number, _run_one(run, chosen[number], figures)
        return
    futures: dict[Future[Point], int] = {
        executor.submit(_run_one, run, chosen[number], figures): number for number in missing
    }
    try:
        for done in as_completed(futures):
            yield futures[done], done.result()
    finally:
        for waiting in futures:
            waiting.cancel()


def _run_one(run: Run, keys: dict[str, str], figures: tuple[str, ...]) -> Point:
    try:
        found = run(",".join(f"{key}={value}" for key, value in keys.items()))
    except DpuError as error:
        return Point(keys, reason=f"{error}: {error.detail}" if error.detail else str(error))
    except subprocess.CalledProcessError as error:
        return Point(keys, reason=str(error.stderr or error).strip() or str(error))
    except (AsmError, StudyError, ToolchainError) as error:
        return Point(keys, reason=str(error))
    return Point(keys, {name: float(found[name]) for name in figures})


def _key(text: str) -> tuple[str, list[str]]:
    name, _, values = text.partition("=")
    if not name or not all(values.split(",")):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE,VALUE..., not {text!r}")
    return name, values.split(",")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpu.study",
        usage="%(prog)s [options] --key NAME=VALUE,VALUE... -- HOST [ARGUMENTS]",
        description="Run a host program at each combination of values of profile keys, and print "
        "the cycles and the modelled time of each.",
        epilog="Example: python -m dpu.study --key softDmaEngines=1,2,4 -- ./host 1000",
    )
    parser.add_argument(
        "--key",
        dest="keys",
        action="append",
        type=_key,
        required=True,
        metavar="NAME=VALUE,...",
        help="values of a profile key; may be repeated",
    )
    parser.add_argument("--file", help="keep points there, and go on with those that it has")
    parser.add_argument("--plot", metavar="FILE", help="write a plot of the modelled seconds")
    parser.add_argument("--timeout", type=float, metavar="S", help="end a run after S seconds")
    parser.add_argument("--json", action="store_true", help="print an object")
    parser.add_argument("host", nargs="+", metavar="HOST", help="the program and its arguments")
    return parser


@ends_at_closed_pipe
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its status: 1 if a point could not be run."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        host = Host(tuple(options.host), options.timeout)
        with Waiting("running the host program"):
            found = study(host, dict(options.keys), file=options.file)
        if options.plot:
            found.plot().figure.savefig(options.plot)
    except (StoreError, ImportError, OSError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.as_dict()) if options.json else found.table())
    return 1 if any(point.reason for point in found.points) else 0


if __name__ == "__main__":
    sys.exit(main())
