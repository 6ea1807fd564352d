# SPDX-License-Identifier: BSD-3-Clause
"""Options of a command of the debugger, as lldb has them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..debugger.errors import DebuggerError

__all__ = ["Options", "parse"]

_LONG = {
    "--file": "-f",
    "--line": "-l",
    "--name": "-n",
    "--address": "-a",
    "--condition": "-c",
    "--count": "-c",
    "--size": "-s",
    "--start-address": "-s",
    "--watch": "-w",
    "--ignore-count": "-i",
    "--tasklet": "-t",
    "--func-regex": "-r",
    "--format": "-f",
}


@dataclass
class Options:
    """Options with their values, words that belong to none, and the text of these."""

    values: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    rest: str = ""

    def get(self, name: str) -> str | None:
        """Return the value of an option, None if it is absent."""
        return self.values.get(name)

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def has(self, *names: str) -> bool:
        """Tell whether a flag is there."""
        return bool(self.flags & set(names))


def parse(
    text: str,
    *,
    valued: Sequence[str] = (),
    flags: Sequence[str] = (),
    ends_at_word: bool = False,
) -> Options:
    """Parse the text after a command.

    Parameters
    ----------
    text : str
        The text.
    valued, flags : sequence of str
        Options with a value and without.
    ends_at_word : bool
        Whether an expression follows the options: it is left as it is.

    Raises
    ------
    DebuggerError
        If an option is not known, or lacks its value.
    """
    options = Options()
    if ends_at_word:
        return _before_expression(text, options, valued)
    words = shlex.split(text)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        name = _LONG.get(name, name)
        if word == "--":
            options.words += words
            break
        if name in valued:
            if not equals and not words:
                raise DebuggerError(f"{word} needs a value")
            options.values[name] = value if equals else words.pop(0)
        elif name in flags:
            options.flags.add(name)
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            raise DebuggerError(f"option {word} is not known here")
        else:
            options.words.append(word)
    options.rest = " ".join(options.words)
    return options


def _before_expression(text: str, options: Options, valued: Sequence[str]) -> Options:
    rest = text.strip()
    while rest.startswith("-"):
        word, _, after = rest.partition(" ")
        name = _LONG.get(word, word)
        if word == "--":
            rest = after.strip()
            break
        # A value may be joined to its option, as in -c4.
        joined = name[:2] in valued and len(name) > 2 and not word.startswith("--")
        if joined:
            options.values[name[:2]], rest = name[2:], after.strip()
        elif name in valued:
            value, _, rest = after.strip().partition(" ")
            options.values[name], rest = value, rest.strip()
        else:
            break
    options.rest = rest
    return options
