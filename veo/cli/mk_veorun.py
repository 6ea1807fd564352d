# SPDX-License-Identifier: BSD-3-Clause
"""The command ``mk_veorun_static`` of the folder that ``veo-env`` writes.

Its arguments are those of NEC's command, the work is that of :mod:`veo.static_worker`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from veo.compilers import Toolchain, VeoBuildError
from veo.static_worker import build_static_worker

__all__ = ["main"]

_NAME = "mk_veorun_static"
_USAGE = f"""usage: {_NAME} [-o] OUT [options] FILE...
Links kernels (objects and archives) into OUT, a worker for VEORUN_BIN.
  -fopenmp -LFOLDER -lNAME -Wl,OPTION   options of the compiler that links
  --link-nosym=FILE,...                 files whose symbols veo_get_sym() need not find
  -v                                    print the commands
"""


@dataclass
class _Arguments:
    out: str = ""
    files: list[str] = field(default_factory=list)
    no_symbols: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    verbose: bool = False


def _parse(words: Sequence[str]) -> _Arguments:
    arguments = _Arguments()
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.files += rest
        elif word == "-o":
            arguments.out = next(rest, "")
        elif word == "-v":
            arguments.verbose = True
        elif word.startswith("--link-nosym="):
            names = word.partition("=")[2].split(",")
            arguments.no_symbols += [name for name in names if name]
        elif word.startswith("-"):
            arguments.options.append(word)
        else:
            arguments.files.append(word)
    if not arguments.out and arguments.files:
        arguments.out = arguments.files.pop(0)
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0; 1 if the worker cannot be linked; 2 if the arguments are wrong.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if "-h" in words or "--help" in words:
        print(_USAGE, end="")
        return 0
    arguments = _parse(words)
    if not arguments.out or not arguments.files:
        print(_USAGE, end="", file=sys.stderr)
        return 2

    toolchain = Toolchain("host", f"stands in for NEC's {_NAME}")
    try:
        build_static_worker(
            arguments.out,
            # The linker gets those files, the table of symbols does not.
            [*arguments.files, *(f"-Wl,{name}" for name in arguments.no_symbols)],
            flags=toolchain.link_flags(arguments.options, ()) + toolchain.search_flag("-L", "lib"),
            verbose=arguments.verbose,
        )
    except (OSError, VeoBuildError) as error:
        print(f"{_NAME}: error: {error}", file=sys.stderr)
        return 1

    return 0


if __name__ == "__main__":
    sys.exit(main())
