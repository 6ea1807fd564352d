# SPDX-License-Identifier: BSD-3-Clause
"""Says where C code has assembly that is not taken: the compiler itself does not."""

from __future__ import annotations

import re

from ..errors import CommandError
from .locations import Locations

__all__ = ["explain_assembly"]

_MARK = "<inline asm>"
_REFUSED = re.compile(r"^<inline asm>:\d+:\d+: error: .*\n\s*(\S+)", re.MULTILINE)
_ASSEMBLY = re.compile(r'\basm\b[^"]*"((?:[^"\\]|\\.)*)"')
_WHY = (
    "assembly in C is RISC-V's, of which the DPU's is made: the DPU's own instructions are macros "
    "of built_ins.h, or programs of dpu.asm"
)


def explain_assembly(error: CommandError, text: str, source: str) -> CommandError:
    """Return an error that names file and line, if it is about assembly; else the same.

    Parameters
    ----------
    error : CommandError
        What the compiler said when it selected instructions.
    text : str
        The intermediate text.
    source : str
        The file, if the text does not have it.
    """
    said = str(error.stderr)
    if _MARK not in said:
        return error
    locations = Locations(text, source)
    words = {match[1] for match in _REFUSED.finditer(said)}
    places = []
    for line in text.splitlines():
        match = _ASSEMBLY.search(line)
        if match and not words.isdisjoint(re.findall(r"[\w.]+", match[1])):
            file, row = locations.of(line)
            places.append(f"{file}:{row}: error: {_WHY}")
    lines = [*dict.fromkeys(places), said]
    return CommandError(error.returncode, error.cmd, "\n".join(lines))
