# SPDX-License-Identifier: BSD-3-Clause
"""Every extension module has a stub, and `make lint` finds one that differs from its module."""

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

PACKAGES = ("offchip", "veo", "dpu", "accl", "accelforge")

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


def modules_without_stub(root: Path) -> list[str]:
    sources = [path for package in PACKAGES for path in root.glob(f"{package}/**/*.pyx")]
    return sorted(
        path.relative_to(root).as_posix()
        for path in sources
        if not path.with_suffix(".pyi").exists()
    )


def test_every_extension_module_has_a_stub() -> None:
    # The check passes over a module without one.
    assert list(ROOT.glob("accelforge/*.pyx"))
    assert modules_without_stub(ROOT) == []


def test_every_package_is_checked() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("mypy.stubtest")[2].partition("\n\n")[0]
    assert set(PACKAGES) <= set(recipe.split())


def test_planted_module_without_stub_is_found(tmp_path: Path) -> None:
    (tmp_path / "veo").mkdir()
    (tmp_path / "veo" / "_log.pyx").touch()
    assert modules_without_stub(tmp_path) == ["veo/_log.pyx"]
