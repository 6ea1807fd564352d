# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files that libdpu writes for ``DPU_PROFILE`` (csrc/dpu/lib/observe/raw_file.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "Call",
    "Ending",
    "Event",
    "EventKind",
    "Launch",
    "LaunchEvents",
    "Operation",
    "ProfileError",
    "RawProfile",
    "RecordedProgram",
    "Site",
    "Tasklet",
    "is_profile",
    "merge",
    "read",
]

_MAGIC, _VERSION = b"dpuprof\n", 2
# Tasklets that each launch has rows for, and the most that it can have.
_LEAST_THREADS, _THREADS, _IRAM = 24, 64, 4096
# Those of the largest number of 64 bits.
_DIGITS = 20
# Kinds of operations: enum dpulib_raw_operation_kind.
_LAUNCHES = 0

# How a launch of a DPU ended: enum dpu_run_status. Others were stopped by a limit or an interrupt.
DONE, FAULT = 0, 1

_HEADER = struct.Struct("<8sII")
_RECORD = struct.Struct("<II")
_PROGRAM = struct.Struct("<6I")
_LAUNCH = struct.Struct("<QII11Q")
_TASKLET = struct.Struct("<6Q")
_ENDING = struct.Struct("<QII")
_EVENTS = struct.Struct("<QIIQQ")
_EVENT = struct.Struct("<QQIHBB")
_OPERATION = struct.Struct("<7QII")
_SITES = struct.Struct("<IIQ")
_SITE = struct.Struct("<5QII")
_CALLS = struct.Struct("<IIQ")
_CALL = struct.Struct("<6QII")
_END = struct.Struct("<Q")


class ProfileError(ValueError):
    """A file is not a profile, or is damaged."""


class RecordedProgram(NamedTuple):
    """A DPU program, and the clock and options of the DPUs that ran it, by keys of a profile."""

    number: int
    path: str
    image: bytes
    clock_hz: int
    options: dict[str, int]


class Tasklet(NamedTuple):
    """A tasklet in one launch; numbers are cycles but for the instructions."""

    instructions: int
    begin: int
    end: int
    spin: int
    dma: int
    sleep: int


class Launch(NamedTuple):
    """One DPU in one launch."""

    operation: int
    dpu: int
    program: int
    status: int
    cycles: int
    instructions: int
    lost_dma: int
    lost_stopped: int
    lost_few: int
    reads: int
    writes: int
    read_bytes: int
    write_bytes: int
    dma_busy: int
    tasklets: tuple[Tasklet, ...]


class Ending(NamedTuple):
    """A DPU in a launch that did not complete, and where and why it ended."""

    operation: int
    dpu: int
    text: str


class EventKind(IntEnum):
    """Subjects of events."""

    READ = 1
    WRITE = 2
    ENGINE = 3
    SLEEP = 4
    SPIN = 5
    HELD = 6
    RUN = 7


class Event(NamedTuple):
    """Something of one tasklet that took cycles of a launch."""

    begin: int
    end: int
    value: int
    pc: int
    kind: int
    thread: int


class LaunchEvents(NamedTuple):
    """The events of one DPU in one launch."""

    operation: int
    dpu: int
    program: int
    events: tuple[Event, ...]
    dropped: int


class Operation(NamedTuple):
    """A call of the host: nanoseconds since the profile began, and on modelled hardware."""

    number: int
    begin: int
    end: int
    modelled: int
    bytes: int
    cycles: int
    instructions: int
    dpus: int
    what: int


class Site(NamedTuple):
    """Figures of a tasklet at an instruction, of all DPUs together; cycles but for the first."""

    instructions: int
    issue: int
    spin: int
    dma: int
    sleep: int
    pc: int
    thread: int


class Call(NamedTuple):
    """Calls by one instruction of what begins at another one, and what passed in them.

    A call of a function within itself adds to `times` alone. Numbers are as in `Site`, and of all
    tasklets together.
    """

    times: int
    instructions: int
    issue: int
    spin: int
    dma: int
    sleep: int
    site: int
    target: int


@dataclass
class RawProfile:
    """The contents of a profile.

    Attributes
    ----------
    pid : int
        The process.
    programs : dict of int to RecordedProgram
        By their numbers.
    launches, endings, events, operations : list
        In the order in which they ended.
    sites, calls : dict of int to list
        By the number of the program.
    dpus : dict of int to int
        How many DPUs the sites of a program are of.
    dropped : int
        Records that the limit of the file left out.
    is_complete : bool
        Whether the process came to its end.
    """

    pid: int = 0
    programs: dict[int, RecordedProgram] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    events: list[LaunchEvents] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    sites: dict[int, list[Site]] = field(default_factory=dict)
    calls: dict[int, list[Call]] = field(default_factory=dict)
    dpus: dict[int, int] = field(default_factory=dict)
    dropped: int = 0
    is_complete: bool = False

    @property
    def left_out(self) -> int:
        """Launches that ran on none of the profiled DPUs, and are in no figures."""
        # Records beyond the limit may have been of any launch.
        if self.dropped:
            return 0
        profiled = {one.operation for one in self.launches}
        return sum(
            one.what == _LAUNCHES and one.number != 0 and one.number not in profiled
            for one in self.operations
        )


class _Record:
    """The bytes of a record, which are read from the front."""

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def take(self, layout: struct.Struct) -> tuple[int, ...]:
        return layout.unpack(self.bytes(layout.size))

    def bytes(self, size: int) -> bytes:
        if size > len(self.data):
            raise ProfileError("the profile is damaged: a record is shorter than what it contains")
        taken, self.data = bytes(self.data[:size]), self.data[size:]
        return taken

    def rows(self, layout: struct.Struct, count: int) -> Iterable[tuple[int, ...]]:
        return layout.iter_unpack(self.bytes(layout.size * count))


def _read_program(profile: RawProfile, record: _Record) -> None:
    number, path_size, image_size, clock_hz, options_size, _ = record.take(_PROGRAM)
    path = record.bytes(path_size).decode(errors="replace")
    image = record.bytes(image_size)
    options = _read_options(record.bytes(options_size).decode(errors="replace"))
    if clock_hz == 0:
        raise ProfileError("the profile is damaged: a DPU without a clock")
    profile.programs[number] = RecordedProgram(number, path, image, clock_hz, options)


def _read_options(text: str) -> dict[str, int]:
    options = {}
    for option in text.split(","):
        key, _, value = option.partition("=")
        if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
            raise ProfileError(f"the profile is damaged: {option!r} is not an option of a DPU")
        options[key] = int(value)
    return options


def _read_launch(profile: RawProfile, record: _Record) -> None:
    head = record.take(_LAUNCH)
    count = min(max(_LEAST_THREADS, len(record.data) // _TASKLET.size), _THREADS)
    tasklets = tuple(Tasklet(*row) for row in record.rows(_TASKLET, count))
    profile.launches.append(Launch._make((*head, tasklets)))


def _read_ending(profile: RawProfile, record: _Record) -> None:
    operation, dpu, size = record.take(_ENDING)
    profile.endings.append(Ending(operation, dpu, record.bytes(size).decode(errors="replace")))


def _read_events(profile: RawProfile, record: _Record) -> None:
    operation, dpu, program, count, dropped = record.take(_EVENTS)
    events = tuple(Event(*row) for row in record.rows(_EVENT, count))
    for event in events:
        is_known = EventKind.READ <= event.kind <= EventKind.RUN
        if not is_known or event.thread >= _THREADS or event.pc >= _IRAM or event.end < event.begin:
            raise ProfileError("the profile is damaged: an event that cannot be")
    profile.events.append(LaunchEvents(operation, dpu, program, events, dropped))


def _read_operation(profile: RawProfile, record: _Record) -> None:
    operation = Operation(*record.take(_OPERATION))
    if operation.end < operation.begin:
        raise ProfileError("the profile is damaged: an operation ends before it begins")
    profile.operations.append(operation)


def _read_sites(profile: RawProfile, record: _Record) -> None:
    program, dpus, count = record.take(_SITES)
    sites = [Site(*row) for row in record.rows(_SITE, count)]
    if any(site.thread >= _THREADS or site.pc >= _IRAM for site in sites):
        raise ProfileError("the profile is damaged: an instruction that does not exist")
    profile.sites.setdefault(program, []).extend(sites)
    profile.dpus[program] = max(dpus, profile.dpus.get(program, 0))


def _read_calls(profile: RawProfile, record: _Record) -> None:
    program, _, count = record.take(_CALLS)
    calls = [Call(*row) for row in record.rows(_CALL, count)]
    if any(call.site >= _IRAM or call.target >= _IRAM for call in calls):
        raise ProfileError("the profile is damaged: a call by what does not exist")
    profile.calls.setdefault(program, []).extend(calls)


def _read_end(profile: RawProfile, record: _Record) -> None:
    profile.dropped = record.take(_END)[0]
    profile.is_complete = True


_READERS = {
    1: _read_program,
    2: _read_launch,
    3: _read_events,
    4: _read_operation,
    5: _read_sites,
    6: _read_end,
    7: _read_calls,
    8: _read_ending,
}


def read(data: bytes) -> RawProfile:
    """Read a profile.

    Parameters
    ----------
    data : bytes
        The file. A record at its end that is cut off is left out.

    Raises
    ------
    ProfileError
        It is not a profile, is of another version, or is damaged.
    """
    if len(data) < _HEADER.size or data[:8] != _MAGIC:
        raise ProfileError("this is not a profile of libdpu")
    _, version, pid = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ProfileError(f"the profile has version {version}; this program reads {_VERSION}")

    profile, rest = RawProfile(pid), memoryview(data)[_HEADER.size :]
    while len(rest) >= _RECORD.size:
        kind, size = _RECORD.unpack_from(rest)
        if size > len(rest) - _RECORD.size:
            break
        if kind in _READERS:
            _READERS[kind](profile, _Record(rest[_RECORD.size : _RECORD.size + size]))
        rest = rest[_RECORD.size + size :]

    known = {0, *profile.programs}
    used = {*profile.sites, *profile.calls, *(one.program for one in profile.launches)}
    used |= {one.program for one in profile.events}
    if not used <= known:
        raise ProfileError("the profile is damaged: it is of a program that it does not have")
    return profile


def is_profile(path: str) -> bool:
    """Tell whether a file can be read and begins as a profile does, whatever its name is."""
    # A device or a pipe is not opened: that might wait.
    if not Path(path).is_file():
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def merge(profiles: Iterable[RawProfile]) -> RawProfile:
    """Join profiles of several processes; programs with the same contents become one."""
    merged, numbers = RawProfile(is_complete=True), dict[bytes, int]()
    launches = 0
    for profile in profiles:
        new = {0: 0}
        for number, program in profile.programs.items():
            new[number] = numbers.setdefault(program.image, len(numbers) + 1)
            merged.programs.setdefault(new[number], program._replace(number=new[number]))
        for number, sites in profile.sites.items():
            merged.sites.setdefault(new[number], []).extend(sites)
            merged.dpus[new[number]] = merged.dpus.get(new[number], 0) + profile.dpus[number]
        for number, calls in profile.calls.items():
            merged.calls.setdefault(new[number], []).extend(calls)

        def moved(number: int, first: int = launches) -> int:
            return number + first if number else 0

        merged.launches += [
            one._replace(operation=moved(one.operation), program=new[one.program])
            for one in profile.launches
        ]
        merged.endings += [one._replace(operation=moved(one.operation)) for one in profile.endings]
        merged.events += [
            one._replace(operation=moved(one.operation), program=new[one.program])
            for one in profile.events
        ]
        merged.operations += [one._replace(number=moved(one.number)) for one in profile.operations]
        launches += max((one.number for one in profile.operations), default=0)
        merged.pid = merged.pid or profile.pid
        merged.dropped += profile.dropped
        merged.is_complete &= profile.is_complete
    return merged
