# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-profiling``, under the name that UPMEM's documentation has.

Of its subcommands there are ``functions`` (calls of the host), ``memory-transfer`` (copies between
the host and DPUs) and ``dpu-statistics`` (what DPUs executed). Other options are those of
``python -m dpu.profile``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial

from dpu.profile import ProgramFigures, RawProfile, report
from dpu.profile.command import main as profile_main
from dpu.profile.command import write_files
from dpu.profile.timeline import OPERATIONS
from offchip.closed_pipe import ends_at_closed_pipe

__all__ = ["main"]

_PROG = "dpu-profiling"
_USAGE = f"""usage: {_PROG} functions|memory-transfer|dpu-statistics [options] -- HOST [ARGUMENTS]
Shows what a host program and its DPUs do, in three tables.

  functions        calls of the host: how many, and how long they take as modelled
  memory-transfer  copies between the host and DPUs: bytes, time, bandwidth
  dpu-statistics   what DPUs executed, by function, line and tasklet

  -o FILE          of functions: write a timeline too (Chrome's trace format)
  -a, -A           of functions: all of them, as without it
  -d FUNCTION      of functions: of libdpu's calls those of this function alone; may be repeated
  -f FUNCTION, --external-function LIBRARY:FUNCTION
                   of functions: of the host itself; taken, and a line says that they are not timed
  -d N             of dpu-statistics: the DPU (all of them otherwise)
Other options: see python -m dpu.profile --help
Example: {_PROG} dpu-statistics -d 0 -- ./host 1000
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
    options: argparse.Namespace,
    profile: RawProfile,
    programs: list[ProgramFigures],
    chosen: Collection[str] = (),
) -> None:
    rows = sorted(_rows(profile).items(), key=lambda item: -item[1][1])
    rows = [item for item in rows if not chosen or item[0] in chosen]
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


_COMMANDS: dict[str, Callable[[argparse.Namespace, RawProfile, list[ProgramFigures]], None]] = {
    "functions": _functions,
    "memory-transfer": _transfers,
    "dpu-statistics": _statistics,
}
_SHORT = {"-o": "--trace", "-d": "--dpus"}
# The functions of libdpu by what they do; older ones begin as these do.
_CALLS = {
    "dpu_launch": {"launch"},
    "dpu_boot": {"launch"},
    "dpu_copy_to": {"copy to a DPU", "broadcast", "copy to DPUs"},
    "dpu_copy_from": {"copy from a DPU", "copy from DPUs"},
    "dpu_broadcast_to": {"broadcast"},
    "dpu_push_xfer": {"copy to DPUs", "copy from DPUs"},
    "dpu_push_sg_xfer": {"copy to DPUs", "copy from DPUs"},
}


class _MistakeError(Exception):
    """A word of the command line that means nothing."""


def _choose(words: Sequence[str]) -> tuple[list[str], set[str], list[str]]:
    """Take the options of `functions`: the other words, what is shown, the host's functions."""
    end = words.index("--") if "--" in words else len(words)
    rest, chosen, hosts = list[str](), set[str](), list[str]()
    own = iter(words[:end])
    for word in own:
        name, equals, value = word.partition("=")
        if name in ("-d", "-f", "--external-function"):
            value = value if equals else next(own, "")
            if not value:
                raise _MistakeError(f"{name} needs the name of a function")
            found = [rows for call, rows in _CALLS.items() if value.startswith(call)]
            if name != "-d":
                hosts.append(value)
            elif found:
                chosen |= found[0]
            else:
                raise _MistakeError(
                    f"no calls of '{value}' are recorded; those of {', '.join(_CALLS)} are"
                )
        elif word not in ("-a", "-A"):
            rest.append(word)
    return [*rest, *words[end:]], chosen, hosts


def _translate(words: Sequence[str]) -> list[str]:
    """Replace short options before the host's command."""
    end = words.index("--") if "--" in words else len(words)
    return [*(_SHORT.get(word, word) for word in words[:end]), *words[end:]]


@ends_at_closed_pipe
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

    say, rest = _COMMANDS[words[0]], words[1:]
    if say is _functions:
        try:
            rest, chosen, hosts = _choose(rest)
        except _MistakeError as error:
            print(f"{_PROG}: error: {error}", file=sys.stderr)
            return 2
        say = partial(_functions, chosen=chosen)
        if hosts:
            print(
                f"{_PROG}: functions of the host are not timed here, as perf does it:"
                f" {', '.join(hosts)}; those of libdpu are",
                file=sys.stderr,
            )

    def say_and_write(
        options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
    ) -> None:
        write_files(options, profile, programs)
        say(options, profile, programs)

    run = partial(profile_main, prog=f"{_PROG} {words[0]}", say=say_and_write)
    return run(_translate(rest))
