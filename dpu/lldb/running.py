# SPDX-License-Identifier: BSD-3-Clause
"""Commands about the host program and its DPU: starting, continuing, stepping."""

from __future__ import annotations

import re
import shlex

from ..debugger.errors import DebuggerError
from ..debugger.host import Host
from ..debugger.process import Process, Reason
from . import printing
from .options import parse
from .programs import command_for
from .session import Answer, Session

__all__ = ["RunningCommands"]


def _moved(place: str, locations: list[str]) -> bool:
    """Tell whether a breakpoint is at another line than the one it was asked for."""
    line = re.fullmatch(r".+:(\d+)", place)
    return line is not None and any(not one.endswith(f":{line[1]}") for one in locations)


class RunningCommands(Session):
    """Commands about the host program and its DPU: starting, continuing, stepping."""

    def launch(self, rest: str) -> Answer:
        """Run [ARGUMENTS]: start the host program, up to its first breakpoint."""
        if not self.command:
            raise DebuggerError("there is no program: start dpu-lldb with one, or use `file`")
        self.close()
        options = parse(rest, flags=("-s", "--stop-at-entry"))
        command = self.command + options.words
        with self.ending.held():
            self.process = Process(Host(command, dpu=self.dpu), self.poll, self.breakpoints)
        stop = self.process.start()
        if stop.reason is not Reason.LAUNCH:
            return self.stopped(stop)
        remarks = self._remarks() if self.has_program else []
        if not options.has("-s", "--stop-at-entry"):
            stop = self.process.resume()
        answer = self.stopped(stop)
        data = {**answer.data, "remarks": remarks} if remarks else answer.data
        return Answer("\n".join([*remarks, answer.text]), data)

    def _remarks(self) -> list[str]:
        """Return what the user does not expect of breakpoints that were set before the program."""
        remarks = []
        for point in self.breakpoints.values():
            answer = self.describe_breakpoint(point)
            if point.problem:
                where = f"breakpoint {point.number} ({point.place})"
                remarks.append(f"warning: {where} is not in this program: {point.problem}")
            elif _moved(point.place, answer.data["locations"]):
                remarks.append(answer.text)
        return remarks

    def file(self, rest: str) -> Answer:
        """File PROGRAM [ARGUMENTS]: choose a host program, or a program for DPUs."""
        words = shlex.split(rest)
        if not words:
            raise DebuggerError("file needs a program")
        self.close()
        self.command = command_for(words)
        return Answer(f"current program: {' '.join(words)}")

    def attach(self, rest: str) -> Answer:
        """attach_dpu R.S.M [PROGRAM]: debug this DPU of the host program."""
        words = shlex.split(rest)
        if not words or not re.fullmatch(r"\d+\.\d+\.\d+", words[0]):
            raise DebuggerError("attach_dpu needs a DPU as rank.slice.member, such as 0.0.0")
        self.dpu = words[0]
        if self.process is None:
            return self.launch("-s")
        self.process.host.dpu = self.dpu
        self.process.detach()
        return self.stopped(self.process.start())

    def attach_at_boot(self, rest: str) -> Answer:
        """dpu_attach_on_boot [R.S.M]: debug this DPU, or the next one that is launched."""
        if rest:
            return self.attach(rest)
        self.dpu = None
        if self.process is None:
            return self.launch("-s")
        self.process.host.dpu = None
        self.process.detach()
        return self.stopped(self.process.start())

    def resume(self, _rest: str) -> Answer:
        """continue: go on until something stops the DPU."""
        return self.stopped(self.live.resume())

    def step(self, _rest: str) -> Answer:
        """step: to the next line, also in functions that are called."""
        return self.stopped(self.live.step(into=True))

    def next(self, _rest: str) -> Answer:
        """next: to the next line of the function."""
        return self.stopped(self.live.step(into=False))

    def finish(self, _rest: str) -> Answer:
        """finish: until the function has returned."""
        return self.stopped(self.live.finish())

    def step_instruction(self, _rest: str) -> Answer:
        """stepi: one instruction of the selected tasklet."""
        return self.stopped(self.live.step_instruction())

    def next_instruction(self, _rest: str) -> Answer:
        """nexti: one instruction, with what it calls."""
        return self.stopped(self.live.step_instruction(over=True))

    def kill(self, _rest: str) -> Answer:
        """kill: end the host program."""
        self.close()
        return Answer("the host program was ended")

    def detach(self, _rest: str) -> Answer:
        """detach: let the launch run without the debugger."""
        self.live.detach()
        return Answer("detached")

    def quit(self, _rest: str) -> Answer:
        """quit: end the debugger and the host program."""
        self.close()
        self.is_done = True
        return Answer()

    def status(self, _rest: str) -> Answer:
        """Process status: where the DPU stands."""
        frame = self.live.frame()
        hello = self.live.machine.hello
        text = f"DPU {hello.name} of process {hello.process}, program {hello.path}\n"
        text += f"  {printing.describe_frame(frame)}"
        return Answer(text, {"dpu": hello.name, "frame": printing.frame_json(frame)})
