# SPDX-License-Identifier: BSD-3-Clause
"""The lines of the translated code, from those of the code that the compiler made."""

from __future__ import annotations

from ...asm.elf_writer import IRAM_BASE, Section, SectionFlags
from ...asm.lines import SECTION, LineRow, read_lines, write_lines
from ..elf_reader import ElfFile, ElfSection
from ..ir.code import Code
from ..translate.translate import code_label

__all__ = ["line_section"]


def line_section(linked: ElfFile, text: ElfSection, code: Code) -> Section | None:
    """Make the line table of a program, None if the linked file has none.

    What is not allocated goes to no memory: loaders leave it alone.
    """
    section = linked.section(SECTION)
    if section is None:
        return None
    rows: dict[int, LineRow] = {}
    for row in read_lines(section.data):
        # Code that the linker dropped is where no code is.
        label = code_label(row.address)
        if not text.address <= row.address <= text.address + text.size or label not in code.labels:
            continue
        index = code.labels[label]
        # Of several at one place the last one holds, and an end only if nothing begins there.
        if row.line or index not in rows:
            rows[index] = LineRow(IRAM_BASE + 8 * index, row.file, row.line)
    if not rows:
        return None
    data = write_lines([rows[index] for index in sorted(rows)])
    return Section(name=SECTION, data=data, flags=SectionFlags.NONE)
