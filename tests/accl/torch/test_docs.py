# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/torch.md runs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_program_of_the_page_runs_under_torchrun(root, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (root / "docs/torch.md").read_text(), re.M | re.S)
    assert len(blocks) == 3
    program = tmp_path / "program.py"
    program.write_text("".join(blocks))
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*words, str(program)], capture_output=True, text=True, cwd=tmp_path, timeout=110
    )
    assert done.returncode == 0, done.stderr
    assert "bytes sent" in done.stdout
