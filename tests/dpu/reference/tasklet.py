# SPDX-License-Identifier: BSD-3-Clause
"""A tasklet, and an instruction that it executes."""

from __future__ import annotations

from dataclasses import dataclass, field

from .conditions import Outcome
from .forms import Form
from .values import MASK32, TOP, signed

REGISTERS = 24
IRAM_WORDS = 4096


@dataclass
class Tasklet:
    """State of one tasklet."""

    id: int
    registers: list[int] = field(default_factory=lambda: [0] * REGISTERS)
    zero: bool = False
    carry: bool = False
    pc: int = 0

    def read(self, number: int) -> int:
        """Read a register, or one of the constants that follow them."""
        if number < REGISTERS:
            return self.registers[number]
        constants = [0, 1, MASK32, TOP, self.id, 2 * self.id, 4 * self.id, 8 * self.id]
        return constants[number - REGISTERS]

    def read_pair(self, number: int) -> int:
        return self.registers[number] << 32 | self.registers[number + 1]

    def write_pair(self, number: int, value: int) -> None:
        self.registers[number] = value >> 32 & MASK32
        self.registers[number + 1] = value & MASK32


class Instruction:
    """A form with the operands of one word, for one tasklet."""

    def __init__(self, form: Form, word: int, tasklet: Tasklet) -> None:
        self.form = form
        self.tasklet = tasklet
        self.operands = form.operands_of(word)
        self.name = form.mnemonic.partition(".")[0]

    def has(self, operand: str) -> bool:
        return operand in self.operands

    def field(self, operand: str) -> int:
        """Give a number as the word has it, sign-extended if it is signed."""
        return self.operands[operand]

    def register(self, operand: str) -> int:
        return self.tasklet.read(self.operands[operand])

    @property
    def second(self) -> int:
        """The operand that is a register, a number or an amount, as the form has it."""
        for operand in ("imm", "shift"):
            if self.has(operand):
                return self.operands[operand] & MASK32
        return self.register("rb")

    @property
    def first(self) -> int:
        return self.register("ra" if self.has("ra") else "rb")

    def set_result(self, x: int) -> None:
        """Write a 32-bit result to where the form has it, extended as it says."""
        match self.form.destination:
            case "r32":
                self.tasklet.registers[self.field("rc")] = x
            case "d64s":
                self.tasklet.write_pair(self.field("dc"), signed(x))
            case "d64u":
                self.tasklet.write_pair(self.field("dc"), x)
            case "d64":
                raise AssertionError(f"{self.form} has a result of 64 bits")

    def holds(self, outcome: Outcome) -> bool:
        return outcome.holds(self.form.conditions[self.field("cc")])

    def conclude(self, outcome: Outcome) -> None:
        """Jump if there is a condition to do so and it holds."""
        self.tasklet.pc += 1
        if self.has("pc") and self.holds(outcome):
            self.tasklet.pc = self.field("pc")
        self.tasklet.pc %= IRAM_WORDS
