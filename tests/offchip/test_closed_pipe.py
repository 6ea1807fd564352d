# SPDX-License-Identifier: BSD-3-Clause
"""Commands whose reader leaves early, such as head."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dpu.asm import Source, assemble
from offchip.closed_pipe import ends_at_closed_pipe

COMMANDS = [
    "offchip info",
    "offchip completion bash",
    "veo",
    "dpu",
    "accl --json",
    "accelforge",
    "accelforge.selftest",
    "dpu.objdump a.dpu",
    "dpu.stack a.dpu",
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_ends_without_a_traceback(words, tmp_path):
    (tmp_path / "a.dpu").write_bytes(assemble(Source("a.s", "nop\n", preprocess=False)))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        done = subprocess.run(
            [sys.executable, "-P", "-m", *words.split()],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (1, "")


def test_the_status_is_that_of_the_command():
    assert ends_at_closed_pipe(lambda status: status)(3) == 3


def test_another_pipe_is_the_matter_of_the_command():
    @ends_at_closed_pipe
    def main() -> int:
        raise BrokenPipeError("a socket of the command")

    with pytest.raises(BrokenPipeError, match="a socket of the command"):
        main()
