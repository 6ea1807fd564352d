# SPDX-License-Identifier: BSD-3-Clause
"""Explore a design adaptively, killed and resumed, beside the same points in the real AccelForge.

A process of its own explores, and is killed with SIGKILL when parts of the points are in its file;
another one goes on. All points are there then, each once, and their sets are those of an
exploration that nobody stopped. ``--peer PYTHON`` names a Python that has AccelForge, which
evaluates 100 of the points.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import accelforge as af

HERE = Path(__file__).parent
DESIGN = HERE / "design.yaml"
OBJECTIVES = ["energy", "latency", "area"]
TILES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
PEER_POINTS = 100


def explore(count: int, file: Path, pbar: str | None = None) -> Any:
    """Explore the design; the same file goes on."""
    spec = af.Spec.from_yaml(DESIGN)
    parameters = {
        "variables.dram": af.Range(1e9, 1e12, log=True),
        "variables.port": af.Range(1e9, 1e13, log=True),
        "variables.lanes": af.Range(1, 4096, log=True, integer=True),
        "arch.Buffer.size": [round(2 ** (k / 4)) for k in range(48, 97)],
        "mapping.nodes[1].tile_shape": TILES,
        "mapping.nodes[2].tile_shape": TILES,
        "mapping.nodes[3].tile_shape": TILES,
    }
    return spec.explore(
        parameters, OBJECTIVES, method="adaptive", count=count, file=file, pbar=pbar
    )


def child(count: int, file: Path) -> None:
    """Explore in this process, and say what it took."""
    begin = time.process_time()
    found = explore(count, file)
    figures = {
        "seconds": found.seconds,
        "cpu_s": time.process_time() - begin,
        "evaluated": found.evaluated,
        "rows": len(found),
        "valid": int(found.valid.sum()),
        "front": len(found.front()),
        "complete": found.complete,
        "not_compiled": found.not_compiled,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def start(count: int, file: Path) -> subprocess.Popen[str]:
    """Explore in a process."""
    words = [sys.executable, __file__, "--child", str(file), "--count", str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def chunks_of(file: Path) -> int:
    """Count the chunks in a file whose writer is gone."""
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM chunks").fetchone()[0])


def kill_at(process: subprocess.Popen[str], file: Path, size: int) -> None:
    """Kill a process when its file has some size: nobody else may read it yet."""
    while process.poll() is None and not (file.exists() and file.stat().st_size >= size):
        time.sleep(0.02)
    if process.poll() is not None:
        raise SystemExit("the exploration ended before it was to be killed")
    process.kill()
    process.communicate()


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for what an exploration says."""
    text, _ = process.communicate()
    if process.returncode:
        raise SystemExit("the exploration failed")
    figures: dict[str, Any] = json.loads(text)
    return figures


def is_same(one: Path, other: Path) -> bool:
    """Compare the points of two files, row by row."""
    rows = "SELECT * FROM points ORDER BY point, mapping"
    with closing(sqlite3.connect(one)) as a, closing(sqlite3.connect(other)) as b:
        pairs = zip(a.execute(rows), b.execute(rows), strict=True)
        return all(x == y for x, y in pairs)


def check(count: int, file: Path) -> None:
    """Each point is there, and none twice."""
    query = "SELECT count(*), count(DISTINCT point), min(point), max(point) FROM points"
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute(query).fetchone()
    if found != (count, count, 0, count - 1):
        raise SystemExit(f"rows, points, first, last: {found}")


def compare(python: str, found: Any, file: Path) -> dict[str, float]:
    """Evaluate valid points with AccelForge."""
    rows = [int(i) for i in found.valid.nonzero()[0]]
    rows = rows[:: max(len(rows) // PEER_POINTS, 1)][:PEER_POINTS]
    done = subprocess.run(
        [python, str(HERE / "explore_peer.py"), str(DESIGN)],
        input=json.dumps([found.values(row) for row in rows]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    *theirs, seconds = map(json.loads, done.stdout.splitlines())
    worst = 0.0
    for row, costs in zip(rows, theirs, strict=True):
        for name, number in zip(OBJECTIVES, costs, strict=True):
            mine = float(found.objectives[name][row])
            worst = max(worst, abs(mine - number) / abs(number))
            if not math.isclose(mine, number, rel_tol=1e-6):
                raise SystemExit(f"row {row}, {name}: {mine}, AccelForge says {number}")
    few = finish(start(PEER_POINTS, file.with_suffix(".few")))
    return {
        "points": len(rows),
        "cpu_s_of_a_point": seconds,
        "largest_difference": worst,
        "ours_cpu_s_of_100_points": few["cpu_s"],
    }


def draw(found: Any, folder: Path) -> None:
    """Draw with the plots of the package."""
    from accelforge.plotting.explorations import plot_front, plot_parallel_coordinates

    for name, (figure, _) in {
        "front": plot_front(found, "area", "latency"),
        "parameters": plot_parallel_coordinates(found),
    }.items():
        figure.savefig(folder / f"accelforge_explore_{name}.svg", bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="points")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has AccelForge")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="draw; needs the extra plot")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.count, options.child)
        return

    with tempfile.TemporaryDirectory() as folder:
        killed, whole = Path(folder) / "killed.db", Path(folder) / "whole.db"
        figures: dict[str, Any] = {
            "count": options.count,
            "whole": finish(start(options.count, whole)),
        }
        size = whole.stat().st_size
        figures["chunks_at_kills"] = []
        for part in (1, 2):
            kill_at(start(options.count, killed), killed, size * part // 3)
            figures["chunks_at_kills"].append(chunks_of(killed))
        figures["resumed"] = finish(start(options.count, killed))
        check(options.count, killed)
        if not is_same(killed, whole):
            raise SystemExit("the exploration that was killed has other points")
        if options.peer or options.plot:
            found = explore(options.count, whole)
            if options.peer:
                figures["peer"] = compare(options.peer, found, whole)
                ours = figures["whole"]["cpu_s"] / options.count
                figures["peer"]["times_ours"] = figures["peer"]["cpu_s_of_a_point"] / ours
            if options.plot:
                draw(found, options.plot)
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
