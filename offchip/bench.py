# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast the packages are on this machine: ``offchip bench``.

Each package measures itself in a process of its own (see `offchip.measurements`). Results can be
kept as JSON, drawn, and compared with earlier ones: what is compared are ratios to baselines that
were measured in the same minutes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from offchip import __version__
from offchip.children import Child
from offchip.measurements import Measurement, format_measurement, format_place
from offchip.selftest import PACKAGES

__all__ = ["BenchmarkError", "Change", "compare_with", "measure_package"]

#: Seconds that a package may take.
TIMEOUT = 300.0

#: How much larger a ratio may become before it counts as slower.
TOLERANCE = 0.25

VERSION = 1


class BenchmarkError(Exception):
    """A package could not be measured, or a file of results not be read."""


class Change(NamedTuple):
    """A measurement beside an earlier one."""

    package: str
    name: str
    x: float
    before: float
    now: float
    slower: bool


def measure_package(
    package: str, *, done: Callable[[Measurement], None] = lambda _item: None
) -> list[Measurement]:
    """Measure one package in a process of its own.

    Parameters
    ----------
    package : str
        Import name, of those in `PACKAGES`.
    done : callable, optional
        Called with each measurement as soon as it is made.

    Returns
    -------
    list of Measurement

    Raises
    ------
    BenchmarkError
        The process failed or took too long; the text has the last line that it printed.
    """
    found = []
    with Child(f"{package}.bench", TIMEOUT) as child:
        for line in child.objects():
            try:
                item = Measurement(**line)
            except TypeError:
                continue  # something else that the package prints
            found.append(item)
            done(item)
    problem = child.explain()
    if problem is not None:
        raise BenchmarkError(f"{package} could not be measured: {problem}")
    return found


def as_document(results: dict[str, list[Measurement]]) -> dict[str, Any]:
    """Give results as ``--json`` writes them."""
    return {
        "version": VERSION,
        "offchip": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "packages": {name: [item.as_dict() for item in items] for name, items in results.items()},
    }


def read_document(path: Path) -> dict[str, list[Measurement]]:
    """Read results that ``--json`` has written.

    Raises
    ------
    BenchmarkError
        It cannot be read, or is something else.
    """
    try:
        document = json.loads(path.read_text())
        if document["version"] != VERSION:
            raise BenchmarkError(
                f"{path} has results of version {document['version']}, and {VERSION} is read"
            )
        return {
            name: [Measurement(**{key: item[key] for key in Measurement._fields}) for item in items]
            for name, items in document["packages"].items()
        }
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(
            f"{path} has no results of `offchip bench --json`: {type(error).__name__}: {error}"
        ) from error


def compare_with(
    earlier: dict[str, list[Measurement]],
    results: dict[str, list[Measurement]],
    *,
    tolerance: float = TOLERANCE,
) -> list[Change]:
    """Compare ratios to baselines with earlier ones.

    Parameters
    ----------
    earlier, results : dict of str to list of Measurement
        By package. What only one of them has is left out.
    tolerance : float
        A ratio that has grown by more than this share is slower, if it has also grown by more than
        both spreads.

    Returns
    -------
    list of Change
        In the order of `results`.
    """
    old = {
        (package, item.name, item.x): item for package, items in earlier.items() for item in items
    }
    changes = []
    for package, items in results.items():
        for item in items:
            before = old.get((package, item.name, item.x))
            if before is None:
                continue
            growth = item.ratio / before.ratio - 1
            slower = growth > max(tolerance, item.spread + before.spread)
            changes.append(Change(package, item.name, item.x, before.ratio, item.ratio, slower))
    return changes


def check_plot(path: Path) -> None:
    """Refuse what `draw()` could not draw.

    Raises
    ------
    BenchmarkError
        matplotlib is not installed, or knows no pictures with that ending.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise BenchmarkError(
            "plots need matplotlib: install offchip[plot]; in a checkout: pip install '.[plot]'"
        ) from error
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:].lower() not in known:
        endings = ", ".join(f".{ending}" for ending in known)
        raise BenchmarkError(f"{path} cannot be drawn: its name must end in one of {endings}")


def check_writable(path: Path) -> None:
    """Refuse a file that could not be written; nothing is changed or left behind.

    Raises
    ------
    BenchmarkError
        It cannot be opened for writing.
    """
    try:
        before = path.exists()
        if before and not path.is_file():  # opening a pipe and closing it would end its reader
            if path.is_dir():
                raise BenchmarkError(f"{path} cannot be written: it is a folder")
            if not os.access(path, os.W_OK):
                raise BenchmarkError(f"{path} cannot be written: no permission")
            return
        with path.open("ab"):
            pass
        if not before:
            path.unlink()
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be written: {error.strerror}") from error


def draw(results: dict[str, list[Measurement]], path: Path) -> None:
    """Draw small multiples: a panel for each curve, with its baseline dashed.

    Raises
    ------
    BenchmarkError
        matplotlib is not installed, or knows no such pictures.
    """
    check_plot(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, LogLocator

    curves: dict[tuple[str, str], list[Measurement]] = {}
    for package, items in results.items():
        for item in items:
            curves.setdefault((package, item.name), []).append(item)

    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(4 * columns, 2.8 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, ((package, name), points) in zip(axes, curves.items(), strict=False):
        places = [point.x for point in points]
        axis.plot(places, [point.seconds for point in points], "o-", label=package)
        axis.plot(
            places,
            [point.baseline for point in points],
            "k--",
            marker=".",
            linewidth=1,
            label=points[0].against,
        )
        if len(points) > 1:
            axis.set_xscale("log", base=2)
            axis.set_xticks(places, [format_place(place).strip() for place in places])
            axis.minorticks_off()
        else:
            axis.set_xticks([])
        times = [time for point in points for time in (point.seconds, point.baseline)]
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(
            LogLocator(subs=(1, 2, 5) if max(times) < 100 * min(times) else (1,))
        )
        axis.yaxis.set_major_formatter(EngFormatter("s"))
        axis.yaxis.set_minor_locator(LogLocator(subs=()))
        axis.set_title(f"{package}: {name}", fontsize="medium")
        axis.set_xlabel({"B": "bytes"}.get(points[0].x_unit, points[0].x_unit))
        axis.legend(frameon=False, fontsize="x-small")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(curves) :]:
        axis.set_visible(False)
    figure.savefig(path)


def _check_earlier(
    earlier: dict[str, list[Measurement]], path: Path, chosen: Sequence[str]
) -> None:
    """Refuse earlier results that have nothing to compare with; name what they lack."""
    missing = [package for package in chosen if not earlier.get(package)]
    if len(missing) == len(chosen):
        has = ", ".join(package for package, items in earlier.items() if items) or "nothing"
        raise BenchmarkError(
            f"{path} has results of {has}, and {', '.join(chosen)} is to be compared; to make "
            f"such a file: offchip bench {' '.join(chosen)} --json FILE"
        )
    if missing:
        print(f"not compared, as {path} has no results of it: {', '.join(missing)}")


def _print_changes(changes: Sequence[Change]) -> None:
    print("\nratios to baselines, before and now")
    for change in changes:
        mark = "SLOWER" if change.slower else ""
        place = format_place(change.x) if change.x else ""
        print(
            f"  {change.package:<11}{change.name:<34}{place:>9}{change.before:>9.2f}"
            f"{change.now:>9.2f}{change.now / change.before - 1:>+8.0%}  {mark}".rstrip()
        )


def main(
    packages: Sequence[str],
    *,
    json_path: Path | None = None,
    plot_path: Path | None = None,
    earlier_path: Path | None = None,
    tolerance: float = TOLERANCE,
) -> int:
    """Run ``offchip bench``.

    Parameters
    ----------
    packages : sequence of str
        Import names; all if empty.
    json_path, plot_path : Path, optional
        Where results and a picture are written; ``-`` is standard output, which then has nothing
        else.
    earlier_path : Path, optional
        Results to compare with.
    tolerance : float
        See `compare_with()`.

    Returns
    -------
    int
        0; 1 if something is slower than before, 2 if something could not be measured or read.
    """
    if json_path is None or str(json_path) != "-":
        return _run(packages, json_path, plot_path, earlier_path, tolerance)
    output = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        return _run(packages, output, plot_path, earlier_path, tolerance)


def _run(
    packages: Sequence[str],
    json_target: Path | TextIO | None,
    plot_path: Path | None,
    earlier_path: Path | None,
    tolerance: float,
) -> int:
    """Do what `main()` says; results go to a file that is open already, or to be written."""
    status = 0
    results: dict[str, list[Measurement]] = {}
    chosen = list(packages) or list(PACKAGES)
    try:
        # Options that would fail after the measurements are refused before them.
        earlier = None
        if earlier_path is not None:
            earlier = read_document(earlier_path)
            _check_earlier(earlier, earlier_path, chosen)
        if isinstance(json_target, Path):
            check_writable(json_target)
        if plot_path is not None:
            check_writable(plot_path)
            check_plot(plot_path)

        head = f"{'':<36}{'':>16}{'time':>12}{'baseline':>12}{'ratio':>9}  baseline is"
        for package in chosen:
            print(f"{package}\n{head}" if not results else package, flush=True)
            results[package] = measure_package(
                package, done=lambda item: print(format_measurement(item), flush=True)
            )
        if json_target is not None:
            text = json.dumps(as_document(results), indent=1) + "\n"
            if isinstance(json_target, Path):
                json_target.write_text(text)
                print(f"results: {json_target}")
            else:
                json_target.write(text)
        if plot_path is not None:
            draw(results, plot_path)
            print(f"plot: {plot_path}")
        if earlier is not None:
            changes = compare_with(earlier, results, tolerance=tolerance)
            if not changes:
                raise BenchmarkError(
                    f"{earlier_path} has none of the measurements made now: nothing to compare"
                )
            _print_changes(changes)
            slower = sum(change.slower for change in changes)
            print(f"{slower} of {len(changes)} slower by more than {tolerance:.0%}")
            status = 1 if slower else 0
    except BenchmarkError as error:
        print(f"offchip bench: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"offchip bench: {error}", file=sys.stderr)
        return 2
    return status
