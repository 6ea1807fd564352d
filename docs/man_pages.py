# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages of the commands, from their `--help` and the table of docs/commands.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from offchip import __version__

__all__ = ["COMMANDS", "Command", "manual_page"]

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "commands.md"

# A name and what is said of it; what is said alone, or the name alone.
_ENTRY = re.compile(r" {0,4}(\S.*?) {2,}(\S.*)")
_INDENTED = re.compile(r" {2,4}(\S.*)")
_HEADINGS = {"positional arguments:": "ARGUMENTS", "options:": "OPTIONS"}


class Command(NamedTuple):
    """A row of the table of commands: its name, and what its status says."""

    name: str
    status_1: str
    status_2: str

    @property
    def page(self) -> str:
        """Name of its page: `offchip info` has `offchip-info`."""
        return self.name.replace(" ", "-")


def _read_table() -> Iterator[Command]:
    """Yield commands that have a name of their own, which `python -m` is not."""
    yield Command("offchip", "", "")
    for line in TABLE.read_text().splitlines():
        if line.startswith("| `"):
            names, _, *statuses = (cell.strip() for cell in line.strip("|").split("|"))
            for name in re.findall(r"`([^`]+)`", re.sub(r"\(.*?\)", "", names)):
                if not name.startswith("python "):
                    yield Command(name, *(text.replace("`", "") for text in statuses))


#: Commands that have a page.
COMMANDS = tuple(_read_table())


def _help_of(command: Command) -> str:
    name, *rest = command.name.split()
    folder = Path(sys.executable).parent
    program = folder / name if (folder / name).exists() else ROOT / "veo/bin" / name
    done = subprocess.run(
        [program, *rest, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "10000", "NO_COLOR": "1"},
    )
    return done.stdout


def _escape(text: str) -> str:
    """Return a line that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def _entry(name: str, says: str) -> list[str]:
    # Python 3.13 and later say the argument of a short and a long option once.
    name = re.sub(r"(-\w) (\S+), (--[\w-]+) \2$", r"\1, \3 \2", name)
    return [".TP", f".B {_escape(name)}", *([_escape(says)] if says else [])]


def _format_line(line: str, after_entry: bool) -> list[str]:
    """Format a line of a description or a list."""
    if found := _ENTRY.fullmatch(line):
        return _entry(found[1], found[2])
    if found := _INDENTED.fullmatch(line):
        return _entry(found[1], "")
    if line.startswith(" "):
        return [_escape(line.strip())]
    return [*([".PP"] if after_entry else []), _escape(line)]


def _sections(text: str) -> dict[str, list[str]]:
    """Sort the lines of a help text into sections, as roff."""
    sections: dict[str, list[str]] = {"SYNOPSIS": [], "DESCRIPTION": []}
    now = sections["DESCRIPTION"]
    for line in text.splitlines():
        if line.startswith("usage: "):
            sections["SYNOPSIS"].append(f".B {_escape(line.removeprefix('usage: '))}")
        elif found := re.match("Example.*?: ", line):
            sections["EXAMPLES"] = [".nf", _escape(line[found.end() :]), ".fi"]
        elif line in _HEADINGS:
            now = sections.setdefault(_HEADINGS[line], [])
        elif line:
            now += _format_line(line, ".TP" in now[-3:])
        elif now and now[-1] != ".PP":
            now.append(".PP")
    for lines in sections.values():
        if lines and lines[-1] == ".PP":
            lines.pop()
    return sections


def _statuses(command: Command) -> list[str]:
    lines = [".TP", ".B 0", "What was asked for was done, and is right."]
    for status, says in (
        (1, command.status_1),
        (2, "; ".join(filter(None, ("the command line is wrong", command.status_2)))),
    ):
        if says:
            lines += [".TP", f".B {status}", _escape(f"{says[0].upper()}{says[1:]}.")]
    return lines


def manual_page(command: Command) -> str:
    """Return the page of a command, in the format of man."""
    sections = _sections(_help_of(command))
    purpose = next(line for line in sections["DESCRIPTION"] if not line.startswith("."))
    purpose = re.split(r"[.:](?: |$)", purpose)[0]
    name = _escape(command.page)
    related = [one.page for one in COMMANDS if one.page.split("-")[0] == command.page.split("-")[0]]
    examples = sections.pop("EXAMPLES")
    sections = {
        "NAME": [rf"{name} \- {purpose[0].lower()}{purpose[1:]}"],
        **sections,
        "EXIT STATUS": _statuses(command),
        "EXAMPLES": examples,
        "SEE ALSO": [
            *(f".BR {_escape(page)} (1)," for page in related if page != command.page),
            "the pages docs/commands.md and docs/reference/environment.md of offchip",
        ],
    }
    text = f'.\\" Made by docs/generate.py.\n.TH {name.upper()} 1 "" "offchip {__version__}"\n'
    text += ".ad l\n"
    for heading, lines in sections.items():
        if lines:
            text += "\n".join([f".SH {heading}", *lines, ""])
    return text
