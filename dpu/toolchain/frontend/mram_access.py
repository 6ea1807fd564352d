# SPDX-License-Identifier: BSD-3-Clause
"""Rejects accesses to MRAM that are not supported, and warns of those that miss it.

What `soft_cache` leaves is rejected: atomic accesses, and data of odd sizes. A pointer into MRAM
that was cast to one without `__mram_ptr` accesses WRAM, at the offset that the data has in MRAM.
The vendor's compiler does the same; here there is a warning if cast and access are in one function.
In LLVM IR, MRAM is address space 255.
"""

from __future__ import annotations

import re

from ..errors import ToolchainError
from .locations import Locations
from .soft_cache import split_operands

__all__ = ["check_mram_access", "find_mram_accesses"]

_SPACE, _MARK = "addrspace(255)", "MRAM"
_INSTRUCTION = re.compile(
    r"^\s+(?:%\S+ = )?(?:(?:tail|musttail|notail) )?(load|store|atomicrmw|cmpxchg|call)\b(.*)"
)
# The latter are atomic accesses in the IR of older compilers.
_MEMORY_CALL = re.compile(r"@llvm\.mem(?:cpy|move|set)\.\S*p255|@__atomic_\w+\(")
# Definitions of values that are such a pointer, or are computed from one.
_CAST = re.compile(r"^\s+(%\S+) = addrspacecast ptr addrspace\(255\) .* to ptr\b(?! addrspace)")
_CAST_INSIDE = re.compile(r"addrspacecast \(ptr addrspace\(255\) .* to ptr\)")
_DERIVED = re.compile(r"^\s+(%\S+) = (?:getelementptr|phi|select|freeze|bitcast)\b(.*)")
_VARIABLE = re.compile(
    r'^@"?([^ "]+)"? = (.*?)\b(?:global|constant)\b.* section "\.(?:bss\.\.)?mram', re.MULTILINE
)
_NAME = re.compile(r"%[\w.$-]+|%\"[^\"]*\"")
_ODD = "in a way that is not supported: copy it with mram_read or mram_write"
_LOST = (
    "accesses WRAM through a pointer that was cast from __mram_ptr, at the offset of the data in "
    "MRAM: keep it a __mram_ptr, or use mram_read"
)
_GROUP = re.compile(r"\([^()]*\)")
_FUNCTION = re.compile(r'^define .*@"?([^"(]+)"?\(')


def find_mram_accesses(text: str, source: str = "") -> list[tuple[str, int, str, str]]:
    """Return accesses that do not work as file, line (0 if unknown), function, and description."""
    if _SPACE not in text:
        return []
    found: list[tuple[str, str, str]] = []
    function = ""
    body: list[str] = []
    for line in text.splitlines():
        match = _FUNCTION.match(line)
        if match:
            function, body = match[1], []
        elif line == "}":
            found += [(access, function, how) for access, how in _in_function(body)]
        else:
            body.append(line)
    if not found:
        return []
    locations = Locations(text, source)
    return sorted({(*locations.of(access), function, how) for access, function, how in found})


def check_mram_access(text: str, source: str) -> str:
    """Return warnings about accesses in LLVM IR that miss MRAM.

    Raises
    ------
    ToolchainError
        If there are unsupported accesses; the message has file and line of each.
    """
    misplaced = [name for name, space in _VARIABLE.findall(text) if _SPACE not in space]
    if misplaced:
        raise ToolchainError(
            f"{source}: error: {', '.join(misplaced)}: placed in MRAM, but without an MRAM type; "
            "the qualifier applies to the target of the pointer: use a typedef for its type"
        )
    accesses = find_mram_accesses(text, source)
    errors = [
        f"{file}:{row}: error: {function} reads or writes MRAM {how}"
        for file, row, function, how in accesses
        if how == _ODD
    ]
    if errors:
        raise ToolchainError("\n".join(errors))
    return "".join(
        f"{file}:{row}: warning: {function} {how}\n" for file, row, function, how in accesses
    )


def _in_function(lines: list[str]) -> list[tuple[str, str]]:
    """Return the unsupported accesses of a function: the instruction, and a description."""
    lost: set[str] = set()
    grows = any("addrspacecast" in line for line in lines)
    while grows:
        before = len(lost)
        for line in lines:
            match = _CAST.match(line) or _DERIVED.match(line)
            if match and (len(match.groups()) == 1 or _uses(match[2], lost)):
                lost.add(match[1])
        grows = len(lost) != before
    found = []
    for line in lines:
        how = _ODD if _is_access(line) else _LOST if _is_through(line, lost) else None
        if how is not None:
            found.append((line, how))
    return found


def _uses(text: str, names: set[str]) -> bool:
    return _CAST_INSIDE.search(text) is not None or not names.isdisjoint(_NAME.findall(text))


def _is_through(line: str, lost: set[str]) -> bool:
    """Tell whether an access is through a pointer that was cast from MRAM."""
    match = _INSTRUCTION.match(line)
    if match is None:
        return False
    operands = split_operands(match[2])
    if match[1] == "call":
        memory = "@llvm.mem" in match[2]
        return memory and _uses(match[2].partition("(")[2], lost)
    place = 0 if match[1] in ("atomicrmw", "cmpxchg") else 1
    return len(operands) > place and _uses(operands[place], lost)


def _is_access(line: str) -> bool:
    match = _INSTRUCTION.match(line) if _SPACE in line else None
    if match is None:
        return False
    operation, rest = match[1], match[2].replace(_SPACE, _MARK)
    if operation == "call":
        return _MEMORY_CALL.search(rest) is not None
    # Parentheses contain constant expressions, which compute addresses and access nothing.
    while _GROUP.search(rest):
        rest = _GROUP.sub("", rest)
    if operation in ("load", "store"):
        return f", ptr {_MARK}" in rest
    return f"ptr {_MARK}" in rest.split(",")[0]
