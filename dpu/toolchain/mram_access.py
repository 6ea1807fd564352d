# SPDX-License-Identifier: BSD-3-Clause
"""Finds where C code reads or writes MRAM through a pointer.

MRAM can only be copied to and from WRAM. The compiler would take a pointer into MRAM for an address
of WRAM, so such code is refused. Looked at is the compiler's intermediate text, where MRAM is
address space 255.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from .errors import ToolchainError

__all__ = ["check_mram_access", "find_mram_accesses"]

_SPACE, _MARK = "addrspace(255)", "MRAM"
_INSTRUCTION = re.compile(
    r"^\s+(?:%\S+ = )?(?:(?:tail|musttail|notail) )?(load|store|atomicrmw|cmpxchg|call)\b(.*)"
)
# The latter are what older compilers make of atomic accesses.
_MEMORY_CALL = re.compile(r"@llvm\.mem(?:cpy|move|set)\.\S*p255|@__atomic_\w+\(")
_GROUP = re.compile(r"\([^()]*\)")
_FUNCTION = re.compile(r'^define .*@"?([^"(]+)"?\(')
_DEBUG = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(
    r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),(?: column: \d+,)? scope: !(\d+)", re.M
)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI\w+\(.*?\bfile: !(\d+)", re.M)
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"', re.M)


def find_mram_accesses(text: str) -> list[tuple[str, int, str]]:
    """Return the accesses in intermediate text as file, line (0 if not known) and function."""
    if _SPACE not in text:
        return []
    found: list[tuple[str | None, str]] = []
    function = ""
    for line in text.splitlines():
        match = _FUNCTION.match(line)
        if match:
            function = match[1]
        elif _is_access(line):
            debug = _DEBUG.search(line)
            found.append((debug[1] if debug else None, function))
    if not found:
        return []
    locations = {number: (int(row), scope) for number, row, scope in _LOCATION.findall(text)}
    scopes = dict(_SCOPE.findall(text))
    files = {number: _path(name, folder) for number, name, folder in _FILE.findall(text)}
    places = []
    for number, function in found:
        row, scope = locations.get(number or "", (0, ""))
        places.append((files.get(scopes.get(scope, ""), ""), row, function))
    return sorted(set(places))


def check_mram_access(text: str, source: str) -> None:
    """Raise ToolchainError, with file and line, if there are accesses."""
    accesses = find_mram_accesses(text)
    if not accesses:
        return
    lines = [
        f"{file or source}:{row}: error: {function} reads or writes MRAM through a pointer; copy "
        "it with mram_read or mram_write"
        for file, row, function in accesses
    ]
    raise ToolchainError("\n".join(lines))


def _is_access(line: str) -> bool:
    match = _INSTRUCTION.match(line) if _SPACE in line else None
    if match is None:
        return False
    operation, rest = match[1], match[2].replace(_SPACE, _MARK)
    if operation == "call":
        return _MEMORY_CALL.search(rest) is not None
    # What is in parentheses are addresses that are computed, not those that are used.
    while _GROUP.search(rest):
        rest = _GROUP.sub("", rest)
    if operation in ("load", "store"):
        return f", ptr {_MARK}" in rest
    return f"ptr {_MARK}" in rest.split(",")[0]


def _path(name: str, folder: str) -> str:
    return name if PurePath(name).is_absolute() or not folder else str(PurePath(folder, name))
