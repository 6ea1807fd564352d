# SPDX-License-Identifier: BSD-3-Clause
"""Controls a DPU of a host program: continuing, and steps of instructions, lines and functions."""

from __future__ import annotations

from ..dwarf.locations import Unavailable
from .errors import DebuggerError
from .frames import Frame
from .machine import INSTRUCTION, IRAM_BASE, Outcome
from .running import Reason, Running, Stop

__all__ = ["Process", "Reason", "Stop"]


class Process(Running):
    """A host program, one of whose DPUs is debugged."""

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
        if len(frames) < 2 or not first <= frames[1].pc - INSTRUCTION < end:
            return False
        return _base(frames[1]) == _base(start)

    def _to(self, address: int, base: int | None) -> Stop:
        """Run until the selected tasklet is at an address, in the frame with a base or outside."""
        thread = self.thread
        place = (address - IRAM_BASE) // INSTRUCTION
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
            places = ((first - IRAM_BASE) // INSTRUCTION, (end - IRAM_BASE) // INSTRUCTION)
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
