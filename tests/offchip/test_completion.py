# SPDX-License-Identifier: BSD-3-Clause
"""Completion of command lines, as bash asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest

from offchip.completion import COMMANDS, SHELLS

BASH = """
eval "$("$0" completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) COMP_TYPE=9
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete "${COMP_WORDS[0]}" 2>/dev/null
echo "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete() -> Callable[[str], list[str]]:
    """Give the words with which bash would end a command line."""
    pytest.importorskip("argcomplete")
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def run(line: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", BASH, str(folder / "offchip"), line],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return run


def test_commands_options_and_values_are_completed(complete: Callable[[str], list[str]]) -> None:
    assert complete("offchip se") == ["selftest"]
    assert complete("offchip bench --comp") == ["--compare"]
    assert complete("offchip completion z") == ["zsh"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers(complete: Callable[[str], list[str]], command: str) -> None:
    assert complete(f"{command} --hel") == ["--help"]


def test_the_commands_are_installed() -> None:
    points = distribution("offchip").entry_points.select(group="console_scripts")
    assert set(COMMANDS) <= {point.name for point in points}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_own_text(shell: str) -> None:
    pytest.importorskip("argcomplete")
    command = [sys.executable, "-P", "-m", "offchip", "completion", shell]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert ("complete --command offchip" in done.stdout) == (shell == "fish")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "argcomplete.py").write_text("raise ModuleNotFoundError('argcomplete')")
    done = subprocess.run(
        [sys.executable, "-m", "offchip", "completion", "bash"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    assert done.stderr == (
        "offchip: completion needs argcomplete: pip install 'offchip[completion]'\n"
    )
