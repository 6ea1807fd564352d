# SPDX-License-Identifier: BSD-3-Clause
"""A line per part at the end of a run, and how to run a test that failed alone.

How long each test took is kept in ``build/test-times.json``. With ``OFFCHIP_TEST_BUDGET`` (seconds
of all processes) C units and the quickest are run that fit into it, as `make check` does.
"""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter, defaultdict
from pathlib import Path

import pytest

__all__ = ["RunReport", "leave_out_long", "part_of", "read_times"]

UNKNOWN_S = 0.2
BUDGET = "OFFCHIP_TEST_BUDGET"


def part_of(name: str) -> str:
    """Give the part that a test is of, such as ``accl/unit``."""
    return name.partition("::")[0].rpartition("/")[0].removeprefix("tests/")


def read_times(path: Path) -> dict[str, float]:
    """Read how long tests took; nothing where that is not known."""
    try:
        times: dict[str, float] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return times


def leave_out_long(items: list[pytest.Item], times: Path) -> list[pytest.Item]:
    """Take tests out of a list: C units stay, and the quickest others as far as the budget goes.

    What C units take is not known: without sanitizers it is a fraction. Parts take turns where
    tests are as quick, or their times are not known.
    """
    budget = float(os.environ.get(BUDGET, "inf"))
    known = read_times(times) if budget < float("inf") else {}
    places = []
    turns: Counter[str] = Counter()
    for item in items:
        part = part_of(item.nodeid)
        if not part.endswith("/unit"):
            turns[part] += 1
            places.append((known.get(item.nodeid, UNKNOWN_S), turns[part], item))

    left_out = []
    for seconds, _, item in sorted(places, key=lambda place: place[:2]):
        budget -= seconds
        if budget < 0:
            left_out.append(item)
    gone = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in gone]
    return left_out


class RunReport:
    """Counts what was run; a plugin of the process that reports."""

    def __init__(self, times: Path) -> None:
        self._times = times
        self._seconds: dict[str, float] = defaultdict(float)
        self._outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self._failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test."""
        self._seconds[report.nodeid] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[part_of(report.nodeid)][report.outcome] += 1
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show a line per part, then how to run what failed."""
        if len(self._outcomes) > 1:
            terminalreporter.section("parts")
        for part, outcomes in sorted(self._outcomes.items()) if len(self._outcomes) > 1 else ():
            total = sum(seconds for name, seconds in self._seconds.items() if part_of(name) == part)
            counts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
            terminalreporter.write_line(f"{part:24} {total:7.1f} s  {counts}")
        if self._failed:
            terminalreporter.section("to run one that failed alone")
        for name in dict.fromkeys(self._failed):
            terminalreporter.write_line(f".venv/bin/pytest {shlex.quote(name)}")

    def pytest_sessionfinish(self) -> None:
        """Keep the times."""
        try:
            self._times.parent.mkdir(exist_ok=True)
            fresh = self._times.with_suffix(".new")
            fresh.write_text(json.dumps({**read_times(self._times), **self._seconds}))
            os.replace(fresh, self._times)
        except OSError:
            pass  # A tree that cannot be written to has no times.
