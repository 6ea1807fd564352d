# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, and the demo notices wrong results."""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("veo_hello.py", ["Hello from the VE, 42", "result: 3.0"]),
        ("veo_async.py", ["awaited: [500500, 50]", "called back with: [5050]", "done later: 300"]),
        ("veo_stack_args.py", ["total: 55.0", "mean of 10 values: 5.5"]),
        ("veo_static.py", ["dot product: 333."]),
        pytest.param(
            "veo_ve_code.py",
            ["1000 elements, 256 at a time", "largest difference: 0.0"],
            marks=pytest.mark.skipif(
                importlib.util.find_spec("ziglang") is None, reason="needs the ziglang wheel"
            ),
        ),
        ("accelforge_matmuls.py", ["unfused_matmuls_to_simple", "fused_matmuls_to_simple", "27%"]),
        (
            "accelforge_gemv.py",
            ["chosen", "not possible: blocks of 512", "no mapping is predicted to"],
        ),
        ("accelforge_sweep.py", ["2 B", "8 KiB", "%  fused"]),
        ("dpu_checksum.py", ["kernel in C, by ", "4194304 bytes on 64 DPUs", "as zlib has it"]),
    ],
)
def test_example_runs(name: str, expected: list[str]) -> None:
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for text in expected:
        assert text in done.stdout


def test_sweep_is_plotted_by_processes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib (extra plot)")
    path = tmp_path / "sweep.svg"
    done = run("accelforge_sweep.py", "--size", "8", "--workers", "2", "--plot", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"the plot is in {path}" in done.stdout
    assert "<svg" in path.read_text()


def test_ranks_of_example_are_started() -> None:
    done = run("accl_allreduce.py", "--start", "3")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "counted on 3 ranks" in done.stdout
    assert "OK: the same as on one rank" in done.stdout


def read_png(path: Path) -> np.ndarray:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    offset, pixels, width, height = 8, b"", 0, 0
    while offset < len(data):
        (length,) = struct.unpack_from(">I", data, offset)
        kind, body = data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length]
        (crc,) = struct.unpack_from(">I", data, offset + 8 + length)
        assert crc == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", body)
        elif kind == b"IDAT":
            pixels += body
        offset += 12 + length
    rows = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def test_demo_agrees_with_numpy_and_writes_its_page(tmp_path: Path) -> None:
    done = run("demo.py", "--out", str(tmp_path / "pictures"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OK: all results agree with NumPy and zlib" in done.stdout
    assert re.search(r"gemv .* ms .* ms .*% .*simulated cycles", done.stdout)
    page = (tmp_path / "pictures" / "index.html").read_text()
    assert 'name="viewport"' in page
    assert page.count("<svg") == 3
    assert "accl rank 3" in page
    assert "DMA-bound" in page
    files = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert {"before.png", "after.png", "profile.html", "timeline.json", "energy.svg"} <= set(files)
    assert [name for name in files if not (tmp_path / "pictures" / name).is_file()] == []
    before = read_png(tmp_path / "pictures" / "before.png")
    after = read_png(tmp_path / "pictures" / "after.png")
    assert before.shape == after.shape == (2048, 2048)
    # The rim of the sun (centre 1500, 400, radius 180) is an edge, its inside is not.
    assert after[400, 1320 - 3 : 1320 + 4].max() > 100
    assert after[380:420, 1480:1520].max() < 60


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo_vector_engine

    return demo_vector_engine.Report()


@pytest.mark.parametrize("wrong", [0.1, float("nan"), float("inf")])
def test_demo_notices_one_wrong_value(report, wrong: float) -> None:  # type: ignore[no-untyped-def]
    want = np.zeros((4, 4))
    got = want.copy()
    report.check("planted", got, want, 1e-2)
    assert report.failures == []
    got[2, 3] = wrong
    report.check("planted", got, want, 1e-2)
    assert "planted" in report.failures[0]


def test_page_of_the_demo_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo_page

    page = demo_page.Page(tmp_path)
    with page.section("A sum over four ranks"):
        print("<printed>")
    assert "<printed>" in capsys.readouterr().out
    text = page.write(["1 < 2"]).read_text()
    assert '<p class="verdict failed">1 &lt; 2</p>' in text
    assert "<pre>&lt;printed&gt;</pre>" in text


def test_what_the_demo_says_to_type_is_there_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make demo` installs neither pytest nor Jupyter."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo_page

    there = {"eval", "make", "mpiexec", "pip", "python", "g++", "DPU_CHECK=all"}
    commands = [command for _, command, _ in demo_page.NEXT]
    assert {command.split()[0] for command in commands} <= there
    scripts = [word for line in commands for word in line.split() if word.startswith("examples/")]
    assert scripts
    assert [script for script in scripts if not (EXAMPLES.parent / script).is_file()] == []


def test_every_page_that_the_demo_names_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo_page

    root = EXAMPLES.parent
    assert [page for *_, page in demo_page.NEXT if not (root / page).exists()] == []
