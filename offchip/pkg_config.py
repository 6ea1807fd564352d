# SPDX-License-Identifier: BSD-3-Clause
"""Commands like ``pkg-config`` for the libraries that come with the packages."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offchip.completion import complete

__all__ = ["CLibrary", "link_flags", "run_pkg_config"]


class CLibrary(NamedTuple):
    """A library with its headers, in the folders ``lib`` and ``include`` of a package.

    Parameters
    ----------
    name : str
        Of the package of ``pkg-config`` and of the library: ``dpu`` is linked by ``-ldpu``.
    folder : Path
        That of the package.
    version : str
        Version of the API.
    """

    name: str
    folder: Path
    version: str


def link_flags(name: str, folder: str) -> list[str]:
    """Return the linker options for the library of a name in a folder.

    Programs find it without LD_LIBRARY_PATH. Projects may also put the options before their
    sources, where ``--as-needed`` would drop the library. (zig's linker has no ``--push-state``.)
    """
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed", f"-l{name}"]


def run_pkg_config(library: CLibrary, words: Sequence[str]) -> int:
    """Run a command line of ``NAME-pkg-config``; return the exit status.

    What is not about the library is passed to ``pkg-config``.
    """
    command = f"{library.name}-pkg-config"
    parser = _parser(library)
    complete(parser)
    options, unknown = parser.parse_known_args(words)
    others = [name for name in options.packages if name != library.name]
    if unknown or len(others) == len(options.packages):
        return _leave_to_pkg_config(command, list(words), options.packages)
    if others:
        query = f"query {library.name} and {', '.join(others)} separately"
        print(f"{command}: error: {query}", file=sys.stderr)
        return 1
    if options.modversion:
        print(library.version)
    elif options.variable is not None:
        folder = library.folder
        cmake = folder / "lib" / "cmake" / library.name
        variables = {
            "prefix": folder,
            "exec_prefix": folder,
            "includedir": folder / "include",
            "libdir": folder / "lib",
            "cmakedir": cmake if cmake.is_dir() else "",
        }
        print(variables.get(options.variable, ""))
    elif not options.exists:
        print(*map(_escape, _flags(library, options)))
    return 0


def _parser(library: CLibrary) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{library.name}-pkg-config",
        description=f"Print the options to compile and link programs that use lib{library.name}.",
        epilog=f"Example: cc main.c $({library.name}-pkg-config --cflags --libs {library.name})",
    )
    parser.add_argument(
        "packages", nargs="*", metavar="package", help=f"{library.name}, or one of pkg-config"
    )
    for name in ("cflags", "cflags-only-I", "libs", "libs-only-L", "libs-only-l"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--libs-only-other", action="store_true")
    parser.add_argument("--cflags-only-other", action="store_true")
    parser.add_argument("--modversion", action="store_true", help="print the version of the API")
    parser.add_argument("--exists", action="store_true", help="exit with 0 if it exists")
    parser.add_argument("--variable", help="print prefix, includedir, libdir or cmakedir")
    for name in ("static", "print-errors", "silence-errors", "short-errors", "debug"):
        parser.add_argument(f"--{name}", action="store_true", help=argparse.SUPPRESS)
    return parser


def _flags(library: CLibrary, options: argparse.Namespace) -> list[str]:
    folder, flags = str(library.folder / "lib"), []
    if options.cflags or options.cflags_only_I:
        flags.append(f"-I{library.folder / 'include'}")
    if options.libs:
        return flags + link_flags(library.name, folder)
    if options.libs_only_L:
        flags.append(f"-L{folder}")
    if options.libs_only_other:
        flags.append(f"-Wl,-rpath,{folder}")
    if options.libs_only_l:
        flags.append(f"-l{library.name}")
    return flags


def _escape(word: str) -> str:
    """Mark what a shell would split or expand, as pkg-config does."""
    return re.sub(r"""([\s"'\\`$&;|<>()*?\[\]{}!#~])""", r"\\\1", word)


def _leave_to_pkg_config(name: str, words: list[str], packages: list[str]) -> int:
    command = shutil.which("pkg-config")
    if command is None:
        what = ", ".join(packages) or "this"
        print(f"{name}: error: {what} requires pkg-config, which is not on PATH", file=sys.stderr)
        return 1
    os.execv(command, [command, *words])
