# SPDX-License-Identifier: BSD-3-Clause
"""Debugging a simulated DPU: breakpoints, single steps, registers, disassembly.

>>> from dpu.debug import Debugger
>>> debugger = Debugger(dpu_set.dpus()[0])
>>> debugger.break_at("main")
>>> debugger.cont().status
<LaunchStatus.BREAKPOINT: 5>
>>> debugger.threads[0].registers[0]
0
>>> print(debugger.disassembly())
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING

from dpu import _debug
from dpu._set import DpuSet
from dpu._symbol import DpuSymbol
from dpu.elf.format import ATOMIC_BASE, IRAM_BASE
from dpu.errors import DpuError

if TYPE_CHECKING:
    from dpu.reports import DpuReport

__all__ = ["Debugger", "Thread"]

EVERY_THREAD = 0xFFFFFFFF


class Thread:
    """One tasklet of a debugged DPU.

    Each attribute reads the state of the DPU; `set` changes it.

    Parameters
    ----------
    dpu_set : DpuSet
        The DPU.
    number : int
        The tasklet.
    """

    def __init__(self, dpu_set: DpuSet, number: int) -> None:
        self._set = dpu_set
        self.number = number

    @property
    def registers(self) -> tuple[int, ...]:
        """The 24 work registers, as unsigned numbers."""
        return _debug.get_thread(self._set, self.number)[0]

    @property
    def pc(self) -> int:
        """Index of the next instruction."""
        return _debug.get_thread(self._set, self.number)[1]

    @property
    def zero(self) -> bool:
        """The zero flag."""
        return _debug.get_thread(self._set, self.number)[2]

    @property
    def carry(self) -> bool:
        """The carry flag."""
        return _debug.get_thread(self._set, self.number)[3]

    @property
    def running(self) -> bool:
        """True if it runs; if not, it was not booted or has stopped."""
        return _debug.get_thread(self._set, self.number)[4]

    def set(
        self,
        registers: Mapping[int, int] | None = None,
        *,
        pc: int | None = None,
        zero: bool | None = None,
        carry: bool | None = None,
        running: bool | None = None,
    ) -> None:
        """Change some of the state.

        Parameters
        ----------
        registers : mapping of int to int, optional
            New values by the register's number.
        pc, zero, carry, running : optional
            New values of these.
        """
        old = _debug.get_thread(self._set, self.number)
        values = list(old[0])
        for number, value in (registers or {}).items():
            if not 0 <= number < len(values):
                raise IndexError(f"register r{number} does not exist")
            values[number] = value & 0xFFFFFFFF
        _debug.set_thread(
            self._set,
            self.number,
            values,
            old[1] if pc is None else pc,
            old[2] if zero is None else zero,
            old[3] if carry is None else carry,
            old[4] if running is None else running,
        )

    def __repr__(self) -> str:
        return f"<Thread {self.number} at pc {self.pc}{'' if self.running else ', not running'}>"


class Debugger:
    """A launch of one DPU that is stopped until a method continues it.

    Parameters
    ----------
    dpu_set : DpuSet
        A single DPU, or a set that has only one, with a program.

    Attributes
    ----------
    threads : tuple of Thread
        The tasklets.
    """

    def __init__(self, dpu_set: DpuSet) -> None:
        if len(dpu_set) != 1:
            raise DpuError(
                "invalid action for this dpu set",
                detail=f"a debugger needs a set of one DPU, but this one has {len(dpu_set)}",
            )
        self._set = dpu_set.dpus()[0]
        self._breakpoints: set[int] = set()
        chip = self._set.checkpoint(mram=False, wram=False)
        self._instructions = len(chip.iram() or ())
        _debug.boot(self._set)
        self.threads = tuple(Thread(self._set, number) for number in range(len(chip.threads)))

    def restart(self) -> None:
        """Start the launch again; memories and breakpoints do not change."""
        _debug.boot(self._set)

    def _pc(self, place: str | DpuSymbol | int) -> int:
        if isinstance(place, str):
            program = self._set.program
            symbol = program.get_symbol(place) if program is not None else None
            if symbol is None:
                raise DpuError("undefined symbol", detail=f"the program has no symbol {place!r}")
            place = symbol
        if isinstance(place, DpuSymbol):
            if not place.value() & IRAM_BASE or place.value() >= ATOMIC_BASE:
                raise ValueError(f"{place.name!r} is not in the program's code")
            return (place.value() - IRAM_BASE) // 8
        number = index(place)
        if not 0 <= number <= 0xFFFFFFFF:
            raise ValueError(f"instruction {number} does not exist")
        return number

    @property
    def breakpoints(self) -> frozenset[int]:
        """The indexes of the instructions with a breakpoint."""
        return frozenset(self._breakpoints)

    def break_at(self, place: str | DpuSymbol | int) -> int:
        """Set a breakpoint.

        Parameters
        ----------
        place : str, DpuSymbol or int
            A function, or the index of an instruction.

        Returns
        -------
        int
            The index.
        """
        pc = self._pc(place)
        _debug.set_breakpoint(self._set, pc, True)
        self._breakpoints.add(pc)
        return pc

    def remove(self, place: str | DpuSymbol | int) -> None:
        """Remove a breakpoint."""
        pc = self._pc(place)
        _debug.set_breakpoint(self._set, pc, False)
        self._breakpoints.discard(pc)

    def step(self, thread: int | None = None, count: int = 1) -> DpuReport:
        """Execute some instructions.

        Parameters
        ----------
        thread : int, optional
            The tasklet; all others are stopped. By default each running tasklet executes one
            instruction per step.
        count : int
            The number of steps.
        """
        if count < 0:
            raise ValueError(f"count must not be negative: {count}")
        number = EVERY_THREAD if thread is None else thread
        return _debug.step(self._set, number, count)

    def cont(self, max_rounds: int = 0) -> DpuReport:
        """Continue to a breakpoint, a fault, or the end.

        Parameters
        ----------
        max_rounds : int
            Stop after this many rounds of all tasklets; 0 for no limit.

        Returns
        -------
        DpuReport
            ``status`` says why it stopped.
        """
        if max_rounds < 0:
            raise ValueError(f"max_rounds must not be negative: {max_rounds}")
        return _debug.go_on(self._set, max_rounds)

    @property
    def fault(self) -> str:
        """A description of the fault of the DPU, "" if it has none."""
        return _debug.describe_fault(self._set)

    def disassembly(self, pc: int | None = None, before: int = 4, after: int = 8) -> str:
        """Return the instructions around a position, with the tasklets that are there.

        Parameters
        ----------
        pc : int, optional
            Index of an instruction; by default that of the first running tasklet.
        before, after : int
            The number of instructions before and after it.
        """
        from dpu.disasm import disassemble

        places: dict[int, list[str]] = {}
        for thread in self.threads:
            if thread.running:
                places.setdefault(thread.pc, []).append(str(thread.number))
                pc = thread.pc if pc is None else pc
        pc = self.threads[0].pc if pc is None else pc
        first, last = max(0, pc - before), min(self._instructions, pc + after + 1)
        data = memoryview(bytearray(8 * (last - first)))
        self._set.copy(data, DpuSymbol("iram", (IRAM_BASE + 8 * first, len(data))))
        names = self._names()
        lines = []
        for at, word in enumerate(data.cast("Q"), first):
            if at in names:
                lines.append(f"{names[at]}:")
            instruction = disassemble(word)
            mark = "b" if at in self._breakpoints else " "
            here = ",".join(places.get(at, ()))
            lines.append(f"{mark}{'>' + here if here else '':>6} {at:5}  {instruction or '?'}")
        return "\n".join(lines)

    def _names(self) -> dict[int, str]:
        program = self._set.program
        symbols = program.fetch_all_symbols() if program is not None else {}
        return {
            (symbol.value() - IRAM_BASE) // 8: name
            for name, symbol in symbols.items()
            if IRAM_BASE <= symbol.value() < ATOMIC_BASE
        }

    def __repr__(self) -> str:
        return f"<Debugger of {self._set!r}>"
