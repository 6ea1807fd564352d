# SPDX-License-Identifier: BSD-3-Clause
"""C programs of tests, which CMake builds (``tests/CMakeLists.txt``), and compilers for others.

A program has roles, each of which is one configuration of the build:

asan
    AddressSanitizer and UndefinedBehaviorSanitizer.
tsan
    ThreadSanitizer.
plain
    Neither.
installed
    The configuration whose libraries are installed, which the program is linked with.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from buildtools import graph

__all__ = [
    "FOUND_BY_ASAN",
    "ROOT",
    "STANDARD",
    "STRICT",
    "UNDER_VALGRIND",
    "build_before",
    "c_command",
    "c_program",
    "clean_environment",
    "compile_as",
    "compiler_name",
]

ROOT = graph.ROOT
UNDER_VALGRIND = os.environ.get("OFFCHIP_VALGRIND", "0") not in ("", "0")
STANDARD = ["-std=gnu11", "-D_GNU_SOURCE"]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Wvla", "-Werror"]

_installed = os.environ.get("OFFCHIP_PRESET", "release")
_unsanitized = UNDER_VALGRIND or os.environ.get("OFFCHIP_UNSANITIZED", "0") not in ("", "0")
# Counts take the place of the sanitizers in `make coverage`, and nothing does in `make check`.
CONFIGURATIONS = {
    "asan": "coverage" if _installed == "coverage" else "plain" if _unsanitized else "asan",
    "tsan": "tsan",
    "plain": "plain",
    "installed": _installed,
}
# Marks tests of what only AddressSanitizer finds.
FOUND_BY_ASAN = pytest.mark.skipif(
    CONFIGURATIONS["asan"] != "asan", reason="programs are built without sanitizers"
)


# Programs that were built before the tests began, and are not asked for again.
BUILT = "OFFCHIP_PROGRAMS_BUILT"


def build_before(paths: Iterable[str]) -> None:
    """Build all programs of tests in files and folders, on all cores.

    What fails is left to the tests that need it.
    """
    wanted = [os.path.relpath(path, ROOT) for path in paths]
    built = []
    for role in CONFIGURATIONS if shutil.which(compiler_name()) else ():
        configuration = CONFIGURATIONS[role]
        if role == "tsan" and _unsanitized:
            continue
        try:
            graph.configure(configuration)
            lines = (graph.folder_of(configuration) / "programs.txt").read_text().splitlines()
            programs = [path for roles, path in map(str.split, lines) if role in roles.split(",")]
            found = [p for p in programs if any(_is_inside(p, folder) for folder in wanted)]
            if found:
                graph.build(configuration, "-k", "0", *found)
                built += [f"{role}:{path}" for path in found]
        except graph.BuildError:
            pass
    os.environ[BUILT] = " ".join(built)


def _is_inside(program: str, path: str) -> bool:
    """Say whether a program is of the tests in a folder, or in a file beside it."""
    folder = path.rpartition("/")[0] if path.endswith(".py") else path
    return folder == "." or f"{program}/".startswith(f"{folder}/")


@functools.cache
def c_program(path: str, role: str) -> Path:
    """Build a program, whose path is often that of its source without ``.c``; say where it is.

    AssertionError with the compiler's messages if that fails.
    """
    configuration = CONFIGURATIONS[role]
    try:
        if f"{role}:{path}" not in os.environ.get(BUILT, "").split():
            graph.build(configuration, path)
    except graph.BuildError as error:
        raise AssertionError(f"{path} was not built:\n{error}") from None
    return graph.folder_of(configuration) / path


def compile_as(role: str, source: Path, target: Path) -> Path:
    """Make a program of a source that is not in the tree, with the flags of a role's programs."""
    graph.configure(CONFIGURATIONS[role])
    commands = graph.folder_of(CONFIGURATIONS[role]) / "compile_commands.json"
    entry = next(
        entry
        for entry in json.loads(commands.read_text())
        if entry["file"] == str(ROOT / "tests/support/fuzz_main.c")
    )
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + ["-o", str(target), str(source)]
    if "LLVMFuzzerTestOneInput" in source.read_text():
        words += [entry["file"]]
    done = subprocess.run(
        words, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
    return target


def compiler_name() -> str:
    """Name the C compiler."""
    return os.environ.get("CC", "gcc")


def c_command() -> list[str] | None:
    """Give a command for plain C: CC, or gcc, or the ziglang wheel's; None if there is none.

    Sanitizers are gcc's and clang's alone; what needs them asks for `compiler_name`.
    """
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    if shutil.which(compiler_name()) is not None:
        return [compiler_name()]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-P", "-m", "ziglang", "cc"]
    return None


def clean_environment(**changes: str) -> dict[str, str]:
    """Give our environment, for compilers and what they build.

    A run of pytest under a sanitizer preloads its library, which is not for them.
    """
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return {**environment, **changes}
