# SPDX-License-Identifier: BSD-3-Clause
"""State that all commands of the debugger share: the host program, and where answers go."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

from ..debugger.breakpoints import Breakpoint, Breakpoints
from ..debugger.ending import Ending
from ..debugger.errors import DebuggerError
from ..debugger.process import Process, Reason, Stop
from . import printing
from .options import Options

__all__ = ["Answer", "Session", "breakpoint_settings"]


@dataclass
class Answer:
    """Answer of a command: text, and the same as JSON has it."""

    text: str = ""
    data: Any = None


def breakpoint_settings(options: Options) -> dict[str, Any]:
    """Return what options say of a breakpoint, by the names of its fields."""
    settings: dict[str, Any] = {}
    if options.get("-c") is not None:
        settings["condition"] = options["-c"]
    if options.get("-t"):
        settings["thread"] = int(options["-t"])
    if options.get("-i"):
        settings["ignore"] = int(options["-i"])
    if options.has("-o", "--one-shot"):
        settings["once"] = True
    return settings


class Session:
    """The state that commands work on.

    Parameters
    ----------
    command : sequence of str
        The host program that is started by ``run``.
    output : text stream
        Where answers go.
    dpu : str, optional
        Which DPU is debugged.
    as_json : bool
        Whether answers are JSON: an object per command.
    poll : callable, optional
        Whether the user interrupts.
    limit : float, optional
        The seconds that a command may let the DPU run.
    ending : Ending, optional
        The signals that end the debugger.
    """

    def __init__(
        self,
        command: Sequence[str],
        output: TextIO,
        *,
        dpu: str | None = None,
        as_json: bool = False,
        poll: Callable[[], bool] = lambda: False,
        limit: float | None = None,
        ending: Ending | None = None,
    ) -> None:
        self.command = list(command)
        self.output = output
        self.dpu = dpu
        self.as_json = as_json
        self.limit = limit
        self.ending = ending if ending is not None else Ending()
        self._is_interrupted = poll
        self._began = time.monotonic()
        # The last command's run was cut short.
        self.was_interrupted = False
        self.process: Process | None = None
        self.is_done = False
        # Those of all runs.
        self.breakpoints = Breakpoints()
        self.last = ""
        self.listed: tuple[str, int] | None = None

    @property
    def live(self) -> Process:
        """The process; DebuggerError if there is none."""
        if self.process is None:
            raise DebuggerError("nothing runs: say `run`")
        return self.process

    def begin(self) -> None:
        """Note that a command begins, whose time is limited."""
        self._began, self.was_interrupted = time.monotonic(), False

    def _is_late(self) -> bool:
        return self.limit is not None and time.monotonic() >= self._began + self.limit

    def poll(self) -> bool:
        """Tell whether the DPU is to stop."""
        return self._is_interrupted() or self._is_late()

    def close(self) -> None:
        """End the program; its breakpoints are set again in the next one."""
        if self.process is not None:
            self.process.close()
        self.process = None
        for point in self.breakpoints.values():
            point.forget()

    def stopped(self, stop: Stop) -> Answer:
        """Tell of a stop."""
        process = self.live
        self.listed = None
        if stop.reason is Reason.INTERRUPTED:
            self.was_interrupted = True
            if self._is_late():
                stop = replace(stop, detail=f"after {self.limit:g} s (--timeout)")
        text = printing.describe_stop(process, stop)
        data: dict[str, Any] = {"stop": stop.reason.value, "detail": stop.detail}
        if stop.reason is Reason.EXITED:
            self.close()
        elif process.attached is not None:
            frame = printing.frame_json(process.frame())
            data |= {"tasklet": process.thread, "number": stop.number, "frame": frame}
        return Answer(text, data)

    @property
    def has_program(self) -> bool:
        """True if there is a program in which breakpoints have addresses."""
        return self.process is not None and self.process.program is not None

    def describe_breakpoint(self, point: Breakpoint) -> Answer:
        """Tell where a breakpoint is in the program that runs."""
        lines = [str(self.live.code.line_at(a) or hex(a)) for a in point.addresses]
        text = f"Breakpoint {point.number}: {point.place}, {len(lines)} location(s): "
        text += ", ".join(lines)
        return Answer(text, {"breakpoint": point.number, "locations": lines})

    def keep_breakpoint(self, place: str, options: Options, condition: str = "") -> Answer:
        """Set a breakpoint, or keep it until the program runs."""
        settings = {"condition": condition, **breakpoint_settings(options)}
        if not self.has_program:
            point = self.breakpoints.add(place, **settings)
            text = f"Breakpoint {point.number}: {place}, set when the program runs"
            return Answer(text, {"breakpoint": point.number, "pending": place})
        return self.describe_breakpoint(self.live.add_breakpoint(place, **settings))
