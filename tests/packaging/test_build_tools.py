# SPDX-License-Identifier: BSD-3-Clause
"""What helps to build and to check: progress lines, and the hiding of tools."""

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
from buildtools.progress import Progress
with Progress("compiling x", int(sys.argv[2])) as progress:
    for _ in range(int(sys.argv[3])):
        progress.step()
"""


def report(total: int, steps: int, target: str | None) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OFFCHIP_PROGRESS"}
    if target is not None:
        environment["OFFCHIP_PROGRESS"] = target
    command = [sys.executable, "-P", "-c", REPORT, str(ROOT), str(total), str(steps)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_progress_goes_to_a_file_in_tenths(tmp_path: Path) -> None:
    path = tmp_path / "log"
    report(40, 40, str(path))
    lines = path.read_text().splitlines()
    assert lines[0] == "  compiling x: 0 of 40"
    assert lines[-1] == "  compiling x: 40 of 40"
    assert len(lines) == 11


def test_progress_overwrites_its_line_on_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        report(3, 3, os.ttyname(slave))
        shown = os.read(master, 4096).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert shown.count("\n") == 1
    assert shown.split("\r")[1] == "  compiling x: 0 of 3"
    assert "\r  compiling x: 3 of 3" in shown


@pytest.mark.parametrize("target", [None, "", "/no/such/folder/log", "/dev/full"])
def test_progress_never_fails_a_build(target: str | None) -> None:
    report(5, 5, target)


def run_hidden(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(ROOT / "buildtools/hide_tools.py"), "sh", "-c", command]
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


def test_variables_that_name_compilers_are_unset(tmp_path: Path) -> None:
    assert run_hidden(tmp_path, 'echo "<$CXX>"').stdout.splitlines()[-1] == "<>"
