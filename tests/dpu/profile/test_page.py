# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/dpu_profile.md give what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpu.toolchain import Toolchain

STEPS = 5


def blocks(root: Path) -> dict[int, tuple[str, str]]:
    """Return the command and the output of each step."""
    page = (root / "docs" / "dpu_profile.md").read_text()
    found = re.findall(
        r"^### Step (\d):.*?```sh\n(.*?)\n```\n(?:\n```text\n(.*?)\n```)", page, re.M | re.S
    )
    return {int(number): (command, output) for number, command, output in found}


def cycles_of(text: str) -> int:
    """Return what the example has printed."""
    found = re.search(r"^step \d: (\d+) cycles$", text, re.M)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_a_step_gives_what_the_page_shows(root: Path, toolchain: Toolchain, step: int) -> None:
    command, output = blocks(root)[step]
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    words.insert(words.index("dpu.profile") + 1, "--text")
    done = subprocess.run(
        words, cwd=root, capture_output=True, text=True, timeout=100, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    told, advice = output.splitlines()
    assert advice.split(":")[0] in done.stdout
    # Compilers differ a little.
    assert cycles_of(done.stdout) == pytest.approx(cycles_of(told), rel=0.1)


def test_the_speed_up_is_that_of_the_cycles(root: Path) -> None:
    cycles = {number: cycles_of(output) for number, (_, output) in blocks(root).items()}
    assert sorted(cycles) == list(range(1, STEPS + 1))
    assert sorted(cycles.values(), reverse=True) == [cycles[i] for i in range(1, STEPS + 1)]
    page = (root / "docs" / "dpu_profile.md").read_text()
    assert f"{cycles[1] / cycles[STEPS]:.1f} times as fast" in page
