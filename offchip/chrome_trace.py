# SPDX-License-Identifier: BSD-3-Clause
"""Chrome's trace format, as far as Perfetto reads it: processes, threads, and what took time there.

What overlaps in a thread must nest. Readers round the begin and the duration of an event to
nanoseconds, each alone, so that both are whole numbers of them here: else an event could end after
the begin of the next one.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from offchip.outputs import is_plain, written_file

__all__ = ["ChromeTrace", "check_output", "write_timeline"]

# The first bytes of a timeline.
_BEGIN = b'{"traceEvents"'


class ChromeTrace:
    """A trace that is being made.

    Attributes
    ----------
    notes : dict of str to str
        About the whole trace.
    """

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self._names: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def __len__(self) -> int:
        """Return the number of events, without names."""
        return len(self._events)

    def _name(self, kind: str, process: int, thread: int, value: dict[str, Any]) -> None:
        self._names.append({"ph": "M", "name": kind, "pid": process, "tid": thread, "args": value})

    def name_process(self, process: int, name: str) -> None:
        """Name a process; viewers show processes in the order of their numbers."""
        self._name("process_name", process, 0, {"name": name})
        self._name("process_sort_index", process, 0, {"sort_index": process})

    def name_thread(self, process: int, thread: int, name: str) -> None:
        """Name a thread of a process; its number must not be 0, which means the idle one."""
        self._name("thread_name", process, thread, {"name": name})
        self._name("thread_sort_index", process, thread, {"sort_index": thread})

    def add(
        self,
        process: int,
        thread: int,
        name: str,
        begin: float,
        end: float,
        **details: int | str,
    ) -> None:
        """Add what lasted from one nanosecond to another."""
        first, last = round(begin), round(end)
        event = {"ph": "X", "name": name, "pid": process, "tid": thread, "ts": first / 1000}
        event["dur"] = (last - first) / 1000
        self._events.append({**event, "args": details} if details else event)

    def mark(self, name: str, at: float) -> None:
        """Add a note at a nanosecond, for all processes."""
        event = {"ph": "i", "s": "g", "name": name, "pid": 1, "tid": 1, "ts": round(at) / 1000}
        self._events.append(event)

    def cut(self, limit: int) -> int:
        """Keep so many events, those that were added first; return how many are gone."""
        gone = max(0, len(self._events) - limit)
        del self._events[limit:]
        return gone

    def finish(self) -> dict[str, Any]:
        """Return it as an object to be written as JSON."""
        # Of two that begin together the longer one has the other in it.
        events = sorted(self._events, key=lambda one: (one["ts"], -one.get("dur", 0.0)))
        trace = {"traceEvents": self._names + events, "displayTimeUnit": "ns"}
        return {**trace, "otherData": self.notes}

    def write(self, path: Path) -> None:
        """Write it to a file, which is there when it is complete."""
        write_timeline(self.finish(), path)


def check_output(path: Path) -> None:
    """Refuse to replace a file that is no timeline, such as the program that was to be traced.

    Raises
    ------
    FileExistsError
        There is one.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        begin = file.read(len(_BEGIN))
    if begin not in (b"", _BEGIN):
        raise FileExistsError(
            errno.EEXIST,
            "there is a file that is no timeline; remove it, or name another",
            str(path),
        )


def write_timeline(timeline: dict[str, Any], path: Path) -> None:
    """Write what `ChromeTrace.finish()` gives to a file, which is there when it is complete."""
    check_output(path)
    text = json.dumps(timeline)
    if not is_plain(path):
        # A device, a pipe or a link such as /dev/stdout is written to, and stays what it is.
        with written_file(path) as file:
            file.write_text(text)
        return
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)
