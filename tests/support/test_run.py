# SPDX-License-Identifier: BSD-3-Clause
"""Tests that run beside each other: stable names, a room for those that are alone, the report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import alone
from tests.support.report import BUDGET, RunReport, leave_out_long

# Text of an object that has none of its own, as Python writes it; xdist compares the rest.
ADDRESS = re.compile(r"<.+ at 0x[0-9a-f]+>")


def test_names_of_tests_are_the_same_in_each_process(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid for item in request.session.items]
    assert [name for name in names if ADDRESS.search(name)] == []
    assert ADDRESS.search(f"test_x[{object()!r}]")
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("words", "passes"), [(["-m"], False), (["-P", "-m"], True)])
def test_packages_in_the_tree_are_not_taken_for_sanitized_ones(
    root: Path, tmp_path: Path, words: list[str], passes: bool
) -> None:
    site = tmp_path / "site"
    (site / "offchip").mkdir(parents=True)
    (site / "offchip" / "__init__.py").touch()
    command = [sys.executable, *words, "pytest", "-n0", "-p", "no:offchip", "--collect-only", "-q"]
    done = subprocess.run(
        [*command, "tests/support/test_leak_guard.py"],
        cwd=root,
        env={**os.environ, "OFFCHIP_PRESET": "asan", "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == (0 if passes else pytest.ExitCode.USAGE_ERROR), done.stderr
    assert ("OFFCHIP_PRESET is asan" in done.stderr) is not passes


class Visitor(threading.Thread):
    """Is in the room until it is told to leave; each opens the locks itself, as a process does."""

    def __init__(self, is_alone: bool) -> None:
        super().__init__()
        self.is_alone = is_alone
        self.inside, self.leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with alone.room(self.is_alone):
            self.inside.set()
            self.leave.wait(20)


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
def test_nobody_is_beside_a_test_that_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool, second: bool
) -> None:
    monkeypatch.setenv(alone.FOLDER, str(tmp_path))
    there = Visitor(first)
    assert there.inside.wait(20)
    comes = Visitor(second)
    assert not comes.inside.wait(0.3)
    there.leave.set()
    assert comes.inside.wait(20)
    comes.leave.set()
    there.join()
    comes.join()


def test_who_waits_to_be_alone_is_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(alone.FOLDER, str(tmp_path))
    pair = [Visitor(False), Visitor(False)]
    assert all(visitor.inside.wait(20) for visitor in pair)
    waits = Visitor(True)
    assert not waits.inside.wait(0.3)
    late = Visitor(False)
    assert not late.inside.wait(0.3)
    for visitor in pair:
        visitor.leave.set()
    assert waits.inside.wait(20)
    assert not late.inside.is_set()
    waits.leave.set()
    assert late.inside.wait(20)
    late.leave.set()
    for visitor in (*pair, waits, late):
        visitor.join()


def test_the_quickest_tests_fit_into_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"a": 1.0, "b": 5.0, "c": 2.0}))

    def left(budget: str) -> tuple[list[str], list[str]]:
        monkeypatch.setenv(BUDGET, budget)
        items = [SimpleNamespace(nodeid=name) for name in "abcd"]
        out = leave_out_long(items, times)  # type: ignore[arg-type]
        return [item.nodeid for item in items], [item.nodeid for item in out]

    assert left("3.3") == (["a", "c", "d"], ["b"])
    assert left("3.1") == (["a", "d"], ["c", "b"])
    assert left("0.1") == ([], ["d", "a", "c", "b"])
    monkeypatch.setenv(BUDGET, "0.3")
    names = ("tests/x/abi/a", "tests/x/abi/b", "tests/x/unit/c", "tests/x/unit/d")
    times.write_text(json.dumps({names[0]: 0.4, names[2]: 3.0}))
    items = [SimpleNamespace(nodeid=name) for name in names]
    leave_out_long(items, times)  # type: ignore[arg-type]
    assert [item.nodeid for item in items] == list(names[1:])
    monkeypatch.delenv(BUDGET)
    items = [SimpleNamespace(nodeid="a")]
    assert leave_out_long(items, tmp_path / "none") == []  # type: ignore[arg-type]


def test_parts_take_turns_in_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BUDGET, "0.7")
    names = ["tests/x/abi/a", "tests/x/abi/b", "tests/x/abi/c", "tests/x/reference/d"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    out = leave_out_long(items, tmp_path / "none")  # type: ignore[arg-type]
    assert [item.nodeid for item in out] == ["tests/x/abi/c"]


def test_a_run_ends_with_its_parts_and_what_failed(tmp_path: Path) -> None:
    (tmp_path / "tests/one").mkdir(parents=True)
    (tmp_path / "tests/two").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests/one/test_a.py").write_text("import time\ndef test_good(): time.sleep(0.2)\n")
    (tmp_path / "tests/two/test_b.py").write_text(
        "import pytest\n@pytest.mark.parametrize('x', ['a b'])\ndef test_bad(x): assert 0\n"
    )
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom tests.support.report import RunReport\n"
        "def pytest_configure(config):\n"
        f"    config.pluginmanager.register(RunReport(Path({str(tmp_path / 't.json')!r})))\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--import-mode=importlib", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert re.search(r"^one +0\.2 s  1 passed$", done.stdout, re.M), done.stdout
    assert re.search(r"^two +\d\.\d s  1 failed$", done.stdout, re.M)
    assert ".venv/bin/pytest 'tests/two/test_b.py::test_bad[a b]'" in done.stdout
    known = json.loads((tmp_path / "t.json").read_text())
    assert known["tests/one/test_a.py::test_good"] >= 0.2
    assert time.time() - (tmp_path / "t.json").stat().st_mtime < 100


def test_times_that_cannot_be_kept_fail_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    RunReport(tmp_path / "file" / "times.json").pytest_sessionfinish()
