# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars on stderr: of work, with the best so far and the bound on what is left."""

from __future__ import annotations

import io
import re
import types
from typing import Any

import pytest

import accelforge as af
from accelforge.mapper.FFM.search import search
from accelforge.util import progress as progress_bar
from accelforge.util.parallel import delayed, parallel
from accelforge.util.progress import Progress, say
from tests.accelforge.mapper import mapspaces
from tests.accelforge.mapper.small import Terminal, chain_of


class Notebook(io.StringIO):
    __module__ = "ipykernel.iostream"


def see(monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    # pytest puts its own stderr in place between fixtures and the test.
    monkeypatch.setattr(progress_bar, "sys", types.SimpleNamespace(stderr=stream))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal.seen(monkeypatch)


def show(monkeypatch: pytest.MonkeyPatch, stream: Any, label: str | None) -> str:
    see(monkeypatch, stream)
    with Progress(4, label) as progress:
        progress.update(3)
        progress.update()
    say("done")
    return "" if stream is None else stream.getvalue()


@pytest.mark.parametrize("stream", [Terminal, Notebook])
def test_a_terminal_and_a_notebook_see_one_line(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    text = show(monkeypatch, stream(), "Searching")
    assert text.startswith("\rSearching:   0% |")
    last, *after = text.rpartition("\r")[2].splitlines()
    assert re.fullmatch(rf"Searching: 100% \|{'#' * 24}\| \[\d+\.\d s\]", last.strip())
    assert after == ["done"]


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(monkeypatch, io.StringIO(), "Searching") == ""


def test_without_a_label_there_is_no_bar(terminal: Terminal) -> None:
    with Progress(4, None) as progress:
        progress.update()
        assert not progress.shown
    assert terminal.getvalue() == ""


def test_without_stderr_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    show(monkeypatch, None, "Searching")


def test_nothing_to_do_is_done(terminal: Terminal) -> None:
    Progress(0, "Searching").close()
    assert "100%" in terminal.getvalue()


def test_a_shorter_note_leaves_nothing_of_a_longer_one(terminal: Terminal) -> None:
    with Progress(1, "Searching", note="a long note") as progress:
        progress.reach(1, "short")
    first, last = terminal.getvalue().strip("\r\n").split("\r")
    assert first.endswith("a long note")
    assert len(last) == len(first)
    assert last.rstrip().endswith("short")


def test_parallel_jobs_have_one(terminal: Terminal) -> None:
    assert parallel([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1, pbar="Jobs") == [1, 2]
    assert "Jobs: 100%" in terminal.getvalue()


# --- the mapper -----------------------------------------------------------------------------------


def test_a_search_says_the_best_so_far_and_the_bound() -> None:
    states: list[dict[str, Any]] = []
    groups, _ = search(
        mapspaces.gemm({"m": 24, "n": 24, "k": 24}, glb=400, registers=12),
        threads=1,
        progress=states.append,
    )
    best = min(float(group.objectives[:, 0].min()) for group in groups)
    for state in states:
        # Nothing better than both was left out.
        assert min(state["best"][0], state["bound"][0]) <= best * (1 + 1e-9)
        assert state["best"][0] >= best * (1 - 1e-9)
    assert states[-1]["best"][0] == pytest.approx(best)
    assert states[-1]["bound"][0] == float("inf")
    work = [state["done"] for state in states]
    assert work == sorted(work)


def test_every_stage_of_several_einsums_says_both(terminal: Terminal) -> None:
    spec = chain_of(3, buffer=2000, size=8)
    spec.mapper.metrics = af.Metrics.ENERGY
    result = spec.map_workload_to_arch()
    shown = [line for line in re.split("[\r\n]", terminal.getvalue()) if line]
    stages = {line.partition(":")[0] for line in shown if line.startswith("Searching")}
    assert len(stages) > 1
    later = [line for line in shown if line.startswith("Searching Einsums,")]
    assert later
    for line in later:
        found = re.search(r"\] energy ([\d.]+) (k?)J(?:, at least ([\d.]+) (k?)J)?", line)
        assert found, line
        scale = {"": 1.0, "k": 1000.0}
        assert float(found[1]) * scale[found[2]] >= result.energy() * 0.99
        if found[3]:
            assert float(found[3]) * scale[found[4]] <= result.energy() * 1.01
    assert shown[-1] == "Found 1 Pareto-optimal mapping"


def test_the_mapper_is_quiet_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    chain_of(2).map_workload_to_arch()
    assert capfd.readouterr() == ("", "")
