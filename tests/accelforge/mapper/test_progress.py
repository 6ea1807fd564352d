# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars on stderr."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from accelforge.util.parallel import delayed, parallel
from accelforge.util.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)


def show(monkeypatch: pytest.MonkeyPatch, stream: Any, label: str | None) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(4, label) as progress:
        progress.update(3)
        progress.update()
    return "" if stream is None else stream.getvalue()


@pytest.mark.usefixtures("without_tqdm")
def test_a_terminal_sees_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = show(monkeypatch, Terminal(), "Searching")
    assert text.startswith("\rSearching:   0% |")
    assert text.rpartition("\r")[2].startswith(f"Searching: 100% |{'#' * 24}| 4/4 [")
    assert text.count("\n") == 1
    assert text.endswith("\n")


@pytest.mark.usefixtures("without_tqdm")
def test_a_file_sees_the_beginning_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = show(monkeypatch, io.StringIO(), "Searching").splitlines()
    assert [line.partition(" |")[0] for line in lines] == ["Searching:   0%", "Searching: 100%"]


def test_tqdm_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    assert "4/4" in show(monkeypatch, io.StringIO(), "Searching")


def test_without_a_label_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(monkeypatch, io.StringIO(), None) == ""


def test_without_stderr_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    show(monkeypatch, None, "Searching")


@pytest.mark.usefixtures("without_tqdm")
def test_nothing_to_do_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    Progress(0, "Searching").close()
    assert "100%" in stream.getvalue()


@pytest.mark.usefixtures("without_tqdm")
def test_parallel_jobs_have_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert parallel([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1, pbar="Jobs") == [1, 2]
    assert "Jobs: 100%" in capsys.readouterr().err
