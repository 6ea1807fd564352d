# SPDX-License-Identifier: BSD-3-Clause
"""Studies: figures of each combination of profile keys, kept in a file, from Python and a shell."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpu import DpuError, DpuSet
from dpu.study import FIGURES, Host, Point, Study, StudyError, main, study
from offchip.store import StoreError

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]

SOURCE = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 4
    .text
    .globl main
main:
    move r0, 1000
again:
    add r0, r0, -1, nz, again
    jump r23
"""
HOST = f"""
import io
from dpu import DpuSet
with DpuSet(nr_dpus=2, asm_source=io.StringIO({SOURCE!r})) as dpus:
    dpus.exec()
    dpus.exec()
"""
KEYS = {"softPipelineCycles": [4, 8], "softTasklets": [3, 24]}


def launch(profile):
    with DpuSet(nr_dpus=1, profile=profile, asm_source=io.StringIO(SOURCE)) as one:
        one.exec()
        return {"cycles": one.report[0].cycles}


def test_figures_of_all_combinations():
    found = study(launch, KEYS, figures=["cycles"])
    assert [tuple(point.keys.values()) for point in found.points] == [
        ("4", "3"),
        ("4", "24"),
        ("8", "3"),
        ("8", "24"),
    ]
    small, four, _, eight = found.points
    assert "NR_TASKLETS is 4; a v1A has 1 to 3" in small.reason
    assert small.figures == {}
    assert eight.figures["cycles"] == pytest.approx(2 * four.figures["cycles"], rel=0.01)

    lines = found.table().splitlines()
    assert lines[0].split() == [*KEYS, "cycles"]
    assert lines[1].split()[:4] == ["4", "3", "-", "error:"]
    assert float(lines[2].split()[2]) == pytest.approx(four.figures["cycles"], rel=1e-5)
    assert found.as_dict()["points"][3] == {
        "keys": {"softPipelineCycles": "8", "softTasklets": "24"},
        "figures": eight.figures,
        "reason": "",
    }


def test_a_study_goes_on_where_it_was_ended(tmp_path):
    ran = []

    def fails_at_third(profile):
        ran.append(profile)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return launch(profile)

    file = tmp_path / "study.db"
    with pytest.raises(KeyboardInterrupt):
        study(fails_at_third, KEYS, figures=["cycles"], file=file, about="four")
    found = study(fails_at_third, KEYS, figures=["cycles"], file=file, about="four")
    assert len(ran) == 5
    assert ran[2] == ran[3]
    assert found == study(launch, KEYS, figures=["cycles"])
    assert found == study(None, KEYS, figures=["cycles"], file=file, about="four")

    with pytest.raises(StoreError, match=r"has another study: different about\. Give another"):
        study(launch, KEYS, figures=["cycles"], file=file, about="five")
    with pytest.raises(StoreError, match="has another study: different keys"):
        study(launch, {"softTasklets": [4]}, figures=["cycles"], file=file, about="four")


def test_an_executor_runs_points():
    with ThreadPoolExecutor(2) as pool:
        assert study(launch, KEYS, figures=["cycles"], executor=pool) == study(
            launch, KEYS, figures=["cycles"]
        )

        def broken(profile):
            raise ZeroDivisionError(profile)

        with pytest.raises(ZeroDivisionError, match="softPipelineCycles=4"):
            study(broken, {"softPipelineCycles": [4]}, figures=["cycles"], executor=pool)


def test_a_host_is_run_with_each_profile(monkeypatch):
    monkeypatch.setenv("UPMEM_PROFILE", "softDmaEngines=2")
    host = Host((sys.executable, "-P", "-c", HOST))
    found = host("softPipelineCycles=8")
    one = launch("softPipelineCycles=8")
    assert (found["launches"], found["cycles"]) == (2, 2 * one["cycles"])
    assert set(found) == set(FIGURES)
    assert found["launch_seconds"] == pytest.approx(2 * (one["cycles"] / 350e6 + 170e-6), rel=1e-3)
    assert found["seconds"] >= found["launch_seconds"]
    assert math.isnan(found["launch_joules"])
    found = host("softPipelineCycles=8,softInstructionPicojoules=500")
    assert found["launch_joules"] == pytest.approx(500e-12 * found["instructions"], rel=1e-5)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("/nowhere/host",), "/nowhere/host cannot be run: No such file"),
        (("sh", "-c", "seq 9 >&2; exit 3"), "ended with status 3: 7 / 8 / 9$"),
        (("true",), "no DPU was launched"),
    ],
)
def test_a_host_that_cannot_be_used_is_the_reason(command, why):
    with pytest.raises(StudyError, match=why):
        Host(command)("softPipelineCycles=8")
    [point] = study(Host(command), {"softPipelineCycles": [8]}).points
    assert point.reason != "" and point.figures == {}


def test_a_host_that_does_not_end_is_ended():
    with pytest.raises(StudyError, match=r"sleep took more than 0\.1 s"):
        Host(("sleep", "100"), 0.1)("softPipelineCycles=8")


def test_no_keys_are_refused():
    for keys in {}, {"softTasklets": []}:
        with pytest.raises(ValueError, match="a study needs keys, and values of each"):
            study(launch, keys)


def test_a_table_has_all_digits_of_cycles():
    figures = {"cycles": 1468715.0, "seconds": 1.46871512345}
    points = (Point({"softDmaEngines": "1"}, figures),)
    found = Study({"softDmaEngines": ("1",)}, tuple(figures), points)
    assert found.table().splitlines()[1].split() == ["1", "1468715", "1.46872"]


def test_the_command_prints_a_table_or_an_object(tmp_path, capsys):
    words = ["--key", "softPipelineCycles=4,8", "--file", str(tmp_path / "x.db")]
    host = ["--", sys.executable, "-P", "-c", HOST]
    assert main([*words, *host]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["softPipelineCycles", *FIGURES]
    assert main(["--json", *words, *host]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert {point["figures"]["launch_joules"] for point in points} == {None}
    assert [str(int(point["figures"]["cycles"])) for point in points] == [
        row.split()[2] for row in table[1:]
    ]
    assert main(["--key", "softTasklets=3", *host]) == 1
    assert "NR_TASKLETS is 4" in capsys.readouterr().out
    (tmp_path / "text.db").write_text("no database" * 100)
    assert main([*words[:2], "--file", str(tmp_path / "text.db"), *host]) == 2
    assert "has no study" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--key", "softTasklets", *host])
    assert "expected NAME=VALUE,VALUE..., not 'softTasklets'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(host)
    assert "the following arguments are required: --key" in capsys.readouterr().err


# In a process of its own, as matplotlib keeps the fonts open that it has read.
PLOT = """
from dpu.study import Point, Study
points = [Point({"a": a, "b": b}, {"cycles": int(a) * 10 + int(b)}) for a in "12" for b in "34"]
points[-1] = Point(points[-1].keys, reason="too large")
found = Study({"a": ("1", "2"), "b": ("3", "4")}, ("cycles",), tuple(points))
axes = found.plot()
print(*(line.get_ydata().tolist() for line in axes.get_lines()))
print(axes.get_xlabel(), *(text.get_text() for text in axes.get_legend().get_texts()))
axes.figure.savefig("x.svg")
try:
    found.plot("seconds")
except ValueError as error:
    print(error)
"""


@pytest.mark.nosanitize  # matplotlib throws C++ exceptions, which ASan takes over and cannot
def test_a_plot_has_a_line_for_each_of_the_other_keys(tmp_path):
    pytest.importorskip("matplotlib.backend_bases")
    done = subprocess.run(
        [sys.executable, "-P", "-c", PLOT],
        env={**os.environ, "MPLBACKEND": "agg"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "[13, 23] [14.0, nan]",
        "a b=3 b=4",
        "figures are cycles, not 'seconds'",
    ]
    assert (tmp_path / "x.svg").stat().st_size > 1000


def test_a_misspelt_key_is_the_reason():
    [point] = study(launch, {"softPipelineDepth": [5]}, figures=["cycles"]).points
    assert "has no key 'softPipelineDepth'" in point.reason
    with pytest.raises(DpuError):
        launch("softPipelineDepth=5")
