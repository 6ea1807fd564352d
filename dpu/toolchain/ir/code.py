# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of the DPU in the making, with labels in place of addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from ... import _isa
from ...isa import FORMS_BY_NAME
from ..errors import ToolchainError, TranslationError
from .registers import ZERO

__all__ = ["PRODUCTS", "Code", "Instruction", "Label", "Operand", "replace"]

# What the DPU has no instruction for: results and two operands, until `products` expands them.
PRODUCTS = frozenset(["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"])


class Label(NamedTuple):
    """A place in the code: an address of the linked file, or a name of the translator's own."""

    kind: str
    key: int | str


Operand: TypeAlias = int | str | Label


class Instruction(NamedTuple):
    """One instruction: its form, and registers, numbers, conditions and labels in its order."""

    mnemonic: str
    form: str
    values: tuple[Operand, ...]

    @property
    def name(self) -> str:
        """The form, as ``add:rri``."""
        return f"{self.mnemonic}:{self.form}"

    @property
    def target(self) -> Label | None:
        """The label that it names as its last operand."""
        last = self.values[-1] if self.values else None
        return last if isinstance(last, Label) else None


@cache
def _index_of(name: str) -> int:
    return FORMS_BY_NAME[name].index


@cache
def _condition(name: str, condition: str) -> int:
    code = FORMS_BY_NAME[name].condition_code(condition)
    if code is None:
        raise ToolchainError(f"{name} has no condition {condition}")
    return code


class Code:
    """A sequence of instructions and the labels between them."""

    def __init__(self) -> None:
        self.items: list[Instruction] = []
        self.labels: dict[Label, int] = {}
        # Labels that code outside, or an address in a register, may lead to.
        self.entries: set[Label] = set()
        self._fresh = 0

    def emit(self, mnemonic: str, form: str, *values: Operand) -> None:
        """Append an instruction."""
        self.items.append(Instruction(mnemonic, form, values))

    def place(self, label: Label) -> None:
        """Put a label where the next instruction will be."""
        self.labels[label] = len(self.items)

    def fresh(self) -> Label:
        """Return a label that does not exist yet."""
        self._fresh += 1
        return Label("local", self._fresh)

    def move(self, result: int, source: int) -> None:
        """Copy a register, if it is not the same."""
        if result != source:
            self.emit("or", "rri", result, source, 0)

    def put(self, result: int, value: int | Label) -> None:
        """Load a number of 32 bits or the index of an instruction."""
        wrapped = value if isinstance(value, Label) else value & 0xFFFF_FFFF
        self.emit("or", "rri", result, ZERO, wrapped)

    def jump(self, target: Label) -> None:
        """Go to a label."""
        self.emit("call", "zri", 0, ZERO, target)

    def jump_if(self, condition: str, left: int, right: int, target: Label) -> None:
        """Go to a label if a register compares so with a number."""
        self.emit("sub", "zrici", 0, left, right, condition, target)

    def position(self, label: Label) -> int:
        """Return the index of the instruction at a label."""
        if label not in self.labels:
            where = f"{label.key:#x}" if isinstance(label.key, int) else label.key
            raise TranslationError(f"there is no code at {where}, which is called or jumped to")
        return self.labels[label]

    def entry_positions(self) -> set[int]:
        """Return where control may come from elsewhere."""
        return {self.labels[label] for label in self.entries if label in self.labels}

    def words(self) -> list[int]:
        """Encode it."""
        return [self._word(instruction) for instruction in self.items]

    def _word(self, instruction: Instruction) -> int:
        values = [self._value(instruction.name, value) for value in instruction.values]
        word = _isa.encode(_index_of(instruction.name), values)
        if word is None:
            raise TranslationError(f"{instruction.name} cannot have the operands {values}")
        return word

    def _value(self, name: str, value: Operand) -> int:
        if isinstance(value, Label):
            return self.position(value)
        return _condition(name, value) if isinstance(value, str) else value


def replace(code: Code, drop: set[int], put: Mapping[int, Sequence[Instruction]]) -> None:
    """Drop instructions and put others in places of those that stay; labels follow."""
    places = []
    items: list[Instruction] = []
    for index, instruction in enumerate(code.items):
        places.append(len(items))
        if index in put:
            items += put[index]
        elif index not in drop:
            items.append(instruction)
    places.append(len(items))
    for label, position in code.labels.items():
        code.labels[label] = places[position]
    code.items = items
