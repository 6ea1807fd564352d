# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-profiling``, under the name that UPMEM's documentation has.

Of its subcommands there are ``functions`` (calls of the host), ``memory-transfer`` (copies between
the host and DPUs) and ``dpu-statistics`` (what DPUs executed). Other options are those of
``python -m dpu.profile``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from dpu.profile import ProgramFigures, RawProfile, report
from dpu.profile.command import main as profile_main
from dpu.profile.command import write_files
from dpu.profile.timeline import OPERATIONS

__all__ = ["main"]

_PROG = "dpu-profiling"
_USAGE = f"""usage: {_PROG} functions|memory-transfer|dpu-statistics [options] -- HOST [ARGUMENTS]

functions        calls of the host: how many, and how long they take as modelled
memory-transfer  copies between the host and DPUs: bytes, time, bandwidth
dpu-statistics   what DPUs executed, by function, line and tasklet

-o FILE          of functions: write a timeline too (Chrome's trace format)
-d N             of dpu-statistics: the DPU (all of them otherwise)
Other options: see python -m dpu.profile --help
"""


def _rows(profile: RawProfile) -> dict[str, list[float]]:
    """Return calls, milliseconds and bytes by what was called."""
    rows: dict[str, list[float]] = {}
    for one in profile.operations:
        row = rows.setdefault(OPERATIONS.get(one.what, "other call"), [0, 0.0, 0])
        row[0] += 1
        row[1] += (one.modelled or one.end - one.begin) / 1e6
        row[2] += one.bytes
    return rows


def _functions(
    options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
) -> None:
    rows = sorted(_rows(profile).items(), key=lambda item: -item[1][1])
    total = sum(row[1] for _, row in rows) or 1.0
    print(f"{'calls':>8} {'ms':>12} {'%':>6}  function")
    for name, (calls, time, _) in rows:
        print(f"{calls:8.0f} {time:12.3f} {100 * time / total:6.1f}  {name}")


def _transfers(
    options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
) -> None:
    print(f"{'calls':>8} {'bytes':>14} {'ms':>12} {'MB/s':>10}  transfer")
    for name, (calls, time, size) in _rows(profile).items():
        if name in ("launch", "other call"):
            continue
        speed = size / time / 1e3 if time else 0.0
        print(f"{calls:8.0f} {size:14.0f} {time:12.3f} {speed:10.1f}  {name}")


def _statistics(
    options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
) -> None:
    for figures in programs:
        print(report(figures, lines=options.lines, instructions=options.instructions))


_COMMANDS = {
    "functions": _functions,
    "memory-transfer": _transfers,
    "dpu-statistics": _statistics,
}
_SHORT = {"-o": "--trace", "-d": "--dpus"}


def _translate(words: Sequence[str]) -> list[str]:
    """Replace short options before the host's command."""
    end = words.index("--") if "--" in words else len(words)
    return [*(_SHORT.get(word, word) for word in words[:end]), *words[end:]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(_USAGE, end="")
        return 0 if words else 2
    if words[0] not in _COMMANDS:
        names = ", ".join(_COMMANDS)
        print(f"{_PROG}: error: there is no '{words[0]}'; there are {names}", file=sys.stderr)
        return 2

    say = _COMMANDS[words[0]]

    def say_and_write(
        options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
    ) -> None:
        write_files(options, profile, programs)
        say(options, profile, programs)

    run = partial(profile_main, prog=f"{_PROG} {words[0]}", say=say_and_write)
    return run(_translate(words[1:]))
