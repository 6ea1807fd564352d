# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``ncc``, ``nc++`` and ``nfort`` of the folder that ``veo-env`` writes.

``python -m veo.cli.nec_compiler LANGUAGE WORDS...`` compiles for the host, where the soft libveo
runs kernels; with ``--target=ve`` or ``VEBUILD_TARGET=ve``, for the Vector Engine. Options are
those of NEC's compilers: what the host's have under another name is translated, what they do not
have is left out, and the rest is passed on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from offchip import __version__
from offchip.outputs import is_plain, written_file
from offchip.sdk_places import place_hint
from veo.cli import ve_compiler
from veo.cli.ve_compiler import takes_ve
from veo.compilers import Toolchain, VeoBuildError
from veo.static_worker import read_symbols, runtime_libraries

__all__ = ["host_command", "main"]

NAMES = {"C": "ncc", "C++": "nc++", "F": "nfort"}
_HOST = Toolchain("host", "stands in for NEC's compiler")
# Instructions of the Vector Engine in inline assembler.
_ASSEMBLER = Path(__file__).resolve().parent.parent / "include" / "ve_asm.h"
# Those of NEC's compilers that programs look for.
_MACROS = ("-D__NEC__=1", "-D__ve__=1")
_NO_LINK = frozenset({"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"})
# Options whose argument may be the next word.
_WITH_ARGUMENT = frozenset(
    [
        *("-o", "-I", "-L", "-D", "-U", "-J", "-l", "-u", "-x", "-z", "-B", "-MF", "-MT", "-MQ"),
        *("-Xlinker", "-include", "-isystem", "-imacros", "-iquote", "-idirafter", "-isysroot"),
        "-module",
    ]
)


def host_command(language: str, words: Sequence[str]) -> list[str]:
    """Return the command of the host's compiler that stands for one of NEC's.

    Parameters
    ----------
    language : {"C", "C++", "F"}
        NEC's compiler: ``ncc``, ``nc++`` or ``nfort``.
    words : sequence of str
        Its arguments.

    Raises
    ------
    VeoBuildError
        There is no compiler for the language on this machine.
    """
    compiler = _HOST.compiler(language, NAMES[language])
    flags = _HOST.compile_flags(language, words)
    if not _has_input(words):
        return [*compiler, *flags]

    before = [] if language == "F" else [*_MACROS]
    if not any(word.startswith("-O") for word in words):
        before.append("-O2")  # NEC's default
    after = _HOST.search_flag("-I", "include")
    if language != "F":
        after.append("-Wno-unknown-pragmas")  # such as "#pragma _NEC ivdep"
        if not any(word.endswith((".i", ".ii")) for word in words):
            after += ["-include", str(_ASSEMBLER)]
    if _NO_LINK.isdisjoint(words):
        after += [*_HOST.search_flag("-L", "lib"), *_runtime_of_objects(words)]
        after += _HOST.runtime_libraries(language, {language})
    return [*compiler, *before, *flags, *after]


def _runtime_of_objects(words: Sequence[str]) -> list[str]:
    """Return what objects need and NEC's workers have, so that no option of the link names it."""
    objects = [word for word in words if word.endswith((".o", ".a")) and os.path.isfile(word)]
    if not objects or shutil.which("nm") is None:
        return []
    return runtime_libraries(read_symbols(objects).undefined)


def _has_input(words: Sequence[str]) -> bool:
    """Tell whether there is anything to do, other than a question like -dumpversion."""
    before = ""
    for word in words:
        if before not in _WITH_ARGUMENT and (word == "-" or not word.startswith("-")):
            return True
        before = word
    return False


def _run(command: list[str], hint: str) -> int:
    """Become the compiler; where the output is not a file, have it make one and copy that.

    A hint is printed after errors.
    """
    begin, end, output = _find_output(command)
    if output and not is_plain(output):
        with written_file(output) as file:
            return subprocess.run([*command[:begin], "-o", str(file), *command[end:]]).returncode
    if hint:
        status = subprocess.run(command).returncode
        if status != 0:
            print(hint, file=sys.stderr)
        return status
    os.execvp(command[0], command)


def _find_output(command: Sequence[str]) -> tuple[int, int, str]:
    """Find the words that name the output, from and to, and what they name."""
    for at in range(len(command) - 1, 0, -1):
        if command[at - 1] == "-o":
            return at - 1, at + 1, command[at]
        if command[at].startswith("-o") and len(command[at]) > 2:
            return at, at + 1, command[at][2:]
    return 0, 0, ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The language and the compiler's arguments; by default those of the process.

    Returns
    -------
    int
        1 if there is no compiler, 2 for another language; otherwise the host's compiler
        replaces the process.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0] not in NAMES:
        print(f"usage: python -m veo.cli.nec_compiler {{{','.join(NAMES)}}} ARGUMENT...\n")
        print((__doc__ or "").strip())
        return 0 if given in (["-h"], ["--help"]) else 2
    language, *words = given
    name = NAMES[language]
    if takes_ve(words):
        return ve_compiler.main(language, name, words)
    try:
        command = host_command(language, words)
    except VeoBuildError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return 1

    if "--version" in words:
        print(f"{name} of offchip {__version__}, which compiles for the host with {command[0]}")
    if "--help" in words:
        print(
            f"{name} of offchip {__version__} compiles C, C++ or Fortran for the host, or with "
            f"--target=ve for the Vector Engine.\nIt takes options of NEC's compilers and of "
            f"{command[0]}, whose help follows.\n\n",
            end="",  # one write, after which `head` may be gone
        )
    sys.stdout.flush()
    try:
        return _run(command, place_hint(words, "veo-env"))
    except OSError as error:
        print(f"{name}: error: cannot run {Path(command[0])}: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
