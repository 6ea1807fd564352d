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

STEPS = {"PrIM's histogram": 4, "a reduction": 5}


def part_of(root: Path, example: str) -> str:
    """Return the part of the page about an example."""
    page = (root / "docs" / "dpu_profile.md").read_text()
    return page.partition(f"\n## From slow to fast: {example}\n")[2].partition("\n## ")[0]


def blocks(root: Path, example: str) -> dict[int, tuple[str, str]]:
    """Return the command and the output of each step."""
    found = re.findall(
        r"^### Step (\d):.*?```sh\n(.*?)\n```\n(?:\n```text\n(.*?)\n```)",
        part_of(root, example),
        re.M | re.S,
    )
    return {int(number): (command, output) for number, command, output in found}


def cycles_of(text: str) -> int:
    """Return what the example has printed."""
    found = re.search(r"^step \d: (\d+) cycles$", text, re.M)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize(
    ("example", "step"),
    [(example, step) for example, steps in STEPS.items() for step in range(1, steps + 1)],
)
def test_a_step_gives_what_the_page_shows(
    root: Path, toolchain: Toolchain, example: str, step: int
) -> None:
    command, output = blocks(root, example)[step]
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    words.insert(words.index("dpu.profile") + 1, "--text")
    done = subprocess.run(
        words, cwd=root, capture_output=True, text=True, timeout=100, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    told, advice = output.splitlines()
    assert advice.split(":")[0] in done.stdout
    for routine in re.findall(r"the routine (\w+)", advice):
        assert f"the routine {routine}" in done.stdout
        assert f"main -> {routine}" in done.stdout
    # Compilers differ a little.
    assert cycles_of(done.stdout) == pytest.approx(cycles_of(told), rel=0.1)


@pytest.mark.parametrize("example", STEPS)
def test_the_speed_up_is_that_of_the_cycles(root: Path, example: str) -> None:
    steps = STEPS[example]
    cycles = {number: cycles_of(text) for number, (_, text) in blocks(root, example).items()}
    assert sorted(cycles) == list(range(1, steps + 1))
    assert sorted(cycles.values(), reverse=True) == [cycles[i] for i in range(1, steps + 1)]
    assert f"{cycles[1] / cycles[steps]:.1f} times as fast" in part_of(root, example)


def test_the_page_of_a_host_has_the_source_of_its_lines(
    root: Path, toolchain: Toolchain, tmp_path: Path
) -> None:
    path = tmp_path / "profile.html"
    host = [sys.executable, "examples/dpu_histogram.py", "2"]
    words = [sys.executable, "-m", "dpu.profile", "--html", str(path), "--", *host]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=100, check=True)
    assert f"wrote {path}\n" in done.stdout and "  Compute-bound: " in done.stdout
    text = path.read_text()
    assert f"<code>{shlex.join(host)}</code>, 20" in text
    lines = text.partition("<h3>Lines</h3>")[2].partition("</table>")[0]
    source = "histogram[bin_of(pixels[i])]++;"
    # Numbers come first, as a long line would push them off the screen.
    row = rf"<td>dpu_histogram\.c:\d+</td><td>\d+\.\d %</td>.*<td>{re.escape(source)}</td></tr>"
    assert re.search(row, lines)
    hot = text.partition("<summary>dpu_histogram.c: ")[2].partition("</details>")[0]
    assert re.search(rf"\d %</td><td>[\d,]+</td><td>\d+</td><td>.*{re.escape(source)}", hot)
    assert "of the slowest of 1 DPU in 1 launch, 16 tasklets" in text
    assert "<td>__multiply_divide, without lines</td>" in lines
    assert f"{root}/examples" not in text
    said = dict(re.findall(r"<dt>(.*?)</dt><dd>(.+?)</dd>", text))
    plain = {"launch", "DPUs", "function", "from and to", "line", "calls", "source", "executed"}
    plain |= {"%", "instructions", "instructions per cycle"}
    assert set(re.findall(r"<th>(.*?)</th>", text)) == plain | set(said)
    # The text's tables have the same columns.
    docs = (root / "docs" / "dpu_profile.md").read_text()
    for name in ("pipeline", "spin", "DMA", "sleep"):
        assert f"| `{name.lower()}` | {said[name]} |" in docs
