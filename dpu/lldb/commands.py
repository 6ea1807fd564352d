# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the debugger: the usual ones of lldb, with its names and short forms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..debugger.errors import DebuggerError
from ..debugger.program import DebugProgram
from ..dwarf.locations import Unavailable
from .data import DataCommands
from .looking import LookingCommands
from .points import PointCommands
from .running import RunningCommands
from .session import Answer

__all__ = ["Interpreter"]


class Interpreter(RunningCommands, PointCommands, LookingCommands, DataCommands):
    """Runs commands, which are text."""

    # A command, and the program for DPUs that it names.
    _file: tuple[list[str], DebugProgram | None] = ([], None)

    def run(self, line: str) -> bool:
        """Run a command; return whether it was fulfilled."""
        line = line.strip()
        if not line or line.startswith("#"):
            return True
        self.begin()
        try:
            answer = self._dispatch(line)
        except (DebuggerError, Unavailable, ValueError) as error:
            self._say(Answer(f"error: {error}", {"error": str(error)}), line)
            return False
        self._say(answer, line)
        return True

    def repeat(self) -> bool:
        """Run the last command again, if it is one that an empty line repeats."""
        return self.run(self.last)

    def _say(self, answer: Answer, line: str) -> None:
        if self.as_json:
            data = answer.data if answer.data is not None else {"text": answer.text}
            print(json.dumps({"command": line, **_as_object(data)}), file=self.output)
        elif answer.text:
            print(answer.text, file=self.output)
        self.output.flush()

    def _dispatch(self, line: str) -> Answer:
        for pattern, method in _COMMANDS:
            match = pattern.match(line)
            if match is not None:
                self.last = line if method in _REPEATED else ""
                return method(self, line[match.end() :].strip())
        word = line.split()[0]
        raise DebuggerError(f"there is no command {word!r}: see `help`")

    def names(self) -> list[str]:
        """Return what the first words of commands are completed to."""
        return sorted({name.replace("|", " ") for name, *_ in _NAMES})

    def words(self) -> list[str]:
        """Return names of the program, for completion."""
        program = self.process.program if self.process is not None else None
        if program is None:
            if self._file[0] != self.command:
                self._file = (self.command, _program_file(self.command))
            program = self._file[1]
        if program is None:
            return []
        found = program.function_names() + list(program.globals)
        try:
            frame = self.live.frame()
            found += [program.named(entry).name for entry in frame.variables()]
        except DebuggerError:
            pass
        return sorted(set(found))

    def help(self, rest: str) -> Answer:
        """Help [COMMAND]: all commands, or what one does."""
        lines = []
        for name, method in _NAMES:
            text = (method.__doc__ or "").strip()
            if name.replace("|", " ").startswith(rest):
                lines.append(f"{name.replace('|', ' '):22} {text}")
        return Answer("\n".join(lines) or f"there is no command {rest!r}")


def _program_file(command: list[str]) -> DebugProgram | None:
    """Return the program for DPUs that a command names, before it runs."""
    for word in reversed(command):
        try:
            return DebugProgram(Path(word).read_bytes(), word)
        except (OSError, ValueError, DebuggerError):
            continue
    return None


def _as_object(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {"value": data}


_I = Interpreter
# Names as the user types them; longer ones first where one begins with another.
_NAMES: list[tuple[str, Callable[[Interpreter, str], Answer]]] = [
    ("process launch", _I.launch),
    ("process attach", _I.attach),
    ("process continue", _I.resume),
    ("process kill", _I.kill),
    ("process detach", _I.detach),
    ("process status", _I.status),
    ("attach_dpu", _I.attach),
    ("dpu_attach_on_boot", _I.attach_at_boot),
    ("dpu_attach_first", _I.attach_at_boot),
    ("dpu_attach", _I.attach),
    ("dpu_detach", _I.detach),
    ("dpu_list", _I.status),
    ("run", _I.launch),
    ("r", _I.launch),
    ("file", _I.file),
    ("target create", _I.file),
    ("target variable", _I.global_variables),
    ("breakpoint set", _I.add_breakpoint),
    ("breakpoint list", _I.list_breakpoints),
    ("breakpoint delete", _I.delete_breakpoint),
    ("breakpoint enable", _I.enable_breakpoint),
    ("breakpoint disable", _I.disable_breakpoint),
    ("br s", _I.add_breakpoint),
    ("br l", _I.list_breakpoints),
    ("br del", _I.delete_breakpoint),
    ("br en", _I.enable_breakpoint),
    ("br dis", _I.disable_breakpoint),
    ("breakpoint modify", _I.modify_breakpoint),
    ("br mod", _I.modify_breakpoint),
    ("tbreak", _I.break_once_at),
    ("rbreak", _I.break_at_matches),
    ("b", _I.break_at),
    ("watchpoint set variable", _I.watch),
    ("watchpoint set expression", _I.watch),
    ("watchpoint list", _I.list_watchpoints),
    ("watchpoint delete", _I.delete_watchpoint),
    ("watch set var", _I.watch),
    ("thread step-inst-over", _I.next_instruction),
    ("thread step-inst", _I.step_instruction),
    ("thread step-in", _I.step),
    ("thread step-over", _I.next),
    ("thread step-out", _I.finish),
    ("thread continue", _I.resume),
    ("thread backtrace", _I.backtrace),
    ("thread list", _I.list_threads),
    ("thread select", _I.select_thread),
    ("continue", _I.resume),
    ("c", _I.resume),
    ("step", _I.step),
    ("s", _I.step),
    ("next", _I.next),
    ("n", _I.next),
    ("finish", _I.finish),
    ("stepi", _I.step_instruction),
    ("si", _I.step_instruction),
    ("nexti", _I.next_instruction),
    ("ni", _I.next_instruction),
    ("bt", _I.backtrace),
    ("frame select", _I.select_frame),
    ("frame variable", _I.variables),
    ("frame info", _I.status),
    ("fr v", _I.variables),
    ("var", _I.variables),
    ("v", _I.variables),
    ("up", _I.up),
    ("down", _I.down),
    ("f", _I.select_frame),
    ("expression", _I.print),
    ("expr", _I.print),
    ("print", _I.print),
    ("po", _I.print),
    ("p", _I.print),
    ("register read", _I.registers),
    ("register write", _I.write_register),
    ("memory read", _I.memory),
    ("memory write", _I.write_memory),
    ("x", _I.examine),
    ("disassemble", _I.disassemble),
    ("di", _I.disassemble),
    ("image list", _I.program_file),
    ("target modules list", _I.program_file),
    ("image lookup", _I.lookup),
    ("target modules lookup", _I.lookup),
    ("source list", _I.source),
    ("list", _I.source),
    ("l", _I.source),
    ("kill", _I.kill),
    ("detach", _I.detach),
    ("help", _I.help),
    ("quit", _I.quit),
    ("exit", _I.quit),
    ("q", _I.quit),
]
_REPEATED = (_I.step, _I.next, _I.resume, _I.step_instruction, _I.next_instruction, _I.source)
_COMMANDS = [
    (re.compile(r"\s+".join(map(re.escape, name.split())) + r"(?=$|[\s/])"), method)
    for name, method in _NAMES
]
