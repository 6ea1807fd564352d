# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C unit tests of a folder, each a program of its own, under sanitizers.

The first comment of a file has a line ``build:``, which goes on in indented lines, with the sources
that it is linked with, relative to the root or ``@name`` for those of a library
(``tests/CMakeLists.txt``), further flags, and the word ``tsan`` if it is to be run under
ThreadSanitizer too.
A test that fails exits with a status other than 0, after saying why.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import ROOT, UNDER_VALGRIND, c_program, clean_environment
from tests.support.full import FULL

# OFFCHIP_PROGRAM_SECONDS is for builds that are slow in other ways, as `make coverage` has them.
USUAL_LIMIT_S = 1000 if UNDER_VALGRIND or FULL else 100
LIMIT_S = int(os.environ.get("OFFCHIP_PROGRAM_SECONDS", USUAL_LIMIT_S))


def build_line(source: Path) -> list[str]:
    """Read the words of the line ``build:``."""
    pattern = r"/\*.*?\bbuild:(?P<words>[^\n]*(?:\n \*   [^\n]*)*)"
    comment = re.search(pattern, source.read_text(), re.DOTALL)
    if comment is None:
        pytest.fail(f"{source} has no line 'build:' in its first comment")
    return shlex.split(comment["words"].partition("*/")[0].replace("\n *", ""))


def programs(folder: Path) -> list[object]:
    """List every file with every sanitizer that it is for."""
    found = []
    for source in sorted(folder.glob("test_*.c")):
        names = ["asan", "tsan"] if "tsan" in build_line(source) else ["asan"]
        names = ["valgrind"] if UNDER_VALGRIND else names
        found += [pytest.param(source, name, id=f"{source.stem}-{name}") for name in names]
    return found


def run_program(
    program: Path,
    sanitizer: str,
    tmp_path: Path,
    prefix: tuple[str, ...],
    checked: Callable[[Path], Path] = Path,
) -> None:
    """Run a test; AssertionError with its output if it fails."""
    environment = clean_environment()
    environment["ASAN_OPTIONS"] = "detect_leaks=1:allocator_may_return_null=1"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    environment["TSAN_OPTIONS"] = "halt_on_error=0:exitcode=66"
    try:
        done = subprocess.run(
            [*(prefix if sanitizer == "tsan" else ()), str(checked(program))],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"not finished in {LIMIT_S} s:\n{(error.stdout or b'').decode()}")
    assert done.returncode == 0, f"status {done.returncode}:\n{done.stdout.decode()}"


def make_test(file: str) -> Callable[..., None]:
    """Give a test that runs each program of the folder that has the file."""

    # Run alone, it compiles what it is linked with, which takes minutes on a busy machine.
    @pytest.mark.timeout(LIMIT_S + 500)
    @pytest.mark.parametrize(("source", "sanitizer"), programs(Path(file).resolve().parent))
    def test_program(
        source: Path,
        sanitizer: str,
        tmp_path: Path,
        unrandomised: tuple[str, ...],
        compiler: str,
        checked: Callable[[Path], Path],
    ) -> None:
        path = source.relative_to(ROOT).with_suffix("").as_posix()
        role = "tsan" if sanitizer == "tsan" else "asan"
        run_program(c_program(path, role), sanitizer, tmp_path, unrandomised, checked)

    return test_program
