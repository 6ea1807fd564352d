# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a run of the tests, in place of a letter per test.

A terminal has one line that is updated in place, anything else a line every ten seconds at most. A
test that fails is named at once; why it failed is said at the end. The time left is estimated
from how long the tests took in the last run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.support.report import part_of

__all__ = ["RunProgress"]

PAUSE_S = 10.0
PAUSE_IN_PLACE_S = 0.2


class RunProgress:
    """Shows how many tests are over; a plugin of the process that reports.

    Parameters
    ----------
    terminal : pytest.TerminalReporter
        What is written to.
    times : mapping of str to float
        Seconds that tests took.
    """

    def __init__(self, terminal: pytest.TerminalReporter, times: Mapping[str, float]) -> None:
        self._terminal = terminal
        self._pause = PAUSE_IN_PLACE_S if terminal.isatty else PAUSE_S
        self._times = times
        self._usual = sum(times.values()) / len(times) if times else 1.0
        self._names: set[str] = set()
        self._total_s = self._done_s = 0.0
        self._done = self._failed = 0
        self._began = self._shown = time.monotonic()

    def expect(self, names: Iterable[str]) -> None:
        """Note the tests that will be run."""
        if not self._names:
            self._names = set(names)
            self._total_s = sum(self._times.get(name, self._usual) for name in self._names)
            self._began = self._shown = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests of this process."""
        self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Note the tests of the processes of pytest-xdist, which all have the same."""
        self.expect(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Iterator[object]:
        """Keep the category of a test, and leave out its letter."""
        status = yield
        return (status[0], "", "") if status else status  # type: ignore[index, return-value]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that is over, and name one that failed."""
        if report.failed:
            self._failed += 1
            self._say(f"failed: {report.nodeid}")
            if self._terminal.isatty:
                self._terminal.write_line("")
        if report.when != "teardown":
            return
        self._done += 1
        self._done_s += self._times.get(report.nodeid, self._usual)
        now = time.monotonic()
        if now - self._shown >= self._pause:
            self._shown = now
            self._show(part_of(report.nodeid), now - self._began)

    def _show(self, part: str, elapsed: float) -> None:
        left = elapsed * max(0.0, self._total_s / self._done_s - 1) if self._done_s else 0.0
        text = f"tests: {self._done} of {len(self._names)}"
        text += f", {self._failed} failed" if self._failed else ""
        self._say(f"{text}, {left:.0f} s left  {part}")

    def _say(self, text: str) -> None:
        if self._terminal.isatty:
            self._terminal.rewrite(text, erase=True)
        else:
            self._terminal.write_line(text)

    def pytest_sessionfinish(self) -> None:
        """End the line that was updated."""
        if self._terminal.isatty:
            self._terminal.rewrite("", erase=True)
