# SPDX-License-Identifier: BSD-3-Clause
"""Tasklets that wait for locks which nobody will release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..disasm import Instruction, disassemble
from ..elf.locks import lock_name
from .machine import INSTRUCTION, IRAM_BASE, Outcome, Ran, ThreadState
from .program import DebugProgram
from .session import SLICE, Attached

__all__ = ["DeadlockWatch"]

# The register that is always zero, behind the 24 of the tasklet.
_ZERO = 24
# Instructions that each tasklet must have tried in vain, and rounds after which it is left.
_TRIES, _PATIENCE = 2, 64


@dataclass(frozen=True)
class _Wait:
    thread: int
    pc: int
    bit: int | None


def _bit(instruction: Instruction, state: ThreadState) -> int | None:
    """Return which bit an acquire wants, None if it is made of a constant of the tasklet."""
    register = instruction.operands.get("ra", _ZERO)
    if register > _ZERO:
        return None
    base = state.registers[register] if register < _ZERO else 0
    value = base + instruction.operands.get("imm", 0)
    return (value >> 8 ^ value) & 0xFF


class DeadlockWatch:
    """Looks, between parts of a run, whether all tasklets that run wait for locks.

    One waits if it is at an acquire that is its own target when it fails. If all of them are, and
    stay there one instruction after the other, nobody releases anything any more.

    Parameters
    ----------
    machine : Attached
        The DPU.
    program : DebugProgram
        Its program.
    """

    def __init__(self, machine: Attached, program: DebugProgram) -> None:
        self._machine, self._program = machine, program
        self._waits: list[_Wait] = []
        self._counts: Sequence[int] = ()
        self._looks = 0
        self.rounds = SLICE

    def look(self, ran: Ran) -> str:
        """Return a sentence about the deadlock, "" if there is none or it is not sure yet."""
        waits = self._all_wait() if ran.outcome is Outcome.STEPPED else []
        if not waits or self._looks == _PATIENCE:
            self._waits, self._looks, self.rounds = [], 0, SLICE
            return ""
        self._looks += 1
        # From here on each instruction counts: it may have got the lock and be here again.
        self.rounds = 1
        if waits != self._waits:
            self._waits, self._counts = waits, ran.counts
            return ""
        if all(ran.counts[w.thread] >= self._counts[w.thread] + _TRIES for w in waits):
            return self._describe()
        return ""

    def _all_wait(self) -> list[_Wait]:
        """Return what each tasklet that runs waits for; nothing if one does not wait."""
        waits = []
        for thread, state in enumerate(self._machine.threads()):
            if not state.running:
                continue
            word = self._machine.read(IRAM_BASE + INSTRUCTION * state.pc, INSTRUCTION)
            instruction = disassemble(int.from_bytes(word, "little"))
            if (
                instruction is None
                or instruction.mnemonic != "acquire"
                or instruction.condition != "nz"
                or instruction.operands.get("pc") != state.pc
            ):
                return []
            waits.append(_Wait(thread, state.pc, _bit(instruction, state)))
        return waits

    def _describe(self) -> str:
        parts = []
        for wait in self._waits:
            address = IRAM_BASE + INSTRUCTION * wait.pc
            line, function = self._program.line_at(address), self._program.function_at(address)
            where = f" in {function.name}" if function is not None else ""
            where += f" at {line}" if line is not None else f" at pc 0x{wait.pc:x}"
            name = lock_name(self._program.file.symbols, wait.bit)
            parts.append(f"tasklet {wait.thread} waits for {name}{where}")
        return f"{'; '.join(parts)}: nobody is left who could release what they wait for"
