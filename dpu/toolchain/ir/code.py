# SPDX-License-Identifier: BSD-3-Clause
"""DPU instructions before they have addresses, with labels instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ... import _isa
from ...isa import FORMS_BY_NAME
from ..errors import ToolchainError, TranslationError
from .operands import Condition, Label, LabelKind, Operand, Register
from .registers import ZERO

__all__ = ["ASSEMBLY", "PRODUCTS", "Code", "Instruction"]

# Operations that the DPU does not have, with a result and two operands; the pass `products`
# expands them.
PRODUCTS = frozenset(["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"])

# The mnemonic of instructions of assembly in the source, which no pass changes. Their form is the
# name of the form in the instruction table, and their conditions are codes.
ASSEMBLY = "asm"


class Instruction(NamedTuple):
    """One instruction: its mnemonic, its form, and the operands in the order of the form."""

    mnemonic: str
    form: str
    operands: tuple[Operand, ...]

    @property
    def name(self) -> str:
        """The name of the form, such as ``add:rri``."""
        return f"{self.mnemonic}:{self.form}"

    @property
    def target(self) -> Label | None:
        """The label that is its last operand, if one is."""
        last = self.operands[-1] if self.operands else None
        return last if isinstance(last, Label) else None

    @property
    def is_jump(self) -> bool:
        """True if it jumps to a label unconditionally."""
        return (
            self.mnemonic == "call"
            and self.form == "zri"
            and self.operands[1] == ZERO
            and isinstance(self.operands[2], Label)
        )

    @property
    def is_indirect_jump(self) -> bool:
        """True if it jumps to the address in a register, as returns do."""
        return (
            self.mnemonic == "call"
            and self.form == "zri"
            and not isinstance(self.operands[2], Label)
        )

    def register(self, position: int) -> Register:
        """Return an operand that is a register."""
        operand = self.operands[position]
        assert isinstance(operand, Register), f"operand {position} of {self}"
        return operand

    def immediate(self, position: int) -> int | None:
        """Return an operand that is an immediate, None if it is a label."""
        operand = self.operands[position]
        if isinstance(operand, Label):
            return None
        assert isinstance(operand, int), f"operand {position} of {self}"
        return operand

    def condition(self, position: int) -> Condition:
        """Return an operand that is a condition."""
        operand = self.operands[position]
        assert isinstance(operand, Condition), f"operand {position} of {self}"
        return operand

    def with_operand(self, position: int, operand: Operand) -> Instruction:
        """Return the instruction with another operand."""
        before, after = self.operands[:position], self.operands[position + 1 :]
        return Instruction(self.mnemonic, self.form, (*before, operand, *after))


class Code:
    """A sequence of instructions with labels."""

    def __init__(self) -> None:
        self.items: list[Instruction] = []
        # The index of the instruction that a label stands before.
        self.labels: dict[Label, int] = {}
        # Labels that other code or an address in a register may lead to.
        self.entries: set[Label] = set()
        self._local_labels = 0

    def emit(self, mnemonic: str, form: str, *operands: Operand) -> None:
        """Append an instruction."""
        self.items.append(Instruction(mnemonic, form, operands))

    def place(self, label: Label) -> None:
        """Put a label before the next instruction."""
        self.labels[label] = len(self.items)

    def new_label(self) -> Label:
        """Return a label that has not been used."""
        self._local_labels += 1
        return Label(LabelKind.LOCAL, self._local_labels)

    def move(self, result: Register, source: Register) -> None:
        """Append a copy of a register, unless it is the same one."""
        if result != source:
            self.emit("or", "rri", result, source, 0)

    def load_immediate(self, result: Register, value: int | Label) -> None:
        """Append a load of a 32-bit number, or of the index of the instruction at a label."""
        operand = value if isinstance(value, Label) else value & 0xFFFF_FFFF
        self.emit("or", "rri", result, ZERO, operand)

    def jump(self, target: Label) -> None:
        """Append a jump."""
        self.emit("call", "zri", 0, ZERO, target)

    def jump_if(self, condition: Condition, left: Register, right: int, target: Label) -> None:
        """Append a jump that is taken if a register and a number compare as stated."""
        self.emit("sub", "zrici", 0, left, right, condition, target)

    def position(self, label: Label) -> int:
        """Return the index of the instruction at a label; TranslationError if there is none."""
        if label not in self.labels:
            raise TranslationError(f"a call or jump leads to {label}, where there is no code")
        return self.labels[label]

    def entry_positions(self) -> set[int]:
        """Return the positions that control may enter from elsewhere."""
        return {self.labels[label] for label in self.entries if label in self.labels}

    def replace(self, drop: set[int], put: Mapping[int, Sequence[Instruction]]) -> None:
        """Drop instructions and put sequences in place of others; labels move along.

        Parameters
        ----------
        drop : set of int
            Positions to remove.
        put : mapping of int to sequence of Instruction
            What replaces the instruction at a position, also if that is in `drop`.
        """
        positions = []
        items: list[Instruction] = []
        for index, instruction in enumerate(self.items):
            positions.append(len(items))
            if index in put:
                items += put[index]
            elif index not in drop:
                items.append(instruction)
        positions.append(len(items))

        for label, position in self.labels.items():
            self.labels[label] = positions[position]
        self.items = items

    def words(self) -> list[int]:
        """Encode the instructions."""
        return [self._encode(instruction) for instruction in self.items]

    def _encode(self, instruction: Instruction) -> int:
        name = instruction.form if instruction.mnemonic == ASSEMBLY else instruction.name
        values = [self._field(name, operand) for operand in instruction.operands]
        word = _isa.encode(_form_index(name), values)
        if word is None:
            raise TranslationError(f"{name} cannot encode the operands {values}")
        return word

    def _field(self, name: str, operand: Operand) -> int:
        if isinstance(operand, Label):
            return self.position(operand)
        return _condition_code(name, operand) if isinstance(operand, Condition) else operand


@cache
def _form_index(name: str) -> int:
    return FORMS_BY_NAME[name].index


@cache
def _condition_code(name: str, condition: Condition) -> int:
    code = FORMS_BY_NAME[name].condition_code(condition.value)
    if code is None:
        raise ToolchainError(f"{name} has no condition {condition}")
    return code
