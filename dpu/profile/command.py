# SPDX-License-Identifier: BSD-3-Clause
"""Profiles a host: ``python -m dpu.profile [options] -- ./host arguments``.

Files of earlier profiles may be given instead of a host, as may ``DPU_PROFILE=file=...`` when the
host is started by something else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .figures import ProgramFigures, program_figures
from .raw import ProfileError, RawProfile
from .recording import load, record
from .text import annotate, report

__all__ = ["main"]

_SUFFIX = ".dpuprofile"


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options] [--] HOST [ARGUMENTS] | {prog} [options] FILE{_SUFFIX} ...",
        description="Report where the time of DPU programs goes.",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    group = parser.add_argument_group("what is recorded")
    group.add_argument("--dpus", metavar="N", help="N, N-M or all: the DPUs to merge (0-63)")
    group.add_argument("--timeline", metavar="EVENTS", help="kept of each launch (20000)")
    group.add_argument("--limit", metavar="MIB", help="of a process's profile (256)")
    group.add_argument("--check", metavar="NAMES", help="as DPU_CHECK: all, or names")
    group.add_argument("--keep", metavar="FOLDER", help="where the profiles themselves go")
    group = parser.add_argument_group("what is reported (text, if nothing is chosen)")
    group.add_argument("--text", action="store_true", help="functions, lines, tasklets")
    group.add_argument("--lines", type=int, default=20, help="rows of each table (20)")
    group.add_argument("--instructions", type=int, default=0, help="and so many instructions")
    group.add_argument("--annotate", action="store_true", help="the sources, with costs")
    return parser


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments into files and a command; one of them is empty."""
    rest = list(words)
    if rest[:1] == ["--"]:
        return [], rest[1:]
    if rest and all(word.endswith(_SUFFIX) for word in rest):
        return rest, []
    return [], rest


def _options(options: argparse.Namespace) -> dict[str, str]:
    """Return what ``DPU_PROFILE`` is to say."""
    return {
        key: getattr(options, key)
        for key in ("dpus", "timeline", "limit")
        if getattr(options, key) is not None
    }


def _say(options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]) -> None:
    """Print what was asked for."""
    for figures in programs:
        if options.text or not options.annotate:
            print(report(figures, lines=options.lines, instructions=options.instructions))
        if options.annotate:
            print(annotate(figures))
    if not programs:
        print("no launch was profiled: does the host use this libdpu, and DPUs of --dpus?")
    if profile.dropped:
        print(f"note: {profile.dropped} records are beyond the limit of the file (--limit)")
    if not profile.is_complete:
        print("note: a process did not come to its end; what it had merged by then is all there is")


def main(
    arguments: Sequence[str] | None = None,
    *,
    prog: str = "python -m dpu.profile",
    say: Callable[[argparse.Namespace, RawProfile, list[ProgramFigures]], None] = _say,
) -> int:
    """Run a command line.

    Returns
    -------
    int
        The exit status of the host, 0 for files, or 2 for a mistake.
    """
    parser = _parser(prog)
    options = parser.parse_args(arguments)
    paths, command = _split(options.words)
    if not paths and not command:
        parser.error("a host, or a profile, is needed")
    status = 0
    try:
        folder = options.keep
        if command and options.check is not None:
            os.environ["DPU_CHECK"] = options.check
        if command:
            status, files = record(command, _options(options), folder)
        else:
            files = [Path(path) for path in paths]
        profile = load(files) if files else RawProfile(is_complete=True)
        if command and folder is None and files:
            shutil.rmtree(files[0].parent)
        say(options, profile, program_figures(profile))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read it has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, ProfileError) as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        return 2
    return status
