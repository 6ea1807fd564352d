# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of builds and checks: progress lines, and the hiding of tools."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

REPORT = """
import sys
sys.path.insert(0, sys.argv[1])
from buildtools import progress
progress.PAUSE_S = float(sys.argv[3])
total = int(sys.argv[2])
with progress.Progress("building x") as shown:
    for done in range(1, total + 1):
        shown.show(done, total, f"part {done}", "7.6" if done > 1 else "?")
"""


def report(total: int, target: str | None, pause: float = 10) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OFFCHIP_PROGRESS"}
    if target is not None:
        environment["OFFCHIP_PROGRESS"] = target
    command = [sys.executable, "-P", "-c", REPORT, str(ROOT), str(total), str(pause)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_progress_goes_to_a_file_now_and_then(tmp_path: Path) -> None:
    path = tmp_path / "log"
    report(40, str(path))
    # The first at once, the last, and none of those between, which come within ten seconds.
    assert path.read_text().splitlines() == [
        "  building x: 1 of 40",
        "  building x: 40 of 40",
    ]
    path.unlink()
    report(6, str(path), pause=0)
    assert path.read_text().splitlines()[1:3] == [
        "  building x: 2 of 6, 8 s left",
        "  building x: 3 of 6, 8 s left",
    ]


def test_progress_of_a_moment_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    report(4, str(path), pause=0)
    assert path.read_text() == ""


def test_progress_overwrites_its_line_on_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        report(6, os.ttyname(slave))
        shown = os.read(master, 4096).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert shown.count("\n") == 1
    lines = shown.split("\r\033[K")
    assert lines[1:3] == [
        "  building x: 1 of 6  part 1",
        "  building x: 2 of 6, 8 s left  part 2",
    ]
    assert lines[-1].startswith("  building x: 6 of 6  part 6")


@pytest.mark.parametrize("target", [None, "", "/no/such/folder/log", "/dev/full"])
def test_progress_never_fails_a_build(target: str | None) -> None:
    report(5, target)


def run_hidden(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    hidden = str(folder / "hidden")
    words = [sys.executable, str(ROOT / "buildtools/hide_tools.py"), hidden, "sh", "-c", command]
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    return subprocess.run(
        words, env={**os.environ, "PATH": path, "CXX": "g++"}, capture_output=True, text=True
    )


def test_compilers_are_hidden_and_others_are_not(tmp_path: Path) -> None:
    names = ["g++", "x86_64-linux-gnu-g++-12", "clang-16", "valgrind", "clangd-like-tool", "gcc-99"]
    for name in names:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    done = run_hidden(tmp_path, f"for name in {' '.join(names)}; do command -v $name; done; exit 7")
    assert done.returncode == 7
    shown = done.stdout.splitlines()
    assert "clang-16" in shown[0] and "valgrind" in shown[0]
    assert [Path(line).name for line in shown[1:]] == ["clangd-like-tool", "gcc-99"]
    # CMake keeps the paths that it found.
    assert all(Path(line).is_symlink() for line in shown[1:])


def test_variables_that_name_compilers_are_unset(tmp_path: Path) -> None:
    assert run_hidden(tmp_path, 'echo "<$CXX>"').stdout.splitlines()[-1] == "<>"
