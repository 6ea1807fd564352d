# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the assembler and the linker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["AsmError", "Location", "Problem"]

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source; column 0 is the whole line, line 0 the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Format it as compilers do."""
        text = self.file
        if self.line:
            text += f":{self.line}"
        if self.column:
            text += f":{self.column}"
        return text


@dataclass(frozen=True, slots=True)
class Problem:
    """An error and its location; one about the whole program has none."""

    message: str
    location: Location | None = None

    def __str__(self) -> str:
        """Return location and message."""
        if self.location is None:
            return f"error: {self.message}"
        return f"{self.location}: error: {self.message}"


class AsmError(ValueError):
    """A program cannot be assembled or linked.

    Attributes
    ----------
    problems : tuple of Problem
        All errors; the message shows the first of them.
    """

    def __init__(self, problems: Sequence[Problem] | str, location: Location | None = None) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems, location)]
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            lines.append(f"and {len(self.problems) - _SHOWN} further errors")
        super().__init__("\n".join(lines))
