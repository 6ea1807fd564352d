# SPDX-License-Identifier: BSD-3-Clause
"""Controls a DPU of a host program: starting, continuing, stepping, and what stops it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..dwarf.locations import Unavailable
from .breakpoints import Breakpoint, Watchpoint, resolve
from .errors import DebuggerError
from .expressions import evaluate
from .frames import Frame, unwind
from .host import Host
from .machine import IRAM_BASE, Outcome, Ran, Watch, WatchKind
from .program import DebugProgram
from .session import Attached

__all__ = ["Process", "Reason", "Stop"]

_INSTRUCTION = 8


class Reason(StrEnum):
    """Why a DPU stands still."""

    LAUNCH = "launch"
    BREAKPOINT = "breakpoint"
    WATCHPOINT = "watchpoint"
    STEP = "step"
    FAULT = "fault"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    EXITED = "exited"


@dataclass(frozen=True)
class Stop:
    """A stop: the tasklet, and the number of the breakpoint or watchpoint or the exit status."""

    reason: Reason
    thread: int = 0
    number: int = 0
    detail: str = ""


class Process:
    """A host program, one of whose DPUs is debugged.

    Parameters
    ----------
    host : Host
        The program, which this object closes.
    poll : callable, optional
        Called now and then while the DPU runs: whether it is to stop.
    """

    def __init__(self, host: Host, poll: Callable[[], bool] = lambda: False) -> None:
        self.host = host
        self.poll = poll
        self.attached: Attached | None = None
        self.program: DebugProgram | None = None
        self.breakpoints: dict[int, Breakpoint] = {}
        self.watchpoints: dict[int, Watchpoint] = {}
        self.thread = 0
        self.frame_level = 0
        self._image = b""
        self._numbers = [0, 0]
        self._counts: tuple[int, ...] = (0,) * 24
        # How many instructions a tasklet had executed when its breakpoint was reported.
        self._reported: dict[int, int] = {}
        self._is_over = False

    # What is debugged.

    @property
    def machine(self) -> Attached:
        """The DPU; DebuggerError if none waits."""
        if self.attached is None:
            raise DebuggerError("no DPU waits: the program has not launched one, or has ended")
        return self.attached

    @property
    def code(self) -> DebugProgram:
        """The program of the DPU."""
        if self.program is None:
            raise DebuggerError("no DPU has a program yet")
        return self.program

    def frames(self, thread: int | None = None) -> list[Frame]:
        """Return the frames of a tasklet; by default of the selected one."""
        return unwind(self.machine, self.code, self.thread if thread is None else thread)

    def frame(self) -> Frame:
        """Return the selected frame."""
        frames = self.frames()
        return frames[min(self.frame_level, len(frames) - 1)]

    def select(self, thread: int) -> None:
        """Select a tasklet, and its innermost frame."""
        if not 0 <= thread < self.machine.nr_threads:
            raise DebuggerError(f"there is no tasklet {thread}")
        self.thread, self.frame_level = thread, 0

    # Launches.

    def start(self) -> Stop:
        """Wait for the first launch."""
        stop = self._next_launch()
        return stop if stop is not None else Stop(Reason.LAUNCH)

    def _next_launch(self) -> Stop | None:
        """Wait for a launch; return a stop if there is none."""
        attached = self.host.wait(self.poll)
        if attached is None:
            if self.host.status is None:
                return Stop(Reason.INTERRUPTED)
            return Stop(Reason.EXITED, detail=str(self.host.status))
        image = attached.image()
        if image != self._image:
            self._image = image
            self.program = DebugProgram(image, attached.hello.path)
            self._resolve_all()
        self.attached, self._is_over = attached, False
        # Nobody has run: the counts are those of before.
        self._counts, self._reported = attached.run(0).counts, {}
        self.thread = self.frame_level = 0
        self._send_watches()
        return None

    def _end_launch(self) -> Stop | None:
        if self.attached is not None:
            self.attached.detach()
        self.attached = None
        return self._next_launch()

    def close(self) -> None:
        """End the program."""
        self.detach()
        self.host.close()

    def detach(self) -> None:
        """Let the launch run without the debugger."""
        if self.attached is not None:
            self.attached.detach()
        self.attached = None

    # Breakpoints.

    def add_breakpoint(self, place: str, **options: object) -> Breakpoint:
        """Set a breakpoint; one whose place does not exist yet is kept for later programs.

        Raises
        ------
        DebuggerError
            If there is a program, and the place does not exist in it.
        """
        point = Breakpoint(self._numbers[0] + 1, place, **options)  # type: ignore[arg-type]
        if self.program is not None:
            point.addresses = resolve(self.program, place, self._current_file())
        self._numbers[0] += 1
        self.breakpoints[point.number] = point
        return point

    def _current_file(self) -> str | None:
        try:
            line = self.frame().line
        except DebuggerError:
            return None
        if line is None or self.program is None:
            return None
        return line.file

    def _resolve_all(self) -> None:
        for point in self.breakpoints.values():
            try:
                point.addresses = resolve(self.code, point.place)
            except DebuggerError:
                point.addresses = []

    def add_watchpoint(self, text: str, kind: WatchKind = WatchKind.WRITE) -> Watchpoint:
        """Watch the memory of an expression."""
        value = evaluate(text, self.frame())
        if value.address is None or not value.type.size:
            raise DebuggerError(f"{text} is not in memory, so it cannot be watched")
        return self.watch_memory(text, Watch(value.address, value.type.size, kind))

    def watch_memory(self, text: str, watch: Watch) -> Watchpoint:
        """Watch a part of a memory."""
        old = self.machine.read(watch.address, watch.size)
        point = Watchpoint(self._numbers[1] + 1, text, watch, old)
        self.watchpoints[point.number] = point
        try:
            self._send_watches()
        except DebuggerError:
            del self.watchpoints[point.number]
            raise
        self._numbers[1] += 1
        return point

    def remove(self, number: int, *, watch: bool = False) -> None:
        """Remove a breakpoint or a watchpoint."""
        points: dict[int, object] = self.watchpoints if watch else self.breakpoints  # type: ignore[assignment]
        if number not in points:
            raise DebuggerError(f"there is no {'watch' if watch else 'break'}point {number}")
        del points[number]
        if watch:
            self._send_watches()

    def _send_watches(self) -> None:
        if self.attached is not None and not self._is_over:
            points = self.watchpoints.values()
            self.attached.set_watches([p.watch for p in points if p.enabled])

    def _places(self) -> set[int]:
        return {
            (address - IRAM_BASE) // _INSTRUCTION
            for point in self.breakpoints.values()
            if point.enabled
            for address in point.addresses
        }

    # Running.

    def _run(self, temporary: set[int], within: tuple[int, int, int] = (0, 0, 0)) -> Ran | Stop:
        """Run until something happens: the result of the machine, or a stop."""
        machine = self.machine
        machine.set_breakpoints(self._places() | temporary)
        while True:
            ran = machine.run(within=within)
            self._counts = ran.counts
            stop = self._what_happened(ran)
            if stop is not None or ran.outcome is not Outcome.STEPPED:
                return stop if stop is not None else ran
            if within[2] and not self._is_within(within):
                return ran
            self.host.let_others_run()
            if self.poll():
                return Stop(Reason.INTERRUPTED, self.thread)

    def _is_within(self, within: tuple[int, int, int]) -> bool:
        state = self.machine.thread(within[0])
        return not state.running or within[1] <= state.pc < within[2]

    def _what_happened(self, ran: Ran) -> Stop | None:
        """Return the stop that the user is told of, None for one of the debugger's own."""
        match ran.outcome:
            case Outcome.FAULT:
                self._is_over = True
                return Stop(Reason.FAULT, ran.thread, detail=self.machine.fault())
            case Outcome.LIMIT:
                self._is_over = True
                return Stop(Reason.LIMIT, self.thread)
            case Outcome.DONE:
                self._is_over = True
                return None
            case Outcome.WATCHPOINT:
                return self._watched(ran)
            case Outcome.BREAKPOINT:
                return self._arrived()
        return None

    def _watched(self, ran: Ran) -> Stop | None:
        points = [point for point in self.watchpoints.values() if point.enabled]
        if ran.watch >= len(points):
            return None
        point = points[ran.watch]
        point.hits += 1
        place = self.code.line_at(IRAM_BASE + _INSTRUCTION * ran.pc)
        where = f" by {place}" if place is not None else ""
        detail = f"{'read' if point.watch.kind is WatchKind.READ else 'written'}{where}"
        return Stop(Reason.WATCHPOINT, ran.thread, point.number, detail)

    def _arrived(self) -> Stop | None:
        """Return the next tasklet that has come to a breakpoint and was not reported."""
        for thread, state in enumerate(self.machine.threads()):
            if not state.running or self._reported.get(thread) == self._counts[thread]:
                continue
            address = IRAM_BASE + _INSTRUCTION * state.pc
            for point in list(self.breakpoints.values()):
                if point.enabled and address in point.addresses and self._stops(point, thread):
                    self._reported[thread] = self._counts[thread]
                    return Stop(Reason.BREAKPOINT, thread, point.number)
        return None

    def _stops(self, point: Breakpoint, thread: int) -> bool:
        """Tell whether a breakpoint stops a tasklet that has come to it."""
        if point.thread is not None and point.thread != thread:
            return False
        if point.condition:
            try:
                if not evaluate(point.condition, self.frames(thread)[0]).number():
                    self._reported[thread] = self._counts[thread]
                    return False
            except (DebuggerError, Unavailable):
                # A condition that cannot be evaluated stops, so that the user sees why.
                pass
        point.hits += 1
        if point.ignore:
            point.ignore -= 1
            self._reported[thread] = self._counts[thread]
            return False
        if point.once:
            del self.breakpoints[point.number]
        return True

    def _told(self, stop: Stop) -> Stop:
        """Select the tasklet of a stop."""
        if stop.reason not in (Reason.EXITED, Reason.INTERRUPTED):
            self.thread = stop.thread
        self.frame_level = 0
        return stop

    def resume(self) -> Stop:
        """Continue until something stops the DPU, or the host program ends."""
        if self.attached is None:
            waited = self._next_launch()
            if waited is not None:
                return self._told(waited)
        elif not self._is_over:
            arrived = self._arrived()
            if arrived is not None:
                return self._told(arrived)
        while True:
            if not self._is_over:
                ended = self._run(set())
                if isinstance(ended, Stop):
                    return self._told(ended)
                if ended.outcome is not Outcome.DONE:
                    continue
            waited = self._end_launch()
            if waited is not None:
                return self._told(waited)

    def _check_runs(self) -> None:
        if self._is_over:
            raise DebuggerError("the launch is over: only continue is possible")
        if not self.machine.thread(self.thread).running:
            why = "it has not started, sleeps, or has ended: see `thread list`"
            raise DebuggerError(f"tasklet {self.thread} does not run: {why}")

    def step_instruction(self, *, over: bool = False) -> Stop:
        """Execute an instruction of the selected tasklet; `over`: with what it calls."""
        self._check_runs()
        before = self.frames()
        ran = self.machine.step(self.thread)
        self._counts = ran.counts
        stop = self._what_happened(ran)
        if stop is None and ran.outcome is Outcome.DONE:
            return self._launch_is_over()
        self.frame_level = 0
        if stop is None and over and self._is_call(before[0], before[0].pc, before[0].pc + 8):
            return self._to(self._frames_now()[1].pc, _base(before[0]))
        if stop is not None:
            return self._told(stop)
        # The tasklet may have been put before a breakpoint.
        self._reported[self.thread] = self._counts[self.thread]
        return Stop(Reason.STEP, self.thread)

    def step_round(self) -> Stop:
        """Execute an instruction of the selected tasklet; the others run meanwhile."""
        self._check_runs()
        before = self._counts[self.thread]
        thread, count = self.thread, -1
        while count <= before:
            ran = self.machine.run(1)
            self._counts = ran.counts
            stop = self._what_happened(ran)
            is_own = stop is not None and stop.reason is Reason.BREAKPOINT and stop.thread == thread
            if stop is not None and not is_own:
                return self._told(stop)
            if ran.outcome is Outcome.DONE:
                return self._launch_is_over()
            count = ran.counts[thread]
            if self.poll():
                return Stop(Reason.INTERRUPTED, thread)
        return Stop(Reason.STEP, thread)

    def _launch_is_over(self) -> Stop:
        stop = self._end_launch()
        return self._told(stop if stop is not None else Stop(Reason.LAUNCH))

    def _frames_now(self) -> list[Frame]:
        return self.frames(self.thread)

    def _is_call(self, start: Frame, first: int, end: int) -> bool:
        """Tell whether the selected tasklet is in a function that code of a frame has called."""
        frames = self._frames_now()
        if len(frames) < 2 or not first <= frames[1].pc - _INSTRUCTION < end:
            return False
        return _base(frames[1]) == _base(start)

    def _to(self, address: int, base: int | None) -> Stop:
        """Run until the selected tasklet is at an address, in the frame with a base or outside."""
        thread = self.thread
        place = (address - IRAM_BASE) // _INSTRUCTION
        while True:
            ran = self._run({place})
            if isinstance(ran, Stop):
                return self._told(ran)
            if ran.outcome is Outcome.DONE:
                return self._launch_is_over()
            state = self.machine.thread(thread)
            if state.running and state.pc == place:
                now = _base(self._frames_now()[0])
                if base is None or now is None or now >= base:
                    self._reported[thread] = self._counts[thread]
                    self.frame_level = 0
                    return Stop(Reason.STEP, thread)

    def finish(self) -> Stop:
        """Run until the selected frame has returned to its caller."""
        self._check_runs()
        frames = self._frames_now()
        if self.frame_level + 1 >= len(frames):
            raise DebuggerError("the function has no caller")
        caller = frames[self.frame_level + 1]
        return self._to(caller.pc, _base(caller))

    def step(self, *, into: bool) -> Stop:
        """Run until the selected tasklet is at another line; the other tasklets run too.

        Parameters
        ----------
        into : bool
            Whether to stop in functions that are called and have lines.
        """
        self._check_runs()
        start = self._frames_now()[0]
        line = start.line
        first, end = self.code.line_range(start.pc)
        while True:
            places = ((first - IRAM_BASE) // _INSTRUCTION, (end - IRAM_BASE) // _INSTRUCTION)
            ran = self._run(set(), (self.thread, *places))
            if isinstance(ran, Stop):
                return self._told(ran)
            if ran.outcome is Outcome.DONE:
                return self._launch_is_over()
            frames = self._frames_now()
            now = frames[0]
            if self._is_call(start, first, end):
                stop = self._enter_or_pass(frames, into=into)
                if stop is not None:
                    return stop
                now = self._frames_now()[0]
            row = self.code.row_at(now.pc)
            if first <= now.pc < end:
                continue
            is_new = now.line != line or _base(now) != _base(start)
            begins = row is not None and row.address == now.pc
            if row is not None and is_new and (begins or _base(now) != _base(start)):
                self._reported.setdefault(self.thread, -1)
                self.frame_level = 0
                return Stop(Reason.STEP, self.thread)
            first, end = self.code.line_range(now.pc)

    def _enter_or_pass(self, frames: list[Frame], *, into: bool) -> Stop | None:
        """Step into a function that was called, or run until it has returned: None then."""
        function = frames[0].function
        if into and function is not None and self.code.row_at(function.first) is not None:
            target = self.code.after_prologue(function)
            if frames[0].pc == target:
                self.frame_level = 0
                return Stop(Reason.STEP, self.thread)
            return self._to(target, None)
        stop = self._to(frames[1].pc, _base(frames[1]))
        return None if stop.reason is Reason.STEP else stop


def _base(frame: Frame) -> int | None:
    """Return the canonical frame address, None if it is not known."""
    try:
        return frame.frame_address()
    except Unavailable:
        return None
