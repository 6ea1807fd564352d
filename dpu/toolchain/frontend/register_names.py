# SPDX-License-Identifier: BSD-3-Clause
"""Gives registers that C names, as clobbers or for variables, the names of the compiler's target.

`asm("..." : : : "r0")` and `register int x asm("r0")` name registers of the DPU; the compiler knows
those of RISC-V. Registers that only the translator uses hold nothing between two statements, so
that they need not be named as clobbers.
"""

from __future__ import annotations

import re

from ..ir.registers import REGISTERS

__all__ = ["rename_registers"]

_ASSEMBLY = re.compile(
    r"\b(?:__asm__|__asm|asm)\b\s*(?:\b(?:volatile|__volatile__|__volatile|goto|inline)\b\s*)*\("
)
_TOKEN = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)*\'|[()\[\]{}:]')
_REGISTER = re.compile(r"([rd])(\d|1\d|2[0-3])")
_CLOBBERS = 3
_NAMES = {int(register): f"x{number}" for number, register in REGISTERS.items()}


def rename_registers(text: str) -> str:
    """Return preprocessed C with the registers of its `asm` renamed; lines do not change."""
    parts, done = [], 0
    for match in _ASSEMBLY.finditer(text):
        for start, end, name in _registers(text, match.end()):
            parts += [text[done:start], name]
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def _registers(text: str, start: int) -> list[tuple[int, int, str]]:
    """Return the strings of an `asm` that name registers: start, end, and what replaces them."""
    variable: list[tuple[int, int, str]] = []
    found: list[tuple[int, int, str]] = []
    depth, part = 1, 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif token[0] == ":":
            part += depth == 1
        elif depth == 1 and part in (0, _CLOBBERS) and token[1] is not None:
            name = _renamed(token[1], is_clobber=part == _CLOBBERS)
            if name is not None:
                (found if part else variable).append((token.start(), token.end(), name))
    return found if part else variable


def _renamed(name: str, *, is_clobber: bool) -> str | None:
    match = _REGISTER.fullmatch(name)
    if match is None:
        return None
    first = int(match[2])
    numbers = [first, first + 1] if match[1] == "d" else [first]
    names = [f'"{_NAMES[number]}"' for number in numbers if number in _NAMES]
    if is_clobber:
        # `cc` is no register, and may stand more than once.
        return ", ".join(names) or '"cc"'
    return names[0] if match[1] == "r" and names else None
