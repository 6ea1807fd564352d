# SPDX-License-Identifier: BSD-3-Clause
"""Every command that a package has: `python -m` of a module, and the console scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("offchip", "veo", "dpu", "accl")


def find_modules() -> list[str]:
    """List the modules that can be run."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if '__name__ == "__main__"' in path.read_text():
                parts = path.relative_to(ROOT).with_suffix("").parts
                found.append(".".join(part for part in parts if part != "__main__"))
    return found


def test_modules_are_found():
    assert {"offchip", "veo", "dpu", "accl", "accl.as_pyaccl", "dpu.asm"} <= set(find_modules())


@pytest.mark.parametrize("module", find_modules())
def test_help(module, tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, "--help"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.match(r"usage: \S+", done.stdout)
    assert len(done.stdout.splitlines()) > 2
