# SPDX-License-Identifier: BSD-3-Clause
"""Commands that run beside each other."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from accl.launch import run_together


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_each_ones_output_is_given():
    commands = [python(f"print('x' * 200_000, {number})") for number in range(3)]
    printed = run_together(commands, timeout=30)
    assert [text.split()[1] for text in printed] == ["0", "1", "2"]


def test_the_first_that_fails_ends_the_others():
    start = time.monotonic()
    commands = [python("import sys; print('why', file=sys.stderr); sys.exit(3)")]
    with pytest.raises(RuntimeError, match="a rank failed: why"):
        run_together([*commands, python("import time; time.sleep(600)")], timeout=60)
    with pytest.raises(RuntimeError, match="a rank failed: status 4"):
        run_together([python("import sys; sys.exit(4)")], timeout=30)
    assert time.monotonic() - start < 30


def test_time_is_limited():
    with pytest.raises(subprocess.TimeoutExpired):
        run_together([python("import time; time.sleep(600)")], timeout=0.3)


def test_command_that_does_not_exist_leaves_nothing():
    with pytest.raises(FileNotFoundError):
        run_together([python("import time; time.sleep(600)"), ["/no/such/program"]], timeout=30)
