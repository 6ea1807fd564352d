# SPDX-License-Identifier: BSD-3-Clause
"""Adds file and line to errors about inline assembly: the compiler reports neither."""

from __future__ import annotations

import re

from ..errors import CommandError
from .locations import Locations

__all__ = ["explain_assembly"]

_MARK = "<inline asm>"
_REFUSED = re.compile(r"^<inline asm>:\d+:\d+: error: .*\n\s*(\S+)", re.MULTILINE)
_ASSEMBLY = re.compile(r'\basm\b[^"]*"((?:[^"\\]|\\.)*)"')
_WHY = (
    "inline assembly is RISC-V, which is translated: for DPU instructions use the macros of "
    "built_ins.h, or write the whole program for dpu.asm"
)


def explain_assembly(error: CommandError, text: str, source: str) -> CommandError:
    """Return an error with file and line if it is about assembly; else the same error.

    Parameters
    ----------
    error : CommandError
        The compiler's error from instruction selection.
    text : str
        The LLVM IR.
    source : str
        The file to name if the IR does not.
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
