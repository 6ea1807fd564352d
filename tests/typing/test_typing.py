# SPDX-License-Identifier: BSD-3-Clause
"""A user's program passes the type checker, and one with mistakes does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture
def run_mypy(tmp_path, tmp_path_factory):
    pytest.importorskip("mypy")
    # One cache for all programs: our packages and numpy are analysed once.
    cache = tmp_path_factory.getbasetemp() / "mypy"

    def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-P",
                "-m",
                "mypy",
                "--strict",
                *options,
                "--config-file=",
                "--cache-dir",
                cache,
                program,
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return run


@pytest.mark.parametrize(
    "name", ["program_offchip.py", "program_veo.py", "program_dpu.py", "program_accl.py"]
)
def test_correct_program_passes(run_mypy, name):
    done = run_mypy(HERE / name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["mistakes_offchip.py", "mistakes_veo.py", "mistakes_dpu.py", "mistakes_accl.py"]
)
def test_every_mistake_is_found(run_mypy, name):
    text = (HERE / name).read_text()
    expected = {n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# mistake")}
    assert expected
    done = run_mypy(HERE / name)
    found = {int(n) for n in re.findall(r":(\d+): error:", done.stdout)}
    assert found == expected, done.stdout


README = (HERE.parent.parent / "README.md").read_text()


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_examples_of_the_readme_pass(run_mypy, tmp_path, package):
    examples = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    ours = [text for text in examples if re.search(rf"^(import|from) {package}\b", text, re.M)]
    assert ours
    for i, text in enumerate(ours):
        program = tmp_path / f"example_{i}.py"
        program.write_text(text)
        # The page's own functions may do without types.
        done = run_mypy(program, "--allow-untyped-defs")
        assert done.returncode == 0, done.stdout + done.stderr
