# SPDX-License-Identifier: BSD-3-Clause
"""One timeline of what veo, dpu and accl do, for Perfetto (https://ui.perfetto.dev).

In a program::

    from offchip.trace import trace

    with trace("run.json"):
        ...

Of a whole process, ``OFFCHIP_TRACE=run-%p.json``, where ``%p`` stands for its number. Of a command
with all its processes::

    python -m offchip.trace -o run.json -- mpiexec -n 2 python program.py

Each package has a row of its own in each process, and accl one for each rank. Events are the calls
of the C libraries that take time: launches, transfers, collective calls, waits. While nothing is
traced, these are called as if this module did not exist.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from offchip import libraries
from offchip.chrome_trace import ChromeTrace, check_output, write_timeline

__all__ = ["merge", "trace"]

_PACKAGES = ("veo", "dpu", "accl")
# A viewer has one number for a process: that of ours times this, and a row of it.
_ROWS, _FIRST_RANK = 1000, 10


class _Call(NamedTuple):
    """A call, with nanoseconds of the monotonic clock; rank -1 if it has none."""

    name: str
    begin: int
    end: int
    bytes: int
    thread: int
    rank: int


def _thread_name(thread: int) -> str:
    for one in threading.enumerate():
        if one.native_id == thread:
            return one.name
    return f"thread {thread}"


class trace:
    """Trace all packages until it is closed; then the file is written.

    Parameters
    ----------
    path : path
        The file; ``%p`` stands for the number of the process.

    Raises
    ------
    RuntimeError
        Something traces this process already.
    OSError
        From `close()`: the file cannot be written.

    Notes
    -----
    If a package uses several libraries, the calls of one are traced: of the default one if it is
    loaded by then, else of the first that is loaded. Of each package 131,072
    calls are kept, the first. A child that was forked is not traced.
    """

    path: Path
    _process: int
    _active: trace | None = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if trace._active is not None and trace._active._process == os.getpid():
            raise RuntimeError(f"this process is traced already, to {trace._active.path}")
        self._process = os.getpid()
        self.path = Path(os.fspath(path).replace("%p", str(self._process)))
        self._joined: list[tuple[str, Any]] = []
        trace._active = self
        for library in [*libraries.defaults.values(), *libraries.loaded]:
            self._join(library)
        libraries.on_load.append(self._join)

    def _join(self, library: Any) -> None:
        package = type(library).__module__.partition(".")[0]
        if self._process == os.getpid() and package not in dict(self._joined):
            library.trace(True)
            self._joined.append((package, library))

    def close(self) -> None:
        """End it, and write the file. A second time, and in a forked child, this does nothing."""
        if trace._active is not self or self._process != os.getpid():
            return
        trace._active = None
        libraries.on_load.remove(self._join)
        calls, dropped = dict[str, list[_Call]](), 0
        for package, library in self._joined:
            library.trace(False)
            events, lost = library.take_trace()
            calls[package] = [_Call(*event) for event in events]
            dropped += lost
        _draw(self._process, calls, dropped).write(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()


def _draw(process: int, calls: dict[str, list[_Call]], dropped: int) -> ChromeTrace:
    """Make the trace of a process."""
    found, rows = ChromeTrace(), set[tuple[int, int]]()
    ranks = {call.rank for call in calls.get("accl", []) if call.rank >= 0}
    only = next(iter(ranks)) if len(ranks) == 1 else -1
    for package, events in calls.items():
        for call in events:
            rank = call.rank if call.rank >= 0 or package != "accl" else only
            row = _FIRST_RANK + rank if rank >= 0 else _PACKAGES.index(package)
            number = process * _ROWS + row
            if (number, 0) not in rows:
                shown = rank if rank >= 0 else only
                where = f"rank {shown}, " if shown >= 0 else ""
                found.name_process(number, f"{package} ({where}process {process})")
            if (number, call.thread) not in rows:
                found.name_thread(number, call.thread, _thread_name(call.thread))
            rows |= {(number, 0), (number, call.thread)}
            details = {"bytes": call.bytes} if call.bytes else {}
            found.add(number, call.thread, call.name, call.begin, call.end, **details)

    found.notes["time"] = "of this host's monotonic clock"
    if dropped:
        found.notes["cut"] = f"{dropped} calls were left out"
    return found


def merge(paths: Iterable[str | os.PathLike[str]], path: str | os.PathLike[str]) -> int:
    """Join traces of several processes of this host in one file.

    Returns
    -------
    int
        How many calls it has.

    Raises
    ------
    ValueError
        One of them is not a trace.
    """
    names, events, notes = list[Any](), list[Any](), dict[str, str]()
    for one in paths:
        try:
            found = json.loads(Path(one).read_text())
            for event in found["traceEvents"]:
                (names if event["ph"] == "M" else events).append(event)
            notes |= found["otherData"]
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(f"{os.fspath(one)} is not a trace: {error!r}") from None
    events.sort(key=lambda event: (event["ts"], -event.get("dur", 0.0)))
    whole = {"traceEvents": names + events, "displayTimeUnit": "ns", "otherData": notes}
    write_timeline(whole, Path(path))
    return len(events)


def _run(command: Sequence[str], path: str) -> int:
    """Trace a command with its children; return its exit status."""
    check_output(Path(path))
    with tempfile.TemporaryDirectory(prefix="offchip-trace-") as folder:
        environment = {**os.environ, "OFFCHIP_TRACE": str(Path(folder) / "%p.json")}
        status = subprocess.run(command, env=environment, check=False).returncode
        files = sorted(Path(folder).glob("*.json"))
        if not files:
            print(
                f"{path} was not written: no process of the command imported veo, dpu or accl. "
                "Hosts in C are not traced; python -m dpu.profile has the timeline of their DPUs",
                file=sys.stderr,
            )
            return 128 - status if status < 0 else status
        count = merge(files, path)
    print(f"{path}: {count} calls of {len(files)} process(es)", file=sys.stderr)
    return 128 - status if status < 0 else status


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m offchip.trace",
        description="Trace what a command and its children do with veo, dpu and accl.",
        epilog="Example: python -m offchip.trace -o trace.json python program.py",
    )
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        default="trace.json",
        help="the timeline, which https://ui.perfetto.dev opens (default: trace.json)",
    )
    parser.add_argument("command", nargs="+", help="the program and its arguments, after --")
    options = parser.parse_args(arguments)
    try:
        return _run(options.command, options.output)
    except (OSError, ValueError) as error:
        print(f"python -m offchip.trace: error: {error}", file=sys.stderr)
        return 2


def _close_at_exit(one: trace) -> None:
    try:
        one.close()
    except OSError as error:
        print(f"OFFCHIP_TRACE: cannot write {one.path}: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(_main())

_path = os.environ.get("OFFCHIP_TRACE")
if _path and trace._active is None:
    atexit.register(_close_at_exit, trace(_path))
