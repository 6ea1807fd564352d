# SPDX-License-Identifier: BSD-3-Clause
"""Prints what tests execute of csrc, folder by folder: ``coverage_table.py FOLDER [MISSED]``.

FOLDER has gcovr's ``above.json`` (by the tests above C; may be absent) and ``all.json`` (with the C
unit tests).
The table is written to ``table.txt`` and ``summary.json`` there too. With a path that begins with
MISSED, the lines and branches of all.json that were not executed are listed instead.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Tally", "format_table", "tally_folders"]

WANTED_LINES = 95.0
WANTED_BRANCHES = 80.0
# Lines of which a macro makes a function for each instruction, or a jump to each of them: a row of
# their own, as their branches are a hundred times as many as all others.
TABLES = (".def", ".inc", "/execute_alu.h")


@dataclass
class Tally:
    """Numbers of lines and branches, and of those that were executed."""

    lines: int = 0
    lines_hit: int = 0
    branches: int = 0
    branches_hit: int = 0

    def add(self, line: dict[str, Any]) -> None:
        """Count a line of gcovr's report."""
        self.lines += 1
        self.lines_hit += line["count"] > 0
        self.branches += len(line["branches"])
        self.branches_hit += sum(branch["count"] > 0 for branch in line["branches"])

    def percent(self) -> tuple[float, float]:
        """Give the percentages of lines and branches; what has none is covered."""
        lines = 100 * self.lines_hit / self.lines if self.lines else 100.0
        branches = 100 * self.branches_hit / self.branches if self.branches else 100.0
        return round(lines, 1), round(branches, 1)


def tally_folders(report: dict[str, Any]) -> dict[str, Tally]:
    """Count the folders of a report of gcovr, and "all" without tables."""
    found: dict[str, Tally] = defaultdict(Tally)
    for file in report["files"]:
        folder = Path(file["file"]).parent.as_posix()
        is_table = file["file"].endswith(TABLES)
        for line in file["lines"]:
            found[f"{folder} tables" if is_table else folder].add(line)
            if not is_table:
                found["all"].add(line)
    return dict(found)


def format_table(above: dict[str, Tally], every: dict[str, Tally]) -> str:
    """Lay out percentages; a star is beside what is below the goal."""
    rows = [
        f"{'':26}{'by tests above C':^22}{'by all tests':^22}{'count':^18}",
        f"{'folder':26}" + f"{'lines':>10}{'branches':>11} " * 2 + f"{'lines':>8}{'branches':>10}",
    ]
    for folder in sorted(every):
        cells = ""
        for tally in (above.get(folder, Tally(1)), every[folder]):
            lines, branches = tally.percent()
            cells += f"{lines:9.1f}{'*' if lines < WANTED_LINES else ' '}"
            cells += f"{branches:10.1f}{'*' if branches < WANTED_BRANCHES else ' '} "
        total = every[folder]
        rows.append(f"{folder:26}{cells}{total.lines:8}{total.branches:10}")
    rows.append(f"* below {WANTED_LINES:.0f} % of lines or {WANTED_BRANCHES:.0f} % of branches")
    return "\n".join(rows)


def list_missed(report: dict[str, Any], start: str) -> str:
    """List what was not executed in files whose path begins with START."""
    rows = []
    for file in report["files"]:
        if not file["file"].startswith(start):
            continue
        text = Path(file["file"]).read_text().splitlines()
        for line in file["lines"]:
            number = line["line_number"]
            missed = sum(branch["count"] == 0 for branch in line["branches"])
            if line["count"] == 0 or missed:
                what = "never" if line["count"] == 0 else f"{missed}/{len(line['branches'])}"
                source = text[number - 1].strip() if number <= len(text) else ""
                rows.append(f"{file['file']}:{number}: {what:>6}  {source}")
    return "\n".join(rows)


def main(folder: Path, missed: str = "") -> None:
    """Print the table, and write it."""
    every = json.loads((folder / "all.json").read_text())
    if missed:
        print(list_missed(every, missed))
        return
    above = folder / "above.json"
    above_report = json.loads(above.read_text()) if above.exists() else {"files": []}
    tallies = tally_folders(above_report), tally_folders(every)
    table = format_table(*tallies)
    (folder / "table.txt").write_text(table + "\n")
    summary = {
        folder_name: {
            name: dict(zip(("lines", "branches"), tally.percent(), strict=True))
            for name, tally in (("above", tallies[0].get(folder_name)), ("all", every_tally))
            if tally is not None
        }
        for folder_name, every_tally in tallies[1].items()
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=2, sort_keys=True) + "\n")
    print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
