# SPDX-License-Identifier: BSD-3-Clause
"""The source locations of instructions in LLVM IR."""

from __future__ import annotations

import re
from pathlib import PurePath

__all__ = ["Locations"]

_DEBUG = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(
    r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),(?: column: \d+,)? scope: !(\d+)", re.M
)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI\w+\(.*?\bfile: !(\d+)", re.M)
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"', re.M)


class Locations:
    """The locations in LLVM IR.

    Parameters
    ----------
    text : str
        The whole module.
    source : str
        The file of instructions without a location.
    """

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._lines = {number: (int(row), scope) for number, row, scope in _LOCATION.findall(text)}
        self._scopes = dict(_SCOPE.findall(text))
        self._files = {number: _path(name, folder) for number, name, folder in _FILE.findall(text)}

    def of(self, line: str) -> tuple[str, int]:
        """Return file and line of an instruction; line 0 if it is unknown."""
        match = _DEBUG.search(line)
        row, scope = self._lines.get(match[1] if match else "", (0, ""))
        return self._files.get(self._scopes.get(scope, ""), self._source), row


def _path(name: str, folder: str) -> str:
    return name if PurePath(name).is_absolute() or not folder else str(PurePath(folder, name))
