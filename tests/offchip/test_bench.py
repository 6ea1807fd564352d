# SPDX-License-Identifier: BSD-3-Clause
"""`offchip bench`: measurements, results in files, comparison, plots."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

import veo
from offchip import bench
from offchip.bench import compare_with, measure_package, read_document
from offchip.bench_outputs import BenchmarkError, as_document, check_writable
from offchip.bench_page import BEGIN, END
from offchip.measurements import (
    LIMIT,
    PEER,
    Baseline,
    Effort,
    Measurement,
    Missing,
    compare,
    format_measurement,
)
from offchip.speed_picture import LETTER, Speed, draw_speeds

PACKAGE = """
import sys, os
from offchip.measurements import Measurement, Missing, main

FACTOR = float(os.environ.get("FACTOR", "1"))

def series(effort):
    print("something else")
    os.write(1, b"and more\\n")  # as C code does
    open(os.environ["RAN"], "w").close()
    for x in (1024, 2048):
        yield Measurement("copy", x, "B", 2e-6 * FACTOR, 1e-6, 0.05, "another copy")
    yield Missing("all", "a peer", "pip install peer")
    if "FAIL" in os.environ:
        raise RuntimeError("no memory left")

if __name__ == "__main__":
    sys.exit(main("fake", [series]))
"""


def measured(
    ratio: float, *, name: str = "copy", x: float = 8, spread: float = 0.02
) -> Measurement:
    return Measurement(name, x, "B", ratio * 1e-6, 1e-6, spread, "another copy")


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a package with fixed results on the path, as the only one there is."""
    folder = tmp_path / "packages" / "fake"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "bench.py").write_text(PACKAGE)
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    monkeypatch.setattr(bench, "PACKAGES", ("fake",))
    return tmp_path


def test_work_and_baselines_are_measured_in_turn():
    order = []
    item, ten = compare(
        "sleep",
        lambda: (order.append("work"), time.sleep(0.004)),
        [
            Baseline("a shorter sleep", lambda: (order.append("base"), time.sleep(0.001)), PEER),
            Baseline("ten in one", lambda: (order.append("ten"), time.sleep(0.01)), times=10),
        ],
        effort=Effort(rounds=3),
    )
    assert order == ["work", "base", "ten"] * 4
    assert item.seconds == ten.seconds >= 0.004
    assert item.baseline >= 0.001
    assert 0.001 <= ten.baseline < 0.01
    assert item.ratio == item.seconds / item.baseline
    assert (item.kind, ten.kind) == (PEER, LIMIT)
    assert "a shorter sleep" in format_measurement(item)


def test_results_come_from_a_process_of_the_package(fake):
    seen = []
    found, missing = measure_package("fake", done=seen.append)
    assert seen == [*found, *missing]
    assert missing == [Missing("all", "a peer", "pip install peer")]
    assert [(item.x, item.ratio) for item in found] == [(1024, 2.0), (2048, 2.0)]


def test_package_that_fails_is_an_error_with_its_last_line(fake, monkeypatch):
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(
        BenchmarkError, match="fake could not be measured: ended with status 1: RuntimeError: no"
    ):
        measure_package("fake")


def test_much_output_and_a_hang_end(fake, monkeypatch):
    module = fake / "packages" / "fake" / "bench.py"
    module.write_text("import sys, time\nsys.stderr.write('x' * 300_000)\nsys.stderr.flush()\n")
    assert measure_package("fake") == ([], [])
    module.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(bench, "TIMEOUT", 0.5)
    with pytest.raises(BenchmarkError, match=r"could not be measured: not done within 0\.5 s"):
        measure_package("fake")


def test_results_on_standard_output_are_alone_there(fake, capsys):
    assert bench.main([], json_path=Path("-")) == 0
    written = capsys.readouterr()
    assert json.loads(written.out)["packages"]["fake"][1]["ratio"] == 2.0
    assert "1 Ki B" in written.err


def test_command_writes_compares_and_fails_on_regression(fake, monkeypatch, capsys):
    path = fake / "results.json"
    assert bench.main([], json_path=path) == 0
    assert "1 Ki B" in capsys.readouterr().out
    document = json.loads(path.read_text())
    assert document["packages"]["fake"][1]["ratio"] == 2.0

    assert bench.main(["fake"], earlier_path=path) == 0
    assert "0 of 2 slower" in capsys.readouterr().out
    monkeypatch.setenv("FACTOR", "1.5")
    assert bench.main(["fake"], earlier_path=path) == 1
    assert "+50%  SLOWER" in capsys.readouterr().out
    assert bench.main(["fake"], earlier_path=path, tolerance=0.6) == 0
    monkeypatch.setenv("FAIL", "1")
    assert bench.main(["fake"]) == 2
    assert "offchip bench: fake could not be measured" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "has no results of `offchip bench --json`"),
        ("[]", "has no results"),
        ('{"version": 2, "packages": {"veo": [{"name": "x"}]}}', "KeyError: 'x'"),
        ('{"version": 9}', "results of version 9, and 2 is read"),
    ],
)
def test_file_of_something_else_is_refused(tmp_path, text, message):
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(BenchmarkError, match=message):
        read_document(path)


def test_module_prints_results_only(fake):
    done = subprocess.run(
        [sys.executable, "-P", "-m", "fake.bench", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "something else\n"
    first, *items = done.stdout.splitlines()
    assert first == "and more"
    assert [json.loads(item).get("x") for item in items] == [1024, 2048, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"json_path": "lost/results.json"}, "lost/results.json cannot be written: No such file"),
        ({"json_path": "packages"}, "packages cannot be written: it is a folder"),
        ({"page_path": "lost/page.md"}, "lost/page.md cannot be written: No such file"),
        ({"page_path": "other.json"}, "other.json exists and is no page of .* name a new file"),
        ({"plot_path": "lost/plot.svg"}, "lost/plot.svg cannot be written: No such file"),
        ({"earlier_path": "other.json"}, r"has results of veo, and fake is .* bench fake --json"),
        ({"earlier_path": "empty.json"}, "has results of nothing, and fake is to be compared"),
    ],
)
def test_what_would_fail_afterwards_is_refused_before(fake, monkeypatch, capsys, options, message):
    monkeypatch.chdir(fake)
    other = as_document({"veo": [measured(2)], "fake": []}, {}, {})
    Path("other.json").write_text(json.dumps(other))
    Path("empty.json").write_text(json.dumps(as_document({}, {}, {})))
    assert bench.main([], **{name: Path(value) for name, value in options.items()}) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not Path("ran").exists()


@pytest.mark.nosanitize  # matplotlib throws C++ exceptions, which ASan takes over and cannot
@pytest.mark.parametrize("module", ["matplotlib", "another"])
def test_plots_that_cannot_be_drawn_are_refused_before(fake, monkeypatch, capsys, module):
    if module == "matplotlib":
        monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    else:
        pytest.importorskip("matplotlib.backend_bases")
    path = fake / "plot.nonsense"
    assert bench.main([], plot_path=path) == 2
    problem = "A plot needs matplotlib, which" if module == "matplotlib" else "must end in one of"
    assert problem in capsys.readouterr().err
    assert not (fake / "ran").exists()
    assert not path.exists()


def test_files_are_tried_without_a_trace(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    check_writable(new)
    assert not new.exists()
    old.write_text("kept")
    check_writable(old)
    assert old.read_text() == "kept"
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")  # would wait for a reader if it was opened


def test_packages_without_earlier_results_are_named(fake, monkeypatch, capsys):
    path = fake / "earlier.json"
    assert bench.main(["fake"], json_path=path) == 0
    monkeypatch.setattr(bench, "PACKAGES", ("fake", "other"))
    (fake / "packages" / "other").symlink_to(fake / "packages" / "fake")
    capsys.readouterr()
    assert bench.main([], earlier_path=path) == 0
    printed = capsys.readouterr().out
    assert f"not compared, as {path} has no results of it: other\n" in printed
    assert "0 of 2 slower" in printed


def test_nothing_to_compare_is_no_success(fake, capsys):
    path = fake / "earlier.json"
    path.write_text(json.dumps(as_document({"fake": [measured(2, name="renamed")]}, {}, {})))
    assert bench.main([], earlier_path=path) == 2
    assert "has none of the measurements made now" in capsys.readouterr().err


def test_file_that_is_not_there_is_named(fake, capsys):
    assert bench.main([], earlier_path=fake / "lost.json") == 2
    assert "lost.json cannot be read: No such file" in capsys.readouterr().err


def test_only_growth_beyond_tolerance_and_spread_is_slower():
    before = {"veo": [measured(2), measured(2, x=16), measured(2, x=32, spread=0.5)]}
    now = {
        "veo": [
            measured(2.4),
            measured(2.6, x=16),
            measured(2.6, x=32, spread=0.5),
            measured(1, x=9),
        ]
    }
    changes = compare_with(before, now)
    assert [(change.x, change.slower) for change in changes] == [
        (8, False),
        (16, True),
        (32, False),
    ]


# In a process of its own, as matplotlib keeps the fonts open that it has read.
DRAW = """
import sys
from pathlib import Path
from offchip.bench_outputs import draw
from offchip.measurements import Measurement

def measured(name, *places):
    return [Measurement(name, x, "B", 2e-6, 1e-6, 0, "another") for x in places]

draw({"veo": measured("copy", 8, 2048) + measured("call", 0), "dpu": measured("copy", 4)},
     Path(sys.argv[1]))
"""


@pytest.mark.nosanitize  # as above
@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
def test_plot_has_a_panel_for_each_curve(tmp_path):
    path = tmp_path / "plot.svg"
    subprocess.run([sys.executable, "-c", DRAW, str(path)], check=True, timeout=60)
    text = path.read_text()
    for part in ("veo: copy", "veo: call", "dpu: copy", "2 Ki"):
        assert f"<!-- {part} -->" in text


def test_page_has_every_row_with_its_peer_and_says_what_is_missing(fake):
    path = fake / "page.md"
    assert bench.main([], page_path=path) == 0
    text = path.read_text()
    assert "| copy | 1 KiB | 2 us | limit: another copy | 1 us | 0.5 |\n" in text
    assert "| all |  |  | a peer | not measured: pip install peer |  |\n" in text
    for key in ("cpu", "load before", "numpy", "revision"):
        assert re.search(rf"^\* {key}: \S", text, re.MULTILINE)
    picture = path.with_suffix(".svg").read_text()
    assert "(page.svg)" in text
    assert "fake: copy" in picture
    assert "0.5 times limit: another copy" in picture


def test_page_keeps_what_is_around_its_marks(fake):
    path = fake / "page.md"
    path.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nTail\n")
    for _ in range(2):
        assert bench.main([], page_path=path) == 0
    text = path.read_text()
    assert text.startswith(f"# Mine\n\n{BEGIN}\n")
    assert text.endswith(f"{END}\n\nTail\n")
    assert "old" not in text
    assert text.count("| copy | 1 KiB |") == 1


@pytest.mark.parametrize("package", ["veo", "dpu", "accl", "accelforge"])
def test_packages_are_measured_beside_peers_and_limits(package, monkeypatch):
    """The form, and never the speed: what is compared, and that nothing fails."""
    for name in ("OFFCHIP_ACCELFORGE_PYTHON", "OFFCHIP_MPI_PYTHON", "OFFCHIP_PY_VEO"):
        monkeypatch.delenv(name, raising=False)
    found, missing = measure_package(package, quick=True)
    assert all(item.seconds > 0 and item.baseline > 0 for item in found)
    peers = {item.against for item in found if item.kind == PEER}
    peers |= {item.peer for item in missing}
    limits = {item.against for item in found if item.kind == LIMIT}
    expected = {
        "veo": ("the same calls in C", "memcpy"),
        "dpu": ("", "memcpy"),
        "accl": ("gloo through torch", "numpy.add of as much"),
        "accelforge": ("AccelForge", ""),
    }[package]
    for part, names in zip(expected, (peers, limits), strict=True):
        assert part == "" or any(name.startswith(part) for name in names), names


@pytest.mark.parametrize("package", ["veo", "dpu"])
def test_rows_without_a_compiler_say_how_to_get_one(package, monkeypatch):
    monkeypatch.setenv("CC", "/nowhere/cc")
    found, missing = measure_package(package, quick=True)
    assert {item.against for item in found} == {"memcpy"}
    assert all("on Debian: apt-get install gcc" in item.install for item in missing), missing
    assert "/nowhere/cc" in missing[0].install


def test_another_mpi_is_measured_too(monkeypatch):
    # The same one, as another is not installed: its ranks are started in the other way.
    monkeypatch.setenv("OFFCHIP_MPI_PYTHON", sys.executable)
    found, _ = measure_package("accl", quick=True)
    rows = [item for item in found if item.against.endswith("through mpi4py")]
    assert len(rows) == 2 * len({(item.name, item.x) for item in found}), rows


def test_another_mpi_that_cannot_be_run_is_a_row(monkeypatch):
    monkeypatch.setenv("OFFCHIP_MPI_PYTHON", "/nowhere/python")
    found, missing = measure_package("accl", quick=True)
    assert found
    assert "OFFCHIP_MPI_PYTHON: " in missing[-1].install
    assert "/nowhere/mpiexec" in missing[-1].install


def test_py_veo_is_measured_where_it_is_named(monkeypatch, tmp_path):
    # This package in its place, which runs what both have in common.
    (tmp_path / "veo").symlink_to(Path(veo.__file__).parent)
    monkeypatch.setenv("OFFCHIP_PY_VEO", str(tmp_path))
    found, missing = measure_package("veo", quick=True)
    assert "py-veo, on the same library" in {item.against for item in found}, missing


@pytest.mark.parametrize("is_there", [False, True])
def test_py_veo_that_cannot_be_run_is_a_row(monkeypatch, tmp_path, is_there):
    folder = tmp_path if is_there else tmp_path / "none"
    (tmp_path / "veo.py").write_text("raise ImportError")
    monkeypatch.setenv("OFFCHIP_PY_VEO", str(folder))
    found, missing = measure_package("veo", quick=True)
    assert found
    assert [item.peer for item in missing] == ["py-veo, on the same library"]
    assert missing[0].install.startswith("OFFCHIP_PY_VEO: ")


def test_original_that_fails_is_a_row(monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no AccelForge here >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("OFFCHIP_ACCELFORGE_PYTHON", str(python))
    found, missing = measure_package("accelforge", quick=True)
    assert found
    assert [item.peer for item in missing] == ["AccelForge"]
    assert f"that of {python} failed" in missing[0].install


def test_original_that_cannot_be_run_is_a_row(monkeypatch):
    monkeypatch.setenv("OFFCHIP_ACCELFORGE_PYTHON", "/nowhere/python")
    _, missing = measure_package("accelforge", quick=True)
    assert "is /nowhere/python, which cannot be run" in missing[0].install


@pytest.mark.parametrize("beside", ["memcpy", "a program with a long name, " * 4])
def test_the_picture_has_room_for_all_its_text(beside):
    picture = ElementTree.fromstring(draw_speeds([Speed("veo: a call", beside, 0.5, 20)]))
    texts = picture.iter("{http://www.w3.org/2000/svg}text")
    ends = [float(text.get("x")) + LETTER * len(text.text) for text in texts if beside in text.text]
    assert ends
    assert max(ends) <= float(picture.get("width"))
    assert picture.get("viewBox").split()[2] == picture.get("width")
