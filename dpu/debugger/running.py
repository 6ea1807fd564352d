# SPDX-License-Identifier: BSD-3-Clause
"""Launches of a host program's DPU, its breakpoints and watchpoints, and what stops it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..dwarf.locations import Unavailable
from .breakpoints import Breakpoint, Breakpoints, Watchpoint, resolve
from .deadlocks import DeadlockWatch
from .errors import DebuggerError
from .expressions import evaluate
from .frames import Frame, unwind
from .host import Host
from .machine import INSTRUCTION, IRAM_BASE, Outcome, Ran, Watch, WatchKind
from .program import DebugProgram
from .session import Attached

__all__ = ["Reason", "Running", "Stop"]


class Reason(StrEnum):
    """Why a DPU stands still."""

    LAUNCH = "launch"
    BREAKPOINT = "breakpoint"
    WATCHPOINT = "watchpoint"
    STEP = "step"
    FAULT = "fault"
    LIMIT = "limit"
    DEADLOCK = "deadlock"
    INTERRUPTED = "interrupted"
    EXITED = "exited"


@dataclass(frozen=True)
class Stop:
    """A stop: the tasklet, and the number of the breakpoint or watchpoint or the exit status."""

    reason: Reason
    thread: int = 0
    number: int = 0
    detail: str = ""


class Running:
    """A host program, one of whose DPUs is debugged: all but its steps.

    Parameters
    ----------
    host : Host
        The program, which this object closes.
    poll : callable, optional
        Called now and then while the DPU runs: whether it is to stop.
    breakpoints : Breakpoints, optional
        Those to begin with; what is set later is added to them.
    """

    def __init__(
        self,
        host: Host,
        poll: Callable[[], bool] = lambda: False,
        breakpoints: Breakpoints | None = None,
    ) -> None:
        self.host = host
        self.poll = poll
        self.attached: Attached | None = None
        self.program: DebugProgram | None = None
        self.breakpoints = breakpoints if breakpoints is not None else Breakpoints()
        self.watchpoints: dict[int, Watchpoint] = {}
        self.thread = 0
        self.frame_level = 0
        self._image = b""
        self._last_watchpoint = 0
        self._counts: tuple[int, ...] = (0,) * 64
        # How many instructions a tasklet had executed when its breakpoint was reported.
        self._reported: dict[int, int] = {}
        self._is_over = False

    # Program and DPU that are debugged.

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
        addresses = []
        if self.program is not None:
            addresses = resolve(self.program, place, self._current_file())
        return self.breakpoints.add(place, addresses=addresses, **options)

    def _current_file(self) -> str | None:
        try:
            line = self.frame().line
        except DebuggerError:
            return None
        if line is None or self.program is None:
            return None
        return line.file

    def _resolve_all(self) -> None:
        # A line alone is one of the file that has main.
        mains = self.code.functions_named("main")
        line = self.code.line_at(mains[0].first) if mains else None
        for point in self.breakpoints.values():
            point.place_in(self.code, line.file if line is not None else None)

    def add_watchpoint(self, text: str, kind: WatchKind = WatchKind.WRITE) -> Watchpoint:
        """Watch the memory of an expression."""
        value = evaluate(text, self.frame())
        if value.address is None or not value.type.size:
            raise DebuggerError(f"{text} is not in memory, so it cannot be watched")
        return self.watch_memory(text, Watch(value.address, value.type.size, kind))

    def watch_memory(self, text: str, watch: Watch) -> Watchpoint:
        """Watch a part of a memory."""
        old = self.machine.read(watch.address, watch.size)
        point = Watchpoint(self._last_watchpoint + 1, text, watch, old)
        self.watchpoints[point.number] = point
        try:
            self._send_watches()
        except DebuggerError:
            del self.watchpoints[point.number]
            raise
        self._last_watchpoint += 1
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
            (address - IRAM_BASE) // INSTRUCTION
            for point in self.breakpoints.values()
            if point.enabled
            for address in point.addresses
        }

    # Running.

    def _run(self, temporary: set[int], within: tuple[int, int, int] = (0, 0, 0)) -> Ran | Stop:
        """Run until something happens: the result of the machine, or a stop."""
        machine = self.machine
        machine.set_breakpoints(self._places() | temporary)
        deadlocks = DeadlockWatch(machine, self.code)
        while True:
            ran = machine.run(deadlocks.rounds, within)
            self._counts = ran.counts
            stop = self._what_happened(ran)
            if stop is not None or ran.outcome is not Outcome.STEPPED:
                return stop if stop is not None else ran
            if within[2] and not self._is_within(within):
                return ran
            deadlock = deadlocks.look(ran)
            if deadlock:
                return Stop(Reason.DEADLOCK, self.thread, detail=deadlock)
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
        place = self.code.line_at(IRAM_BASE + INSTRUCTION * ran.pc)
        where = f" by {place}" if place is not None else ""
        detail = f"{'read' if point.watch.kind is WatchKind.READ else 'written'}{where}"
        return Stop(Reason.WATCHPOINT, ran.thread, point.number, detail)

    def _arrived(self) -> Stop | None:
        """Return the next tasklet that has come to a breakpoint and was not reported."""
        for thread, state in enumerate(self.machine.threads()):
            if not state.running or self._reported.get(thread) == self._counts[thread]:
                continue
            address = IRAM_BASE + INSTRUCTION * state.pc
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
