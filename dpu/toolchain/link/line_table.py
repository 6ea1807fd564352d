# SPDX-License-Identifier: BSD-3-Clause
"""Carries the compiler's line tables over to the translated code."""

from __future__ import annotations

from ...asm.lines import LineRow, LineUnit, write_lines
from ...elf.format import IRAM_BASE
from ...elf.reader import ElfSection
from ..ir.code import Code
from ..ir.operands import code_label

__all__ = ["line_table"]


def line_table(unit: LineUnit, text: ElfSection, code: Code) -> bytes:
    """Return the table of a unit for the translated code.

    Parameters
    ----------
    unit : LineUnit
        A table of the linker's output.
    text : ElfSection
        The code that it is of.
    code : Code
        The translation of that.
    """
    rows: dict[int, LineRow] = {}
    for row in unit.rows:
        # The lines of code that the linker dropped have addresses outside the text.
        label = code_label(row.address)
        if not text.address <= row.address <= text.address + text.size or label not in code.labels:
            continue
        index = code.labels[label]
        # The last row at an address applies, and an end only if nothing starts there.
        if row.line or index not in rows:
            before = rows.get(index)
            ends = row.ends_prologue or (before is not None and before.ends_prologue)
            rows[index] = row._replace(address=IRAM_BASE + 8 * index, ends_prologue=ends)
    return write_lines([rows[index] for index in sorted(rows)], unit.files[1:])
