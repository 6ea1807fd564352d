# SPDX-License-Identifier: BSD-3-Clause
"""Assembles texts, and runs programs on the simulated machine."""

from __future__ import annotations

import struct

from dpu.asm import Source, assemble
from dpu.elf.format import IRAM_BASE, MRAM_BASE
from dpu.elf.program import ProgramFile
from dpu.elf.reader import ElfSymbol
from tests.dpu.support.native import DONE, NativeMachine


def build_text(text: str, **options: object) -> ProgramFile:
    """Assemble a text that needs no preprocessor."""
    source = Source("test.s", text, preprocess=False)
    return ProgramFile(assemble(source, **options))  # type: ignore[arg-type]


def words_of(text: str, **options: object) -> list[int]:
    """Return the instructions of a text."""
    return build_text(text, **options).words()


class Runner:
    """A machine with a program in it."""

    def __init__(self, machine: NativeMachine, image: bytes) -> None:
        self.machine = machine
        self.program = ProgramFile(image)
        for segment in self.program.segments:
            if segment.address >= IRAM_BASE:
                words = [
                    int.from_bytes(segment.data[at : at + 8], "little")
                    for at in range(0, len(segment.data), 8)
                ]
                machine.load(words, (segment.address - IRAM_BASE) // 8)
            elif segment.address >= MRAM_BASE:
                start = segment.address - MRAM_BASE
                machine.mram[start : start + segment.size] = segment.data
            else:
                machine.wram[segment.address : segment.address + segment.size] = segment.data

    def launch(self) -> None:
        """Run the program to its end."""
        assert self.machine.launch() == DONE, self.machine.result.fault

    def symbol(self, name: str) -> ElfSymbol:
        """Return a symbol."""
        return next(one for one in self.program.symbols if one.name == name)

    def words(self, name: str) -> list[int]:
        """Return the numbers that a symbol holds."""
        symbol = self.symbol(name)
        memory, start = self.machine.wram, symbol.value
        if symbol.value >= MRAM_BASE:
            memory, start = self.machine.mram, symbol.value - MRAM_BASE
        data = bytes(memory[start : start + symbol.size])
        return list(struct.unpack(f"<{len(data) // 4}I", data))
