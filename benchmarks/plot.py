# SPDX-License-Identifier: BSD-3-Clause
"""Draw the curves of benchmark results: ``plot.py RESULT.json... [--out FOLDER]``.

One picture per file and unit: bandwidth over bytes, latency over the pause between calls, rates
over tasklets or DPUs. Each has a panel per series, with the same logarithmic axes, baselines dashed
and the quartiles shaded.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for `benchmarks`

from benchmarks.harness import size_name

Rows = list[dict[str, Any]]

MOST_COLUMNS = 4

AXES = {
    "GB/s": ("bytes", "bandwidth in GB/s"),
    "us": ("pause between calls in s", "latency in us"),
    "M/s": ("tasklets", "million instructions a second"),
    "1/s": ("DPUs", "launches of a DPU a second"),
}


def curves(rows: Rows) -> dict[str, dict[str, Rows]]:
    """Sort the rows that lie on a curve by unit and series."""
    found: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        # A pause of nothing has no place on a logarithmic axis.
        if row["x"]:
            found[row["unit"]][row["series"]].append(row)
    return {
        unit: {name: sorted(points, key=lambda p: p["x"]) for name, points in series.items()}
        for unit, series in found.items()
    }


def panels(series: dict[str, Rows]) -> dict[str, dict[str, Rows]]:
    """Put curves that belong together into one panel: same name but for a number or a variant.

    Parameters
    ----------
    series : dict
        The curves of a unit, as `curves` gives them.

    Returns
    -------
    dict
        Title of the panel to the curves in it by what tells them apart, which is empty for one.
    """
    found: dict[str, dict[str, Rows]] = defaultdict(dict)
    for name, points in series.items():
        match = re.fullmatch(r"(?P<title>.+?)(?:,? (?P<variant>\d+|\w+ offsets))?", name)
        if match is None:
            found[name][""] = points
        else:
            found[match["title"]][match["variant"] or ""] = points
    return dict(found)


def draw_curve(axes: Any, name: str, points: Rows) -> None:
    """Draw a curve with its quartiles, and its baseline dashed."""
    x = [p["x"] for p in points]
    (line,) = axes.plot(x, [p["median"] for p in points], marker="o", ms=3, label=name)
    color = line.get_color()
    low, high = [p["p25"] for p in points], [p["p75"] for p in points]
    axes.fill_between(x, low, high, alpha=0.2, color=color)

    compared = [p for p in points if p["baseline"]]
    baseline = [p["baseline"] for p in compared]
    axes.plot([p["x"] for p in compared], baseline, linestyle="--", linewidth=1, color=color)


def draw_unit(document: dict[str, Any], unit: str, series: dict[str, Rows]) -> Any:
    """Draw the curves of a unit as small multiples with the same axes."""
    from matplotlib import pyplot

    groups = panels(series)
    columns = min(MOST_COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    size = (max(3.2 * columns, 6), 2.4 * rows + 0.8)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )

    x_label, y_label = AXES.get(unit, ("", unit))
    for axes, (title, lines) in zip(grid.flat, groups.items(), strict=False):
        for name, points in lines.items():
            draw_curve(axes, name or title, points)
        axes.set(xscale="log", yscale="log")
        if x_label == "bytes":
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda x, _: size_name(int(x)) if x >= 1 else "")
        axes.set_title(title, fontsize=9)
        axes.grid(alpha=0.3)
        axes.tick_params(labelbottom=True, labelsize=7)
        if len(lines) > 1:
            axes.legend(fontsize=7)
    for axes in grid.flat[len(groups) :]:
        axes.set_visible(False)

    environment = document["environment"]
    figure.suptitle(
        f"{document['benchmark']}: {environment['cpu']}, {environment['cores usable']} cores, "
        f"offchip {environment['offchip']} ({environment['revision']}); dashed: baseline",
        fontsize=8,
    )
    figure.supxlabel(x_label, fontsize=8)
    figure.supylabel(y_label, fontsize=8)
    return figure


def draw(document: dict[str, Any], stem: str, folder: Path) -> list[Path]:
    """Draw one result and return the pictures."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    written = []
    for unit, series in curves(document["rows"]).items():
        figure = draw_unit(document, unit, series)
        path = folder / f"{stem}-{unit.replace('/', '_per_')}.png"
        figure.savefig(path, dpi=130)
        pyplot.close(figure)
        written.append(path)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULT.json")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="FOLDER")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in options.results:
        pictures = draw(json.loads(path.read_text()), path.stem, options.out)
        for picture in pictures:
            print(picture)
        if not pictures:
            print(f"{path}: no curves", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
