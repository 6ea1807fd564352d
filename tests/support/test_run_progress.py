# SPDX-License-Identifier: BSD-3-Clause
"""The line that says how far a run of the tests is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.support import run_progress
from tests.support.run_progress import RunProgress


class Terminal:
    """Notes what a reporter is told to write."""

    def __init__(self, isatty: bool) -> None:
        self.isatty = isatty
        self.lines: list[str] = []

    def write_line(self, text: str) -> None:
        self.lines.append(text)

    def rewrite(self, text: str, erase: bool) -> None:
        assert erase
        self.lines.append(f"\r{text}")


def over(name: str, failed: bool = False) -> SimpleNamespace:
    return SimpleNamespace(nodeid=name, when="teardown", failed=failed)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(run_progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_log_has_a_line_every_ten_seconds(clock: SimpleNamespace) -> None:
    terminal = Terminal(isatty=False)
    # The third is not known: it counts as the mean of the others.
    progress = RunProgress(terminal, {"tests/a/t.py::1": 1.0, "tests/a/t.py::2": 3.0})  # type: ignore[arg-type]
    names = [f"tests/a/t.py::{number}" for number in (1, 2, 3)]
    progress.pytest_xdist_node_collection_finished(names)
    progress.pytest_xdist_node_collection_finished(names)
    clock.now += 9.9
    progress.pytest_runtest_logreport(over(names[0]))  # type: ignore[arg-type]
    assert terminal.lines == []
    clock.now += 0.1
    progress.pytest_runtest_logreport(SimpleNamespace(nodeid=names[1], when="call", failed=True))  # type: ignore[arg-type]
    progress.pytest_runtest_logreport(over(names[1]))  # type: ignore[arg-type]
    # Four of six seconds took ten.
    failed = "failed: tests/a/t.py::2"
    assert terminal.lines == [failed, "tests: 2 of 3, 1 failed, 5 s left  a"]
    progress.pytest_sessionfinish()
    assert len(terminal.lines) == 2


def test_a_terminal_has_one_line(clock: SimpleNamespace) -> None:
    terminal = Terminal(isatty=True)
    progress = RunProgress(terminal, {})  # type: ignore[arg-type]
    progress.expect(["tests/a/b/t.py::1", "tests/a/b/t.py::2"])
    clock.now += 0.2
    progress.pytest_runtest_logreport(over("tests/a/b/t.py::1"))  # type: ignore[arg-type]
    progress.pytest_runtest_logreport(over("tests/a/b/t.py::2", failed=True))  # type: ignore[arg-type]
    progress.pytest_sessionfinish()
    failed = "\rfailed: tests/a/b/t.py::2"
    assert terminal.lines == ["\rtests: 1 of 2, 0 s left  a/b", failed, "", "\r"]
