# SPDX-License-Identifier: BSD-3-Clause
"""``ncc --target=ve``: C and C++ for the Vector Engine, by the clang of the ziglang wheel.

What NEC's linker would make is an archive of the objects, which the worker links when it loads it;
``veorun`` runs one that has ``main()``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from offchip.outputs import make_executable
from veo.compilers import TARGET_VARIABLE, Toolchain, VeoBuildError, run_compiler
from veo.ve_clang import find_libraries, is_available, write_library
from veo.ve_libcxx import libcxx_objects
from veo.ve_structures import find_inputs

__all__ = ["main", "takes_ve"]

_ARGUMENT = "--target=ve"
_NO_LINK = frozenset({"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"})
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".s", ".S", ".i", ".ii")


def takes_ve(words: Sequence[str]) -> bool:
    """Say whether a command line, or the environment, asks for VE code."""
    return _ARGUMENT in words or os.environ.get(TARGET_VARIABLE) == "ve"


def main(language: str, name: str, words: Sequence[str]) -> int:
    """Run the command.

    Parameters
    ----------
    language : {"C", "C++", "F"}
    name : str
        Of the command, for messages.
    words : sequence of str
        Its arguments.

    Returns
    -------
    int
        The exit status.
    """
    if language == "F" or not is_available():
        reason = "there is no Fortran compiler for the Vector Engine" if language == "F" else (
            "the ziglang wheel compiles for the Vector Engine: pip install ziglang"
        )  # fmt: skip
        print(f"{name}: error: {reason}", file=sys.stderr)
        return 1
    toolchain = Toolchain("ve", _ARGUMENT, by_clang=True)
    given = [word for word in words if word != _ARGUMENT]
    command = [*toolchain.compiler(language, name), *toolchain.search_flag("-I", "include")]
    if not any(word.startswith("-O") for word in given):
        command.append("-O2")  # NEC's default
    try:
        if not _NO_LINK.isdisjoint(given) or not _files(given):
            print(run_compiler([*command, *toolchain.compile_flags(language, given)]), end="")
        else:
            _link(command, toolchain.compile_flags(language, given), language)
    except VeoBuildError as error:
        print(error.output.rstrip() or f"{name}: error: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return 1
    return 0


def _files(words: Sequence[str]) -> list[str]:
    return [words[i] for i in find_inputs(words)]


def _joined(words: Sequence[str]) -> list[str]:
    """Write ``-l`` and ``-L`` and their values as one word each."""
    rest = iter(words)
    return [word + next(rest, "") if word in ("-l", "-L") else word for word in rest]


def _link(command: Sequence[str], words: list[str], language: str) -> None:
    words = _joined(words)
    files = _files(words)
    out = "a.out"
    flags = []
    iterator = iter(words)
    for word in iterator:
        if word == "-o":
            out = next(iterator, out)
        elif word.startswith("-o"):
            out = word[2:]
        elif word not in files and not word.startswith(("-l", "-L", "-Wl,")):
            flags.append(word)
    with tempfile.TemporaryDirectory(prefix="ncc-") as folder:
        inputs = []
        for number, file in enumerate(files):
            if not file.endswith(_SOURCES):
                inputs.append(file)
                continue
            made = str(Path(folder) / f"{number}-{Path(file).stem}.o")
            print(run_compiler([*command, *flags, "-c", file, "-o", made]), end="")
            inputs.append(made)
        inputs += find_libraries(words)
        write_library(out, [*inputs, *libcxx_objects(inputs)])
    make_executable(out)
