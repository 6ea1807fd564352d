# SPDX-License-Identifier: BSD-3-Clause
"""Breakpoints and watchpoints, as the user asked for them and where they are in a program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .errors import DebuggerError
from .machine import IRAM_BASE, Watch
from .program import DebugProgram

__all__ = ["Breakpoint", "Breakpoints", "Watchpoint", "resolve"]

_LINE = re.compile(r"(?:(.+):)?(\d+)")
_ADDRESS = re.compile(r"\*?(0[xX][0-9a-fA-F]+)")
_EXPRESSION = re.compile(r"/(.+)/")


@dataclass
class Breakpoint:
    """A breakpoint.

    Parameters
    ----------
    number : int
        Its number.
    place : str
        ``file:line``, a function, an address, or ``/regular expression/``.
    condition : str
        It stops only if this expression is not 0.
    thread : int, optional
        It stops only this tasklet.
    once : bool
        Whether it is removed when it has stopped.
    addresses : list of int
        Where it is in the program.
    problem : str
        Why it is nowhere in the program.
    hits, ignore : int
        How often it was reached, and how many of these do not stop.
    enabled : bool
        Whether it stops.
    """

    number: int
    place: str
    condition: str = ""
    thread: int | None = None
    once: bool = False
    addresses: list[int] = field(default_factory=list)
    problem: str = ""
    hits: int = 0
    ignore: int = 0
    enabled: bool = True

    def place_in(self, program: DebugProgram, file: str | None) -> None:
        """Find where it is in a program; note the problem if it is nowhere."""
        self.addresses, self.problem = [], ""
        try:
            self.addresses = resolve(program, self.place, file)
        except DebuggerError as error:
            self.problem = str(error)

    def forget(self) -> None:
        """Be as before the program ran."""
        self.addresses, self.problem, self.hits = [], "", 0


class Breakpoints(dict[int, Breakpoint]):
    """Breakpoints by their numbers, which are not given again."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0

    def add(self, place: str, **options: Any) -> Breakpoint:
        """Make a breakpoint, which is nowhere yet."""
        self._last += 1
        self[self._last] = point = Breakpoint(self._last, place, **options)
        return point


@dataclass
class Watchpoint:
    """A watchpoint: its number, what it watches, and the value at the last stop."""

    number: int
    text: str
    watch: Watch
    old: bytes = b""
    hits: int = 0
    enabled: bool = True


def resolve(program: DebugProgram, place: str, file: str | None = None) -> list[int]:
    """Return the addresses that a place means.

    Parameters
    ----------
    program : DebugProgram
        The program.
    place : str
        ``file:line``, a line of `file`, a function, an address, or ``/regular expression/`` that
        is found in names of functions.
    file : str, optional
        The current file.

    Raises
    ------
    DebuggerError
        If there is no such place.
    """
    address = _ADDRESS.fullmatch(place)
    if address is not None:
        value = int(address[1], 16)
        if value < IRAM_BASE:
            value = IRAM_BASE + 8 * value
        if program.function_at(value) is None:
            raise DebuggerError(f"there is no code at {place}")
        return [value & ~7]
    line = _LINE.fullmatch(place)
    if line is not None:
        wanted = line[1] or file
        if wanted is None:
            raise DebuggerError("there is no current file: say FILE:LINE")
        return program.addresses_of(wanted, int(line[2]))[1]
    names, wanted = [place], f"function {place!r}"
    expression = _EXPRESSION.fullmatch(place)
    if expression is not None:
        names, wanted = _matching(program, expression[1]), f"function that matches {place}"
    addresses = {address for name in names for address in _begins(program, name)}
    if not addresses:
        raise DebuggerError(f"there is no {wanted}")
    return sorted(addresses)


def _matching(program: DebugProgram, expression: str) -> list[str]:
    try:
        wanted = re.compile(expression)
    except re.error as error:
        raise DebuggerError(f"/{expression}/ is no regular expression: {error}") from error
    return [name for name in program.function_names() if wanted.search(name)]


def _begins(program: DebugProgram, name: str) -> list[int]:
    """Return where a function begins, by itself and where it was inlined."""
    own = [program.after_prologue(function) for function in program.functions_named(name)]
    return own + program.places_of_inlined(name)
