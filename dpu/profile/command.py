# SPDX-License-Identifier: BSD-3-Clause
"""Profiles a host: ``python -m dpu.profile [options] -- ./host arguments``.

Files of earlier profiles may be given instead of a host, as may ``DPU_PROFILE=file=...`` when the
host is started by something else.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .callgrind import callgrind
from .document import document
from .drawing import draw_dpus, draw_roofline, draw_tasklets, draw_timeline
from .figures import ProgramFigures, program_figures
from .page import page
from .raw import ProfileError, RawProfile, is_profile
from .recording import load, record
from .text import annotate, report, summary
from .timeline import timeline

__all__ = ["main", "write_files"]

_SUFFIX = ".dpuprofile"
_FILES = {
    "html": "one page with everything",
    "callgrind": "for KCachegrind; of the program that took most cycles",
    "trace": "a timeline for Perfetto (Chrome's trace format, JSON)",
    "roofline": "the roofline of that program, as SVG",
    "tasklets": "what the time of tasklets went to, as SVG",
    "balance": "what the cycles of each DPU went to, as SVG",
    "picture": "the timeline of its first launch, as SVG",
}

_PICTURES = {"roofline": draw_roofline, "tasklets": draw_tasklets, "balance": draw_dpus}


def _parser(prog: str, *, has_json: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options] [--] HOST [ARGUMENTS] | {prog} [options] PROFILE ...",
        description="Report where the time of DPU programs goes.",
        epilog=f"Example: {prog} --html profile.html -- ./host 1000",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    group = parser.add_argument_group("what is recorded")
    group.add_argument("--dpus", metavar="N", help="N, N-M or all: the DPUs to merge (0-63)")
    group.add_argument("--timeline", metavar="EVENTS", help="kept of each launch (20000)")
    group.add_argument("--limit", metavar="MIB", help="of a process's profile (256)")
    group.add_argument("--check", metavar="NAMES", help="sets DPU_CHECK: all, or names")
    group.add_argument("--keep", metavar="FOLDER", help="where the profiles themselves go")
    group = parser.add_argument_group("what is reported (text, if nothing is chosen)")
    group.add_argument("--text", action="store_true", help="functions, lines, tasklets")
    if has_json:
        group.add_argument("--json", action="store_true", help="one object, in place of text")
    else:
        parser.set_defaults(json=False)
    group.add_argument("--lines", type=int, default=20, help="rows of each table (20)")
    group.add_argument("--instructions", type=int, default=0, help="and so many instructions")
    group.add_argument("--annotate", action="store_true", help="the sources, with costs")
    for name, text in _FILES.items():
        group.add_argument(f"--{name}", metavar="FILE", help=text)
    return parser


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments into files and a command; one of them is empty."""
    rest = list(words)
    if rest[:1] == ["--"]:
        return [], rest[1:]
    if rest and all(word.endswith(_SUFFIX) or is_profile(word) for word in rest):
        return rest, []
    return [], rest


def _options(options: argparse.Namespace) -> dict[str, str]:
    """Return what ``DPU_PROFILE`` is to say."""
    values = {key: getattr(options, key) for key in ("dpus", "timeline", "limit")}
    return {key: value for key, value in values.items() if value is not None}


def _note(options: argparse.Namespace, text: str) -> None:
    """Print a remark, where it does not spoil JSON."""
    print(f"note: {text}", file=sys.stderr if options.json else sys.stdout)


def _page(options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]) -> str:
    paths, command = _split(options.words)
    when = Path(paths[0]).stat().st_mtime if paths else time.time()
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
    return page(profile, programs, command=shlex.join(command or paths), when=date)


def write_files(
    options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]
) -> bool:
    """Write the files that were asked for. False if none was."""
    wanted = {name: getattr(options, name) for name in _FILES if getattr(options, name)}
    for name, path in wanted.items():
        if name in ("html", "trace"):
            text = (
                json.dumps(timeline(profile))
                if name == "trace"
                else _page(options, profile, programs)
            )
        elif not programs:
            continue
        elif name == "callgrind":
            text = callgrind(programs[0], profile.pid)
        elif name == "picture":
            number = programs[0].program.number
            events = [one for one in profile.events if one.program == number and one.events]
            if not events:
                _note(options, "there are no events to draw (--timeline)")
                continue
            text = draw_timeline(programs[0], events[0])
        else:
            text = _PICTURES[name](programs[0])
        Path(path).write_text(text)
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    return bool(wanted)


def _say(options: argparse.Namespace, profile: RawProfile, programs: list[ProgramFigures]) -> None:
    """Print and write what was asked for."""
    writes = write_files(options, profile, programs)
    if options.json:
        print(json.dumps(document(profile, programs)))
        return
    for figures in programs:
        if writes and not options.text:
            print("\n".join(summary(figures)))
        if options.text or not (options.annotate or writes):
            print(report(figures, lines=options.lines, instructions=options.instructions))
        if options.annotate:
            print(annotate(figures))
    if profile.left_out and programs:
        _note(
            options,
            "launches that ran on none of the profiled DPUs, and are not in the report: "
            f"{profile.left_out} (--dpus all)",
        )
    if not programs:
        print("no launch was profiled: does the host use this libdpu, and DPUs of --dpus?")
    if profile.dropped:
        _note(options, f"{profile.dropped} records are beyond the limit of the file (--limit)")
    if not profile.is_complete:
        _note(options, "a process did not come to its end; what it had merged by then is all")


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
    parser = _parser(prog, has_json=say is _say)
    options = parser.parse_args(arguments)
    if options.json and (options.text or options.annotate):
        parser.error("--json is in place of --text and --annotate")
    paths, command = _split(options.words)
    if not paths and not command:
        parser.error("a host, or a profile, is needed")
    status = 0
    try:
        folder = options.keep
        if command:
            # The host's output must not come between lines of JSON.
            output = sys.__stderr__.fileno() if options.json and sys.__stderr__ else None
            status, files = record(
                command, _options(options), folder, checks=options.check, output=output
            )
        else:
            files = [Path(path) for path in paths]
            if options.dpus is not None:
                _note(options, "a profile has the DPUs that were recorded; --dpus is for a host")
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
