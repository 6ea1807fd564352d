# SPDX-License-Identifier: BSD-3-Clause
"""Files that `offchip bench` writes: JSON, plots and pages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from offchip.bench_page import check_page, write_page
from offchip.lazy import need
from offchip.measurements import Measurement, Missing, format_place

__all__ = ["VERSION", "BenchmarkError", "Outputs", "as_document", "check_writable", "draw"]

#: Of the documents.
VERSION = 2


class BenchmarkError(Exception):
    """A package could not be measured, or a file of results not be read."""


def as_document(
    results: dict[str, list[Measurement]],
    missing: dict[str, list[Missing]],
    place: dict[str, str],
) -> dict[str, Any]:
    """Give results as ``--json`` writes them."""
    return {
        "version": VERSION,
        **place,
        "packages": {name: [item.as_dict() for item in items] for name, items in results.items()},
        "missing": {name: [item._asdict() for item in items] for name, items in missing.items()},
    }


def check_plot(path: Path) -> None:
    """Refuse what `draw()` could not draw.

    Raises
    ------
    BenchmarkError
        matplotlib is not installed, or knows no pictures with that ending.
    """
    try:
        backends = need("matplotlib.backend_bases", "A plot", "plot")
    except ImportError as error:
        raise BenchmarkError(str(error)) from error
    known = sorted(backends.FigureCanvasBase.get_supported_filetypes())
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
    """Draw small multiples: a panel for each curve, with its baselines dashed.

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
        against: dict[str, list[Measurement]] = {}
        for point in points:
            against.setdefault(point.against, []).append(point)
        first = next(iter(against.values()))
        places = [point.x for point in first]
        axis.plot(places, [point.seconds for point in first], "o-", label=package)
        for name_of, beside in against.items():
            axis.plot(
                [point.x for point in beside],
                [point.baseline for point in beside],
                "--",
                marker=".",
                linewidth=1,
                label=name_of,
            )
        if len(places) > 1:
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


class Outputs(NamedTuple):
    """Places of results: files, or for JSON one that is open already."""

    json: Path | TextIO | None
    plot: Path | None
    page: Path | None

    def check(self) -> None:
        """Refuse what would fail after the measurements.

        Raises
        ------
        BenchmarkError
            A file cannot be written, or holds something else.
        """
        for path in (self.json, self.plot, self.page):
            if isinstance(path, Path):
                check_writable(path)
        if self.plot is not None:
            check_plot(self.plot)
        if self.page is not None:
            try:
                check_page(self.page)
            except ValueError as error:
                raise BenchmarkError(str(error)) from error

    def write(
        self,
        results: dict[str, list[Measurement]],
        missing: dict[str, list[Missing]],
        place: dict[str, str],
    ) -> None:
        """Write results."""
        if self.json is not None:
            text = json.dumps(as_document(results, missing, place), indent=1) + "\n"
            if isinstance(self.json, Path):
                self.json.write_text(text)
                print(f"results: {self.json}")
            else:
                self.json.write(text)
        if self.plot is not None:
            draw(results, self.plot)
            print(f"plot: {self.plot}")
        if self.page is not None:
            picture = write_page(self.page, results, missing, place)
            print(f"page: {self.page}, with {picture}")
