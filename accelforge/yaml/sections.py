# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a file before fields accept them: dictionaries and lists with line numbers."""

from __future__ import annotations

from typing import Any

from accelforge.util.exceptions import Place

__all__ = ["Section", "Sequence", "place_of"]


class Section(dict[Any, Any]):
    """A mapping of a file.

    Attributes
    ----------
    tag : str
        Without its exclamation mark; empty by default.
    keep_own : bool
        Marked ``!nomerge``: nothing is merged into it.
    place : Place or None
        Where it begins.
    lines : dict
        The line of each key.
    """

    __slots__ = ("keep_own", "lines", "place", "tag")

    def __init__(self, *args: Any, tag: str = "", place: Place | None = None) -> None:
        super().__init__(*args)
        self.tag = tag
        self.keep_own = False
        self.place = place
        self.lines: dict[Any, int] = {}


class Sequence(list[Any]):
    """A list of a file; the attributes are those of `Section`, with numbers for keys."""

    __slots__ = ("keep_own", "lines", "place", "tag")

    def __init__(self, *args: Any, tag: str = "", place: Place | None = None) -> None:
        super().__init__(*args)
        self.tag = tag
        self.keep_own = False
        self.place = place
        self.lines: dict[Any, int] = {}


def place_of(part: Any, key: Any = None) -> Place | None:
    """Find the line of a part of a file, or of one of its keys."""
    if not isinstance(part, (Section, Sequence)) or part.place is None:
        return None
    line = part.lines.get(key)
    return part.place if line is None else part.place._replace(line=line)
