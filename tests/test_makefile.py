# SPDX-License-Identifier: BSD-3-Clause
"""Targets of the Makefile that no stage of CI runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

MAKEFILE = Path(__file__).parents[1] / "Makefile"
FOLDERS = "offchip veo dpu accl accelforge tests benchmarks examples buildtools".split()


def test_clean_removes_what_was_built_and_nothing_else(tmp_path):
    for name in FOLDERS:
        (tmp_path / name / "__pycache__").mkdir(parents=True)
        (tmp_path / name / "__pycache__" / "module.pyc").touch()
        (tmp_path / name / "_module.so").touch()
        (tmp_path / name / "module.py").touch()
    (tmp_path / "build" / "release").mkdir(parents=True)

    done = subprocess.run(
        ["make", "-f", MAKEFILE, "clean"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == sorted(f"{name}/module.py" for name in FOLDERS)
    assert not (tmp_path / "build").exists()
