# SPDX-License-Identifier: BSD-3-Clause
"""Costs of functions, lines, instructions and tasklets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ..asm.lines import SECTION, LineTable, read_lines
from ..asm.printer import write_word
from ..elf.format import IRAM_BASE, SymbolType
from ..elf.locks import lock_name
from ..elf.program import ProgramFile
from ..elf.readable_name import readable_name
from ..elf.reader import ElfError, ElfSymbol
from .raw import Call, RecordedProgram, Site

__all__ = ["NOWHERE", "SLEEPS", "Code", "Cost", "add_up"]

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row", Site, Call)

# Places where tasklets sleep, by the function of the run time.
SLEEPS = {
    "barrier_wait": "barrier",
    "sem_take": "semaphore",
    "handshake_wait_for": "handshake",
    "handshake_notify": "handshake",
}
NOWHERE = "(unknown)"
_LARGEST_SOURCE = 4 << 20


@dataclass
class Cost:
    """Sums over tasklets and DPUs; all but the instructions are cycles of tasklets."""

    instructions: int = 0
    issue: int = 0
    spin: int = 0
    dma: int = 0
    sleep: int = 0

    @property
    def cycles(self) -> int:
        """The time that tasklets spent there: issuing, and waiting for DMA and for others."""
        return self.issue + self.dma + self.sleep

    @property
    def pipeline(self) -> int:
        """Cycles of the rounds in which others could have issued, without spinning."""
        return max(0, self.issue - self.instructions - self.spin)

    def add(self, site: Site | Call) -> None:
        """Add what a tasklet did at an instruction, or what passed in calls."""
        self.instructions += site.instructions
        self.issue += site.issue
        self.spin += site.spin
        self.dma += site.dma
        self.sleep += site.sleep


def add_up(sites: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, Cost]:
    """Add up the costs of sites, or calls, with the same key; the most expensive comes first."""
    costs: dict[Key, Cost] = {}
    for site in sites:
        costs.setdefault(key(site), Cost()).add(site)
    return dict(sorted(costs.items(), key=lambda item: -item[1].cycles))


class Code:
    """The functions, lines and instructions of a program.

    Parameters
    ----------
    program : RecordedProgram
        Its file may be damaged: then nothing is known of it.
    """

    def __init__(self, program: RecordedProgram) -> None:
        self.path = program.path
        self._functions: dict[int, str] = {}
        self._ranges: dict[str, tuple[int, int]] = {}
        self._table = LineTable(())
        self.words: list[int] = []
        self._symbols: list[ElfSymbol] = []
        self._sources: dict[str, list[str] | None] = {}
        try:
            self._read(ProgramFile(program.image))
        except (ElfError, ValueError, IndexError):
            self.words = []

    def _read(self, file: ProgramFile) -> None:
        self.words = file.words()
        self._symbols = file.symbols
        lines = file.section(SECTION)
        self._table = LineTable(read_lines(lines.data) if lines is not None else ())
        functions = [
            symbol
            for symbol in file.symbols
            if symbol.type == SymbolType.FUNC and symbol.value >= IRAM_BASE
        ]
        starts = sorted((symbol.value - IRAM_BASE) // 8 for symbol in functions)
        for symbol in functions:
            first = (symbol.value - IRAM_BASE) // 8
            # One without a size, as in assembly, goes on up to the next.
            after = next((start for start in starts if start > first), len(self.words))
            last = min(first + symbol.size // 8 if symbol.size else after, len(self.words))
            name = readable_name(symbol.name)
            self._ranges[name] = (first, last)
            for pc in range(first, last):
                self._functions.setdefault(pc, name)

    @property
    def name(self) -> str:
        """The name of its file."""
        return Path(self.path).name or "program"

    def function(self, pc: int) -> str:
        """Return the function that an instruction is in."""
        return self._functions.get(pc, NOWHERE)

    def functions(self) -> dict[str, tuple[int, int]]:
        """Return the functions with their first instruction and the one after their last."""
        return dict(self._ranges)

    def line(self, pc: int) -> tuple[str, int]:
        """Return file and line of an instruction; line 0 if there is none."""
        row = self._table.find(IRAM_BASE + 8 * pc)
        return (row.file, row.line) if row is not None else ("", 0)

    def place(self, pc: int) -> str:
        """Return a short name of where an instruction is."""
        file, line = self.line(pc)
        return f"{Path(file).name}:{line}" if line else f"{self.function(pc)} (pc {pc:#x})"

    def instruction(self, pc: int) -> str:
        """Return an instruction in assembly."""
        if pc >= len(self.words):
            return ""
        return write_word(self.words[pc], self._label).strip()

    def lock(self, bit: int) -> str:
        """Return the name of an atomic bit."""
        return lock_name(self._symbols, bit)

    def _label(self, pc: int) -> str | None:
        return self._starts.get(pc)

    @cached_property
    def _starts(self) -> dict[int, str]:
        return {first: name for name, (first, _) in self._ranges.items()}

    def source(self, file: str) -> list[str] | None:
        """Return the lines of a source file; None if it cannot be read here."""
        if file not in self._sources:
            try:
                path = Path(file)
                small = path.is_file() and path.stat().st_size <= _LARGEST_SOURCE
                text = path.read_text(errors="replace") if small else None
            except OSError:
                text = None
            self._sources[file] = text.splitlines() if text is not None else None
        return self._sources[file]
