# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as a timeline in Chrome's trace format, which Perfetto opens.

Launches and transfers take the modelled time, and everything else the time of this host; what lies
between two calls of the host is its own work, so that the whole is a run on modelled hardware.
"""

from __future__ import annotations

from typing import Any

from offchip.chrome_trace import ChromeTrace

from .costs import SLEEPS, Code
from .raw import DONE, FAULT, Event, EventKind, LaunchEvents, Operation, RawProfile

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
_ENGINES, _LOCKS = 100, 200


def _places(operations: list[Operation]) -> list[tuple[Operation, float, float]]:
    """Put operations one after the other: begin and duration in nanoseconds."""
    found, now, before = [], 0.0, 0
    for one in sorted(operations, key=lambda one: one.begin):
        now += max(0, one.begin - before) if before else 0.0
        duration = float(one.modelled or one.end - one.begin)
        found.append((one, now, duration))
        now, before = now + duration, max(before, one.end)
    return found


def _describe(event: Event, code: Code) -> tuple[int, str]:
    """Return the row and the name of an event of a DPU."""
    kind = EventKind(event.kind)
    if kind == EventKind.ENGINE:
        return _ENGINES, f"tasklet {event.thread}: {event.value} bytes"
    if kind == EventKind.HELD:
        return _LOCKS + event.value % 256, f"tasklet {event.thread}"
    if kind == EventKind.RUN:
        return event.thread, "tasklet"
    if kind == EventKind.SLEEP:
        return event.thread, SLEEPS.get(code.function(event.pc), "sleep")
    if kind == EventKind.SPIN:
        return event.thread, code.lock(event.value % 256)
    return event.thread, f"{kind.name.lower()} {event.value} bytes"


def _engine(free: list[int], event: Event) -> int:
    """Return which DMA engine has a transfer; of those that are free the first."""
    lane = next((i for i, end in enumerate(free) if end <= event.begin), len(free))
    free[lane : lane + 1] = [event.end]
    return lane


def _add_launch(
    trace: ChromeTrace, one: LaunchEvents, code: Code, clock: int, begin: float
) -> dict[tuple[int, int], str]:
    """Add the events of a DPU in one launch; return the rows that they are in, with their names."""
    rows, free = dict[tuple[int, int], str](), list[int]()
    process = _DPUS + one.dpu
    for event in one.events:
        row, name = _describe(event, code)
        if row == _ENGINES:
            row += _engine(free, event)
        if (process, row) not in rows:
            rows[process, row] = _row_name(row, code)
        first, last = (begin + cycle * 1e9 / clock for cycle in (event.begin, event.end))
        place = code.place(event.pc)
        trace.add(process, row + 1, name, first, last, cycle=event.begin, at=place)
    return rows


def _row_name(row: int, code: Code) -> str:
    if row < _ENGINES:
        return f"tasklet {row}"
    if row < _LOCKS:
        return "DMA engine" if row == _ENGINES else f"DMA engine {row - _ENGINES + 1}"
    return code.lock(row - _LOCKS)


def _name_rows(trace: ChromeTrace, rows: dict[tuple[int, int], str]) -> None:
    trace.name_process(_HOST, "host")
    trace.name_thread(_HOST, 1, "calls")
    for process in sorted({process for process, _ in rows}):
        trace.name_process(process, f"DPU {process - _DPUS}")
    for (process, row), name in sorted(rows.items()):
        trace.name_thread(process, row + 1, name)


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
    trace, rows, end = ChromeTrace(), dict[tuple[int, int], str](), 0.0
    begins: dict[int, float] = {}
    clocks = {program.clock_hz for program in profile.programs.values()}
    clock = max(clocks, default=350_000_000)
    endings: dict[int, str] = {}
    for ending in profile.endings:
        endings.setdefault(ending.operation, f"DPU {ending.dpu}: {ending.text}")
    faults = {one.operation for one in profile.launches if one.status == FAULT}
    cut_short = {one.operation for one in profile.launches if one.status != DONE}
    for one, begin, duration in _places(profile.operations):
        # The time of a launch besides its cycles comes first.
        begins[one.number] = begin + max(0.0, duration - one.cycles * 1e9 / clock)
        name, end = OPERATIONS.get(one.what, "other call"), begin + duration
        details: dict[str, Any] = {"dpus": one.dpus, "bytes": one.bytes, "cycles": one.cycles}
        if one.number in cut_short:
            name += " (fault)" if one.number in faults else " (stopped)"
            details["ended"] = endings.get(one.number, "")
        trace.add(_HOST, 1, name, begin, end, **details)

    for launch in profile.events:
        if launch.program in codes and launch.operation in begins:
            clock = profile.programs[launch.program].clock_hz
            code, begin = codes[launch.program], begins[launch.operation]
            rows |= _add_launch(trace, launch, code, clock, begin)

    _name_rows(trace, rows)
    trace.notes["time"] = "launches and transfers as modelled, the host's own work as it took here"
    dropped = sum(one.dropped for one in profile.events) + trace.cut(limit)
    if dropped:
        trace.notes["cut"] = f"{dropped} events were left out; --timeline keeps more"
        trace.mark(trace.notes["cut"], end)
    return trace.finish()
