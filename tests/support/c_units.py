# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C unit tests of a folder, each a program of its own, under sanitizers.

The first comment of a file has a line ``build:`` with the sources that it is linked with,
relative to the root, further flags, and the word ``tsan`` if it is to be run under
ThreadSanitizer too. The sources that a file ``@name.sources`` lists are compiled once for all
tests. A test that fails exits with a status other than 0, after saying why.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wvla",
    "-Werror",
]
SANITIZERS = {
    "asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "tsan": ["-fsanitize=thread"],
    "valgrind": [],
}
UNDER_VALGRIND = os.environ.get("OFFCHIP_VALGRIND", "0") not in ("", "0")
# OFFCHIP_PROGRAM_SECONDS is for builds that are slow in other ways, as `make coverage` has them.
LIMIT_S = int(os.environ.get("OFFCHIP_PROGRAM_SECONDS", "1000" if UNDER_VALGRIND else "100"))


def build_line(source: Path) -> list[str]:
    """Read the words of the line ``build:``."""
    comment = re.search(r"/\*.*?\bbuild:(?P<words>[^\n*]*)", source.read_text(), re.DOTALL)
    if comment is None:
        pytest.fail(f"{source} has no line 'build:' in its first comment")
    return shlex.split(comment["words"])


def programs(folder: Path) -> list[object]:
    """List every file with every sanitizer that it is for."""
    found = []
    for source in sorted(folder.glob("test_*.c")):
        names = ["asan", "tsan"] if "tsan" in build_line(source) else ["asan"]
        names = ["valgrind"] if UNDER_VALGRIND else names
        found += [pytest.param(source, name, id=f"{source.stem}-{name}") for name in names]
    return found


def plain_environment() -> dict[str, str]:
    """Give the environment of a compiler and of what it built.

    A run of pytest under a sanitizer preloads its library, which is not for what is built here.
    """
    return {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}


def compile_c(sanitizer: str, *words: str) -> None:
    """Call the compiler with the flags of all tests and WORDS; AssertionError if it fails."""
    command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS]
    command += ['-DOFFCHIP_VERSION="of the tests"']
    command += [*SANITIZERS[sanitizer], "-fno-omit-frame-pointer", "-fno-wrapv"]
    command += [
        "-Iinclude/veo",
        "-Iinclude/dpu",
        "-Iinclude/accl",
        "-Icsrc",
        "-Icsrc/dispatch",
        "-I.",
        *words,
    ]
    built = subprocess.run(
        command, cwd=ROOT, env=plain_environment(), capture_output=True, text=True
    )
    assert built.returncode == 0, f"{shlex.join(command)}\n{built.stderr}"


class Archives:
    """Static libraries of the sources that several tests have in common, built when needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._done: dict[tuple[str, str], Path] = {}

    def build(self, listing: str, sanitizer: str) -> Path:
        """Compile the sources that the file LISTING names; the archive."""
        key = (listing, sanitizer)
        if key not in self._done:
            folder = self._folder / f"{Path(listing).stem}-{sanitizer}"
            folder.mkdir()
            sources = (ROOT / listing).read_text().split()
            objects = [str(folder / f"{source.replace('/', '-')}.o") for source in sources]
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                pairs = zip(sources, objects, strict=True)
                jobs = [pool.submit(compile_c, sanitizer, "-c", a, "-o", b) for a, b in pairs]
                for job in jobs:
                    job.result()
            archive = folder / "lib.a"
            subprocess.run(["ar", "rcs", str(archive), *objects], check=True)
            self._done[key] = archive
        return self._done[key]


def run_program(
    source: Path,
    sanitizer: str,
    tmp_path: Path,
    prefix: tuple[str, ...],
    archives: Archives,
    checked: Callable[[Path], Path] = Path,
) -> None:
    """Build a test and run it; AssertionError with its output if it fails."""
    words = [
        str(archives.build(word[1:], sanitizer)) if word.startswith("@") else word
        for word in build_line(source)
        if word != "tsan"
    ]
    program = tmp_path / source.stem
    compile_c(sanitizer, "-o", str(program), str(source), *words, "-pthread", "-ldl")

    environment = plain_environment()
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

    # The first to need the archive compiles it, which takes minutes on a busy machine.
    @pytest.mark.timeout(LIMIT_S + 500)
    @pytest.mark.parametrize(("source", "sanitizer"), programs(Path(file).resolve().parent))
    def test_program(
        source: Path,
        sanitizer: str,
        tmp_path: Path,
        unrandomised: tuple[str, ...],
        archives: Archives,
        checked: Callable[[Path], Path],
    ) -> None:
        run_program(source, sanitizer, tmp_path, unrandomised, archives, checked)

    return test_program
