# SPDX-License-Identifier: BSD-3-Clause
"""The check of stubs in `make lint` finds a stub that differs from its extension module."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import offchip

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = ROOT / "buildtools" / "stubtest-allow.txt"
PACKAGE = Path(offchip.__file__).parent

PLANTED = {
    "missing parameter": (
        "def wait(self, timeout: float | None = None)",
        "def wait(self)",
        "offchip.request.Request.wait is inconsistent",
    ),
    "another name": (
        "def cancelled(self)",
        "def canceled(self)",
        "offchip.request.Request.canceled is not present at runtime",
    ),
    "nothing": ("def running(self)", "def running(self)", ""),
}


@pytest.fixture
def run_stubtest(tmp_path):
    pytest.importorskip("mypy.stubtest")
    pytest.importorskip("typing_extensions")

    def run(old: str, new: str) -> subprocess.CompletedProcess[str]:
        copy = tmp_path / "offchip"
        ignored = shutil.ignore_patterns("__pycache__", "bin")
        shutil.copytree(PACKAGE, copy, ignore=ignored, dirs_exist_ok=True)
        stub = copy / "request.pyi"
        text = stub.read_text()
        assert old in text
        stub.write_text(text.replace(old, new))
        options = ["--ignore-unused-allowlist", "--allowlist", str(ALLOWED)]
        return subprocess.run(
            [sys.executable, "-P", "-m", "mypy.stubtest", *options, "offchip.request"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)},
        )

    return run


@pytest.mark.parametrize("case", PLANTED)
def test_difference_between_stub_and_module_is_found(run_stubtest, case):
    old, new, complaint = PLANTED[case]
    done = run_stubtest(old, new)
    assert (done.returncode != 0) == bool(complaint), done.stdout + done.stderr
    assert complaint in done.stdout
