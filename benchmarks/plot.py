# SPDX-License-Identifier: BSD-3-Clause
"""Draw the curves of benchmark results: ``plot.py RESULT.json... [--out FOLDER]``.

One picture a file and unit: bandwidth over bytes, latency over the pause between calls, rates over
tasklets or DPUs; both axes logarithmic, with baselines dashed and the quartiles shaded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

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


def draw(document: dict[str, Any], stem: str, folder: Path) -> list[Path]:
    """Draw one result and return the pictures."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    written = []
    for unit, series in curves(document["rows"]).items():
        figure, axes = pyplot.subplots(figsize=(10, 5), layout="constrained")
        for name, points in series.items():
            x = [p["x"] for p in points]
            (line,) = axes.plot(x, [p["median"] for p in points], marker="o", ms=3, label=name)
            axes.fill_between(
                x,
                [p["p25"] for p in points],
                [p["p75"] for p in points],
                alpha=0.2,
                color=line.get_color(),
            )
            plain = [p for p in points if p["baseline"]]
            axes.plot(
                [p["x"] for p in plain],
                [p["baseline"] for p in plain],
                linestyle="--",
                linewidth=1,
                color=line.get_color(),
                label=f"{name}: baseline" if plain else None,
            )
        x_label, y_label = AXES.get(unit, ("", unit))
        axes.set(xscale="log", yscale="log", xlabel=x_label, ylabel=y_label)
        if x_label == "bytes":
            axes.set_xscale("log", base=2)
        environment = document["environment"]
        axes.set_title(
            f"{document['benchmark']}: {environment['cpu']}, {environment['cores usable']} cores, "
            f"offchip {environment['offchip']} ({environment['revision']})",
            fontsize=8,
        )
        axes.grid(which="both", alpha=0.2)
        figure.legend(fontsize=7, loc="outside right upper")
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
