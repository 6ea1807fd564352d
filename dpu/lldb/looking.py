# SPDX-License-Identifier: BSD-3-Clause
"""Commands about tasklets, frames, and code."""

from __future__ import annotations

from ..debugger.errors import DebuggerError
from ..debugger.expressions import evaluate
from ..debugger.machine import INSTRUCTION, IRAM_BASE
from . import printing
from .options import parse
from .session import Answer, Session

__all__ = ["LookingCommands"]


class LookingCommands(Session):
    """Commands about tasklets, frames, and code."""

    def backtrace(self, rest: str) -> Answer:
        """Bt [all]: the calls that a tasklet is in."""
        process = self.live
        threads = [process.thread]
        if rest.strip() == "all":
            threads = [n for n, state in enumerate(process.machine.threads()) if state.running]
        lines, data = [], []
        for thread in threads:
            frames = process.frames(thread)
            lines.append(f"{'*' if thread == process.thread else ' '} tasklet {thread}")
            for frame in frames:
                is_chosen = thread == process.thread and frame.level == process.frame_level
                lines.append(f"  {'*' if is_chosen else ' '} {printing.describe_frame(frame)}")
                before = frame.jumped_from()
                if before is not None:
                    lines.append(f"    {before.name} [tail call], which ended with a jump to it")
            data.append({"tasklet": thread, "frames": [printing.frame_json(f) for f in frames]})
        return Answer("\n".join(lines), {"backtrace": data})

    def _frame_changed(self) -> Answer:
        frame = self.live.frame()
        lines = [printing.describe_frame(frame)]
        if frame.line is not None:
            lines += printing.source_lines(
                self.live.code, frame.line.file, frame.line.line, around=2
            )
        self.listed = None
        return Answer("\n".join(lines), {"frame": printing.frame_json(frame)})

    def select_frame(self, rest: str) -> Answer:
        """Frame select NUMBER: choose a frame, whose variables are shown."""
        number = int(rest) if rest else self.live.frame_level
        if not 0 <= number < len(self.live.frames()):
            raise DebuggerError(f"there is no frame {number}")
        self.live.frame_level = number
        return self._frame_changed()

    def up(self, _rest: str) -> Answer:
        """up: the frame of the caller."""
        return self.select_frame(str(self.live.frame_level + 1))

    def down(self, _rest: str) -> Answer:
        """down: the frame that was called."""
        return self.select_frame(str(self.live.frame_level - 1))

    def list_threads(self, _rest: str) -> Answer:
        """Thread list: all tasklets, and where they are."""
        process, lines, data = self.live, [], []
        for number, state in enumerate(process.machine.threads()):
            if not state.running and not any(state.registers) and not state.pc:
                continue
            frame = process.frames(number)[0]
            mark = "*" if number == process.thread else " "
            sleeps = "" if state.running else " (does not run)"
            lines.append(f"{mark} tasklet {number}{sleeps}: {printing.describe_frame(frame)}")
            entry = {"tasklet": number, "running": state.running}
            data.append({**entry, "frame": printing.frame_json(frame)})
        return Answer("\n".join(lines), {"tasklets": data})

    def select_thread(self, rest: str) -> Answer:
        """Thread select NUMBER: choose a tasklet."""
        self.live.select(int(rest))
        return self._frame_changed()

    def disassemble(self, rest: str) -> Answer:
        """Disassemble [-n FUNCTION] [-s ADDRESS] [-c COUNT]: instructions."""
        options = parse(rest, valued=("-n", "-s", "-c"), flags=("-p", "--pc", "-f", "--frame"))
        process = self.live
        count = int(options.get("-c") or 0)
        if options.get("-n"):
            functions = process.code.functions_named(options["-n"])
            if not functions:
                raise DebuggerError(f"there is no function {options['-n']!r}")
            first = functions[0].first
            count = count or (functions[0].end - first) // 8
        elif options.get("-s"):
            first = evaluate(options["-s"], process.frame()).integer()
            first = first if first >= IRAM_BASE else IRAM_BASE + 8 * first
        else:
            function = process.frame().function
            first = process.frame().pc
            if function is not None and not count and not options.has("-p", "--pc"):
                first, count = function.first, (function.end - function.first) // 8
        lines = printing.disassembly(process, first & ~7, min(count or 8, 4096))
        return Answer("\n".join(lines))

    def program_file(self, _rest: str) -> Answer:
        """Image list: the program that the DPU has loaded."""
        code, path = self.live.code, self.live.machine.hello.path
        size = sum(function.end - function.first for function in code.functions)
        text = f"{path}: {len(code.functions)} functions, {size // INSTRUCTION} instructions"
        return Answer(text, {"path": path, "functions": len(code.functions)})

    def lookup(self, rest: str) -> Answer:
        """Image lookup -n FUNCTION | -a ADDRESS: where a function is, or what is at an address."""
        options = parse(rest, valued=("-n", "-a"))
        process = self.live
        if options.get("-n"):
            name = options["-n"]
            addresses = [function.first for function in process.code.functions_named(name)]
            addresses += process.code.places_of_inlined(name)
            if not addresses:
                raise DebuggerError(f"there is no function {name!r}")
        elif options.get("-a"):
            first = evaluate(options["-a"], process.frame()).integer()
            addresses = [first if first >= IRAM_BASE else IRAM_BASE + INSTRUCTION * first]
        else:
            raise DebuggerError("image lookup needs -n FUNCTION or -a ADDRESS")
        places = [printing.describe_place(process.code, address) for address in addresses]
        return Answer("\n".join(places), {"places": places})

    def source(self, rest: str) -> Answer:
        """Source list [-f FILE] [-l LINE] | list [LINE | FUNCTION]: lines of a source."""
        process = self.live
        options = parse(rest, valued=("-f", "-l", "-n", "-c"))
        word = options.words[0] if options.words else options.get("-n")
        line = options.get("-l") or (word if word and word.isdecimal() else None)
        if word and not word.isdecimal():
            functions = process.code.functions_named(word)
            found = process.code.line_at(functions[0].first) if functions else None
            if found is None:
                raise DebuggerError(f"there is no function {word!r} with lines")
            file, at = found.file, found.line
        else:
            here = process.frame().line
            if here is None and not options.get("-f"):
                raise DebuggerError("there is no source here")
            file, at = self.listed or (here.file if here else "", here.line if here else 1)
            if options.get("-f"):
                files = process.code.match_file(options["-f"])
                if not files:
                    raise DebuggerError(f"no source file {options['-f']!r}")
                file, at = files[0], 6
            at = int(line) if line else at
        lines = printing.source_lines(process.code, file, at, around=5)
        if not lines:
            raise DebuggerError(f"{file} cannot be read, or has no line {at}")
        self.listed = (file, at + 11)
        return Answer("\n".join(lines))
