# SPDX-License-Identifier: BSD-3-Clause
"""Carries the compiler's line table over to the translated code."""

from __future__ import annotations

from ...asm.lines import SECTION, LineRow, read_lines, write_lines
from ...elf.format import IRAM_BASE, SectionFlags
from ...elf.reader import ElfFile, ElfSection
from ...elf.writer import Section
from ..ir.code import Code
from ..ir.operands import code_label

__all__ = ["line_section"]


def line_section(linked: ElfFile, text: ElfSection, code: Code) -> Section | None:
    """Return the line table of a program, None if the linked file has none.

    Parameters
    ----------
    linked : ElfFile
        The linker's output.
    text : ElfSection
        Its code.
    code : Code
        The translation of that.
    """
    section = linked.section(SECTION)
    if section is None:
        return None
    rows: dict[int, LineRow] = {}
    for row in read_lines(section.data):
        # The lines of code that the linker dropped have addresses outside the text.
        label = code_label(row.address)
        if not text.address <= row.address <= text.address + text.size or label not in code.labels:
            continue
        index = code.labels[label]
        # The last row at an address applies, and an end only if nothing starts there.
        if row.line or index not in rows:
            rows[index] = LineRow(IRAM_BASE + 8 * index, row.file, row.line)

    if not rows:
        return None
    data = write_lines([rows[index] for index in sorted(rows)])
    # Not allocated: loaders leave it out.
    return Section(name=SECTION, data=data, flags=SectionFlags.NONE)
