# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-pkg-config``: options to compile and link C programs for the host.

For the package ``dpu`` it prints the paths of this installation's headers and libdpu; everything
else is passed to ``pkg-config``. If UPMEM_HOME has the vendor's command, that one is used.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["VERSION", "link_flags", "main"]

_NAME = "dpu-pkg-config"
VERSION = "2025.1.0"
_FOLDER = Path(__file__).resolve().parent.parent
_INCLUDE, _LIBRARY = _FOLDER / "include", _FOLDER / "lib"
_VARIABLES = {
    "prefix": str(_FOLDER),
    "exec_prefix": str(_FOLDER),
    "includedir": str(_INCLUDE),
    "libdir": str(_LIBRARY),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME, description="Print the options to compile and link C programs that use libdpu."
    )
    parser.add_argument(
        "packages", nargs="*", metavar="package", help="dpu, or a package of pkg-config"
    )
    for name in ("cflags", "cflags-only-I", "libs", "libs-only-L", "libs-only-l"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--libs-only-other", action="store_true")
    parser.add_argument("--cflags-only-other", action="store_true")
    parser.add_argument("--modversion", action="store_true", help="print the version of the API")
    parser.add_argument("--exists", action="store_true", help="exit with 0 if it exists")
    parser.add_argument("--variable", help="print one of prefix, includedir and libdir")
    for name in ("static", "print-errors", "silence-errors", "short-errors", "debug"):
        parser.add_argument(f"--{name}", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process otherwise.

    Returns
    -------
    int
        The exit status.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _leave_to_vendor(words)
    options, unknown = _parser().parse_known_args(words)
    others = [name for name in options.packages if name != "dpu"]
    if unknown or len(others) == len(options.packages):
        return _leave_to_pkg_config(words, options.packages)
    if others:
        print(f"{_NAME}: error: query dpu and {', '.join(others)} separately", file=sys.stderr)
        return 1
    if options.modversion:
        print(VERSION)
    elif options.variable is not None:
        print(_VARIABLES.get(options.variable, ""))
    elif not options.exists:
        print(*map(_escape, _flags(options)))
    return 0


def link_flags(folder: str) -> list[str]:
    """Return the linker options for the libdpu in a folder.

    Programs find it without LD_LIBRARY_PATH. Projects may also put the options before their
    sources, where ``--as-needed`` would drop the library.
    """
    needed = ["-Wl,--push-state,--no-as-needed", "-ldpu", "-Wl,--pop-state"]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *needed]


def _flags(options: argparse.Namespace) -> list[str]:
    flags = []
    if options.cflags or options.cflags_only_I:
        flags.append(f"-I{_INCLUDE}")
    if options.libs:
        return flags + link_flags(str(_LIBRARY))
    if options.libs_only_L:
        flags.append(f"-L{_LIBRARY}")
    if options.libs_only_other:
        flags.append(f"-Wl,-rpath,{_LIBRARY}")
    if options.libs_only_l:
        flags.append("-ldpu")
    return flags


def _escape(word: str) -> str:
    """Mark what a shell would split or expand, as pkg-config does."""
    return re.sub(r"""([\s"'\\`$&;|<>()*?\[\]{}!#~])""", r"\\\1", word)


def _leave_to_vendor(words: list[str]) -> None:
    home = os.environ.get("UPMEM_HOME")
    command = shutil.which(_NAME, path=str(Path(home) / "bin")) if home else None
    if command is not None and b"from dpu." not in Path(command).read_bytes()[:4096]:
        os.execv(command, [command, *words])


def _leave_to_pkg_config(words: list[str], packages: list[str]) -> int:
    command = shutil.which("pkg-config")
    if command is None:
        what = ", ".join(packages) or "this"
        print(f"{_NAME}: error: {what} requires pkg-config, which is not on PATH", file=sys.stderr)
        return 1
    os.execv(command, [command, *words])


if __name__ == "__main__":
    sys.exit(main())
