# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as a timeline in Chrome's trace format, which Perfetto opens.

Launches and transfers take the modelled time, and everything else the time of this host; what lies
between two calls of the host is its own work, so that the whole is a run on modelled hardware.
"""

from __future__ import annotations

from typing import Any

from .costs import SLEEPS, Code
from .raw import Event, EventKind, LaunchEvents, Operation, RawProfile

__all__ = ["OPERATIONS", "timeline"]

# By the number of what they do.
OPERATIONS = {
    0: "launch",
    1: "copy to a DPU",
    2: "copy from a DPU",
    3: "copy to DPUs",
    4: "copy from DPUs",
    5: "broadcast",
}
_HOST, _DPUS = 1, 1000
_ENGINE, _LOCKS = 100, 200


def _name_thread(process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _name_process(process: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}


def _places(operations: list[Operation]) -> list[tuple[Operation, float, float]]:
    """Put operations one after the other: begin and duration in microseconds."""
    found, now, before = [], 0.0, 0
    for one in sorted(operations, key=lambda one: one.begin):
        now += max(0, one.begin - before) / 1e3 if before else 0.0
        duration = (one.modelled or one.end - one.begin) / 1e3
        found.append((one, now, duration))
        now, before = now + duration, max(before, one.end)
    return found


def _describe(event: Event, code: Code) -> tuple[int, str]:
    """Return the row and the name of an event of a DPU."""
    kind = EventKind(event.kind)
    if kind == EventKind.ENGINE:
        return _ENGINE, f"tasklet {event.thread}: {event.value} bytes"
    if kind == EventKind.HELD:
        return _LOCKS + event.value % 256, f"tasklet {event.thread}"
    if kind == EventKind.RUN:
        return event.thread, "tasklet"
    if kind == EventKind.SLEEP:
        return event.thread, SLEEPS.get(code.function(event.pc), "sleep")
    if kind == EventKind.SPIN:
        return event.thread, f"atomic bit {event.value}"
    return event.thread, f"{kind.name.lower()} {event.value} bytes"


def _launch(
    one: LaunchEvents, code: Code, clock: int, begin: float
) -> tuple[list[dict[str, Any]], set[tuple[int, int]]]:
    """Return the events of a DPU in one launch, and the rows that they are in."""
    found, rows = [], set()
    process = _DPUS + one.dpu
    for event in one.events:
        row, name = _describe(event, code)
        rows.add((process, row))
        found.append(
            {
                "ph": "X",
                "name": name,
                "pid": process,
                "tid": row,
                "ts": begin + event.begin * 1e6 / clock,
                "dur": (event.end - event.begin) * 1e6 / clock,
                "args": {"cycle": event.begin, "at": code.place(event.pc)},
            }
        )
    return found, rows


def timeline(profile: RawProfile, *, limit: int = 200000) -> dict[str, Any]:
    """Return a profile as an object to be written as JSON.

    Parameters
    ----------
    profile : RawProfile
        The profile.
    limit : int
        The most events; a note says how many were left out.
    """
    codes = {number: Code(program) for number, program in profile.programs.items()}
    found: list[dict[str, Any]] = []
    begins: dict[int, float] = {}
    rows: set[tuple[int, int]] = set()
    dropped = sum(one.dropped for one in profile.events)
    clocks = {program.clock_hz for program in profile.programs.values()}
    clock = max(clocks, default=350_000_000)
    for one, begin, duration in _places(profile.operations):
        # What a launch takes besides its cycles comes first.
        begins[one.number] = begin + max(0.0, duration - one.cycles * 1e6 / clock)
        name = OPERATIONS.get(one.what, "other call")
        args = {"dpus": one.dpus, "bytes": one.bytes, "cycles": one.cycles}
        found.append(
            {"ph": "X", "name": name, "pid": _HOST, "tid": 0, "ts": begin, "dur": duration}
            | {"args": args}
        )

    for launch in profile.events:
        if launch.program not in codes or launch.operation not in begins:
            continue
        clock = profile.programs[launch.program].clock_hz
        code, begin = codes[launch.program], begins[launch.operation]
        events, used = _launch(launch, code, clock, begin)
        found += events
        rows |= used

    dropped += max(0, len(found) - limit)
    found = found[:limit]
    names = [_name_process(_HOST, "host"), _name_thread(_HOST, 0, "calls")]
    for process in sorted({process for process, _ in rows}):
        names.append(_name_process(process, f"DPU {process - _DPUS}"))
    for process, row in sorted(rows):
        name = f"tasklet {row}" if row < _ENGINE else f"atomic bit {row - _LOCKS}"
        names.append(_name_thread(process, row, "DMA engine" if row == _ENGINE else name))
    notes = {"time": "launches and transfers as modelled, the host's own work as it took here"}
    if dropped:
        notes["cut"] = f"{dropped} events were left out; --timeline keeps more"
        at = max((event["ts"] for event in found), default=0.0)
        found.append({"ph": "i", "s": "g", "name": notes["cut"], "pid": _HOST, "tid": 0, "ts": at})
    return {"traceEvents": names + found, "displayTimeUnit": "ns", "otherData": notes}
