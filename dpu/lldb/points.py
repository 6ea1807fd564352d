# SPDX-License-Identifier: BSD-3-Clause
"""Commands about breakpoints and watchpoints."""

from __future__ import annotations

import re

from ..debugger.errors import DebuggerError
from ..debugger.machine import WatchKind
from .options import Options, parse
from .session import Answer, Session, breakpoint_settings

__all__ = ["PointCommands"]

# Options of a breakpoint that are not its place.
_SETTINGS = ("-c", "-t", "-i")
_ONCE = ("-o", "--one-shot")


class PointCommands(Session):
    """Commands about breakpoints and watchpoints."""

    def add_breakpoint(self, rest: str) -> Answer:
        """Breakpoint set -f FILE -l LINE|-n FUNCTION|-r REGEX|-a ADDRESS [-c CONDITION] [-o]."""
        options = parse(rest, valued=(*_SETTINGS, "-f", "-l", "-n", "-r", "-a"), flags=_ONCE)
        if options.get("-l"):
            place = (
                f"{options.get('-f')}:{options.get('-l')}" if options.get("-f") else options["-l"]
            )
        elif options.get("-r"):
            place = f"/{options['-r']}/"
        elif options.get("-n") or options.get("-a"):
            place = options.get("-n") or options["-a"]
        else:
            raise DebuggerError(
                "breakpoint set needs -l LINE, -n FUNCTION, -r REGULAR_EXPRESSION or -a ADDRESS"
            )
        return self.keep_breakpoint(place, options)

    def break_at(self, rest: str) -> Answer:
        """B FILE:LINE | LINE | FUNCTION | ADDRESS: set a breakpoint; b alone lists them."""
        return self._break_at(rest, parse("")) if rest else self.list_breakpoints("")

    def break_once_at(self, rest: str) -> Answer:
        """Tbreak FILE:LINE | LINE | FUNCTION | ADDRESS: set a breakpoint for one stop."""
        if not rest:
            raise DebuggerError("tbreak needs a place, as FILE:LINE or FUNCTION")
        return self._break_at(rest, parse("-o", flags=_ONCE))

    def _break_at(self, rest: str, options: Options) -> Answer:
        match = re.fullmatch(r"(.*?)\s+if\s+(.*)", rest)
        place, condition = (match[1], match[2]) if match else (rest, "")
        return self.keep_breakpoint(place.strip(), options, condition)

    def break_at_matches(self, rest: str) -> Answer:
        """Rbreak REGULAR_EXPRESSION: set a breakpoint at all functions that it is found in."""
        if not rest:
            raise DebuggerError("rbreak needs a regular expression, as ^merge")
        return self.keep_breakpoint(f"/{rest}/", parse(""))

    def list_breakpoints(self, _rest: str) -> Answer:
        """Breakpoint list: all breakpoints, and how often they were reached."""
        lines, data = [], []
        for point in self.breakpoints.values():
            state = "" if point.enabled else ", disabled"
            condition = f", if {point.condition}" if point.condition else ""
            if not self.has_program:
                now = "set when the program runs"
            elif point.problem:
                now = f"not in this program: {point.problem}"
            else:
                now = f"hit {point.hits} times"
            lines.append(f"{point.number}: {point.place}, {now}{condition}{state}")
            data.append({"number": point.number, "place": point.place, "hits": point.hits})
        return Answer("\n".join(lines) or "no breakpoints", {"breakpoints": data})

    def _chosen(self, rest: str) -> list[int]:
        """Return the numbers that were typed, or all; DebuggerError if one is of no breakpoint."""
        numbers = [int(word) for word in rest.split()] or list(self.breakpoints)
        for number in numbers:
            if number not in self.breakpoints:
                raise DebuggerError(f"there is no breakpoint {number}")
        return list(dict.fromkeys(numbers))

    def delete_breakpoint(self, rest: str) -> Answer:
        """Breakpoint delete [NUMBER ...]: remove breakpoints; without numbers all."""
        numbers = self._chosen(rest)
        for number in numbers:
            del self.breakpoints[number]
        return Answer(f"{len(numbers)} breakpoint(s) removed")

    def modify_breakpoint(self, rest: str) -> Answer:
        """Breakpoint modify [-c CONDITION] [-t TASKLET] [-i IGNORED_HITS] [-o] [NUMBER ...]."""
        options = parse(rest, valued=_SETTINGS, flags=_ONCE)
        # Before anything is changed.
        settings = breakpoint_settings(options)
        if not settings:
            raise DebuggerError("breakpoint modify needs -c, -t, -i or -o")
        numbers = self._chosen(options.rest)
        for number in numbers:
            for name, value in settings.items():
                setattr(self.breakpoints[number], name, value)
        return Answer(f"{len(numbers)} breakpoint(s) changed")

    def _enable(self, rest: str, *, enabled: bool) -> Answer:
        numbers = self._chosen(rest)
        for number in numbers:
            self.breakpoints[number].enabled = enabled
        return Answer(f"{len(numbers)} breakpoint(s) {'enabled' if enabled else 'disabled'}")

    def enable_breakpoint(self, rest: str) -> Answer:
        """Breakpoint enable [NUMBER ...]: make breakpoints stop again."""
        return self._enable(rest, enabled=True)

    def disable_breakpoint(self, rest: str) -> Answer:
        """Breakpoint disable [NUMBER ...]: make breakpoints not stop."""
        return self._enable(rest, enabled=False)

    def watch(self, rest: str) -> Answer:
        """Watchpoint set variable|expression [-w read|write|read_write] EXPRESSION."""
        options = parse(rest, valued=("-w",), ends_at_word=True)
        if not options.rest:
            raise DebuggerError("watchpoint set needs an expression")
        try:
            kind = WatchKind(options.get("-w") or "write")
        except ValueError:
            raise DebuggerError("-w must be read, write or read_write") from None
        point = self.live.add_watchpoint(options.rest, kind)
        text = f"Watchpoint {point.number}: {point.text}, {point.watch.size} bytes at "
        return Answer(f"{text}0x{point.watch.address:08x}", {"watchpoint": point.number})

    def list_watchpoints(self, _rest: str) -> Answer:
        """Watchpoint list: all watchpoints."""
        points = self.live.watchpoints.values()
        lines = [f"{p.number}: {p.text} ({p.watch.kind}), hit {p.hits} times" for p in points]
        return Answer("\n".join(lines) or "no watchpoints")

    def delete_watchpoint(self, rest: str) -> Answer:
        """Watchpoint delete [NUMBER ...]: remove watchpoints; without numbers all."""
        numbers = [int(word) for word in rest.split()] or list(self.live.watchpoints)
        for number in numbers:
            self.live.remove(number, watch=True)
        return Answer(f"{len(numbers)} watchpoint(s) removed")
