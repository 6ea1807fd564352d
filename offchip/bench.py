# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast the packages are on this machine: ``offchip bench``.

Each package measures itself in a process of its own (see `offchip.measurements`). Results can be
kept as JSON, drawn, written as a page, and compared with earlier ones: what is compared are ratios
to baselines that were measured in the same minutes.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from offchip.bench_outputs import VERSION, BenchmarkError, Outputs
from offchip.bench_place import describe_place
from offchip.children import Child
from offchip.measurements import (
    Measurement,
    Missing,
    format_measurement,
    format_missing,
    format_place,
)
from offchip.selftest import PACKAGES
from offchip.waiting_line import Waiting

__all__ = ["BenchmarkError", "Change", "compare_with", "measure_package"]

#: Seconds that a package may take.
TIMEOUT = 600.0

#: How much larger a ratio may become before it counts as slower.
TOLERANCE = 0.25


class Change(NamedTuple):
    """A measurement beside an earlier one."""

    package: str
    name: str
    against: str
    x: float
    before: float
    now: float
    slower: bool


def measure_package(
    package: str,
    *,
    quick: bool = False,
    done: Callable[[Measurement | Missing], None] = lambda _item: None,
) -> tuple[list[Measurement], list[Missing]]:
    """Measure one package in a process of its own.

    Parameters
    ----------
    package : str
        Import name, of those in `PACKAGES`.
    quick : bool
        Whether only the form of the results counts.
    done : callable, optional
        Called with each measurement as soon as it is made, and with each peer that is missing.

    Returns
    -------
    measurements : list of Measurement
    missing : list of Missing
        Peers that are not here.

    Raises
    ------
    BenchmarkError
        The process failed or took too long; the text has the last line that it printed.
    """
    found: list[Measurement] = []
    missing: list[Missing] = []
    with Child(f"{package}.bench", TIMEOUT, *["--quick"] * quick) as child:
        for line in child.objects():
            if line.keys() == set(Missing._fields):
                missing.append(Missing(**line))
                done(missing[-1])
            elif line.keys() == set(Measurement._fields):
                found.append(Measurement(**line))
                done(found[-1])
            # Everything else is what the package prints besides.
    problem = child.explain()
    if problem is not None:
        raise BenchmarkError(f"{package} could not be measured: {problem}")
    return found, missing


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
        (package, item.name, item.against, item.x): item
        for package, items in earlier.items()
        for item in items
    }
    changes = []
    for package, items in results.items():
        for item in items:
            before = old.get((package, item.name, item.against, item.x))
            if before is None:
                continue
            growth = item.ratio / before.ratio - 1
            slower = growth > max(tolerance, item.spread + before.spread)
            changes.append(
                Change(package, item.name, item.against, item.x, before.ratio, item.ratio, slower)
            )
    return changes


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


def _print_item(item: Measurement | Missing) -> None:
    shown = format_missing(item) if isinstance(item, Missing) else format_measurement(item)
    print(shown, flush=True)


def _print_changes(changes: Sequence[Change]) -> None:
    print("\nratios to baselines, before and now")
    for change in changes:
        mark = "SLOWER" if change.slower else ""
        place = format_place(change.x) if change.x else ""
        print(
            f"  {change.package:<11}{change.name:<34}{place:>9}{change.before:>9.2f}"
            f"{change.now:>9.2f}{change.now / change.before - 1:>+8.0%}  {mark or change.against}"
        )


def main(
    packages: Sequence[str],
    *,
    quick: bool = False,
    json_path: Path | None = None,
    plot_path: Path | None = None,
    page_path: Path | None = None,
    earlier_path: Path | None = None,
    tolerance: float = TOLERANCE,
) -> int:
    """Run ``offchip bench``.

    Parameters
    ----------
    packages : sequence of str
        Import names; all if empty.
    quick : bool
        Whether only the form of the results counts.
    json_path, plot_path, page_path : Path, optional
        Where results, a picture and a page are written; ``-`` is standard output, which then has
        nothing else.
    earlier_path : Path, optional
        Results to compare with.
    tolerance : float
        See `compare_with()`.

    Returns
    -------
    int
        0; 1 if something is slower than before, 2 if something could not be measured or read.
    """
    outputs = Outputs(json_path, plot_path, page_path)
    if json_path is None or str(json_path) != "-":
        return _run(packages, quick, outputs, earlier_path, tolerance)
    outputs = outputs._replace(json=sys.stdout)
    with contextlib.redirect_stdout(sys.stderr):
        return _run(packages, quick, outputs, earlier_path, tolerance)


def _run(
    packages: Sequence[str],
    quick: bool,
    outputs: Outputs,
    earlier_path: Path | None,
    tolerance: float,
) -> int:
    """Do what `main()` says."""
    status = 0
    results: dict[str, list[Measurement]] = {}
    missing: dict[str, list[Missing]] = {}
    chosen = list(packages) or list(PACKAGES)
    try:
        # Options that would fail after the measurements are refused before them.
        earlier = None
        if earlier_path is not None:
            earlier = read_document(earlier_path)
            _check_earlier(earlier, earlier_path, chosen)
        outputs.check()
        place = describe_place()

        head = f"{'':<36}{'':>16}{'time':>12}{'baseline':>12}{'ratio':>9}  baseline is"
        for package in chosen:
            print(f"{package}\n{head}" if not results else package, flush=True)
            with Waiting(f"measuring {package}") as waiting:

                def done(item: Measurement | Missing, waiting: Waiting = waiting) -> None:
                    waiting.clear()
                    _print_item(item)

                results[package], missing[package] = measure_package(
                    package, quick=quick, done=done
                )
        outputs.write(results, missing, place)
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
