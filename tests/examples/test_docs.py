# SPDX-License-Identifier: BSD-3-Clause
"""The examples on the pages of the documentation run, and print what the pages say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/dpu.md", "docs/dpu_toolchain.md", "docs/accl.md", "docs/accelforge.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# One page is one session. Prints a JSON list with what each block has printed.
RUNNER = """
import contextlib, io, json, os, subprocess, sys
page, blocks = json.loads(sys.stdin.read())
names, printed = {}, []
for line, language, text in blocks:
    output = io.StringIO()
    if language == "sh":
        done = subprocess.run(["sh", "-euc", text], text=True, stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"{page}:{line}: status {done.returncode}")
        output.write(done.stdout)
    else:
        with contextlib.redirect_stdout(output):
            exec(compile("\\n" * line + text, page, "exec"), names)
    printed.append(output.getvalue())
print(json.dumps(printed))
"""


class Block(NamedTuple):
    line: int
    language: str
    text: str
    expected: str | None


def read_blocks(text: str) -> list[Block]:
    """Find the blocks of a page that can be run, each with the output that follows it."""
    blocks: list[Block] = []
    end = -1
    for found in FENCE.finditer(text):
        language, content = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        if language in ("python", "sh"):
            blocks.append(Block(line, language, content, None))
            end = found.end()
        elif language == "text" and blocks and text[end : found.start()].strip() == "":
            blocks[-1] = blocks[-1]._replace(expected=content)
    return blocks


def run_blocks(page: str, blocks: list[Block], folder: Path) -> list[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", RUNNER],
        input=json.dumps([page, [block[:3] for block in blocks]]),
        capture_output=True,
        text=True,
        timeout=100,
        cwd=folder,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    printed: list[str] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_and_prints_what_it_says(page: str, tmp_path: Path) -> None:
    blocks = read_blocks((ROOT / page).read_text())
    assert blocks
    for block, printed in zip(blocks, run_blocks(page, blocks, tmp_path), strict=True):
        if block.expected is not None:
            assert printed == block.expected, f"{page}:{block.line}"


def test_wrong_output_and_errors_are_noticed(tmp_path: Path) -> None:
    page = "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n```sh\nexit 3\n```\n"
    first, second = read_blocks(page)
    assert (first.line, first.expected, second.expected) == (1, "2\n", None)
    assert run_blocks("page", [first], tmp_path) == ["1\n"]
    with pytest.raises(AssertionError, match="page:9: status 3"):
        run_blocks("page", [first, second], tmp_path)
    with pytest.raises(AssertionError, match='"page", line 2.*\n.*ZeroDivisionError'):
        run_blocks("page", [Block(1, "python", "1 / 0\n", None)], tmp_path)
