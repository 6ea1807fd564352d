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

import pytest

from offchip import bench
from offchip.bench import BenchmarkError, compare_with, measure_package, read_document
from offchip.measurements import Measurement, compare, format_measurement

PACKAGE = """
import sys, os
from offchip.measurements import Measurement, main

FACTOR = float(os.environ.get("FACTOR", "1"))

def series():
    print("something else")
    os.write(1, b"and more\\n")  # as C code does
    open(os.environ["RAN"], "w").close()
    for x in (1024, 2048):
        yield Measurement("copy", x, "B", 2e-6 * FACTOR, 1e-6, 0.05, "another copy")
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


def test_work_and_baseline_are_measured_in_turn():
    order = []
    item = compare(
        "sleep",
        lambda: (order.append("work"), time.sleep(0.004)),
        lambda: (order.append("base"), time.sleep(0.001)),
        against="a shorter sleep",
        rounds=3,
    )
    assert order == ["work", "base"] * 4
    assert item.seconds >= 0.004
    assert item.baseline >= 0.001
    assert item.ratio == item.seconds / item.baseline
    assert "a shorter sleep" in format_measurement(item)


def test_results_come_from_a_process_of_the_package(fake):
    seen = []
    found = measure_package("fake", done=seen.append)
    assert seen == found
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
    assert measure_package("fake") == []
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
        ('{"version": 1, "packages": {"veo": [{"name": "x"}]}}', "KeyError: 'x'"),
        ('{"version": 9}', "results of version 9, and 1 is read"),
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
    assert [json.loads(item)["x"] for item in items] == [1024, 2048]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"json_path": "lost/results.json"}, "lost/results.json cannot be written: No such file"),
        ({"json_path": "packages"}, "packages cannot be written: it is a folder"),
        ({"plot_path": "lost/plot.svg"}, "lost/plot.svg cannot be written: No such file"),
        ({"earlier_path": "other.json"}, r"has results of veo, and fake is .* bench fake --json"),
        ({"earlier_path": "empty.json"}, "has results of nothing, and fake is to be compared"),
    ],
)
def test_what_would_fail_afterwards_is_refused_before(fake, monkeypatch, capsys, options, message):
    monkeypatch.chdir(fake)
    other = bench.as_document({"veo": [measured(2)], "fake": []})
    Path("other.json").write_text(json.dumps(other))
    Path("empty.json").write_text(json.dumps(bench.as_document({})))
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
    problem = "plots need matplotlib: install" if module == "matplotlib" else "must end in one of"
    assert problem in capsys.readouterr().err
    assert not (fake / "ran").exists()
    assert not path.exists()


def test_files_are_tried_without_a_trace(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    bench.check_writable(new)
    assert not new.exists()
    old.write_text("kept")
    bench.check_writable(old)
    assert old.read_text() == "kept"
    os.mkfifo(tmp_path / "pipe")
    bench.check_writable(tmp_path / "pipe")  # would wait for a reader if it was opened


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
    path.write_text(json.dumps(bench.as_document({"fake": [measured(2, name="renamed")]})))
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
from offchip.bench import draw
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
