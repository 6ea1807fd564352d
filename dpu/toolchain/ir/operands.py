# SPDX-License-Identifier: BSD-3-Clause
"""The operands of DPU instructions before they are encoded."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

__all__ = ["Condition", "Label", "LabelKind", "Operand", "Register", "code_label"]


class Register(int):
    """A register of the DPU: 0 to 23, or a constant register (`zero`, `id`, ...) from 24 on."""

    __slots__ = ()


class Condition(StrEnum):
    """A condition on the result of an instruction, by its name in the instruction table."""

    TRUE = "true"
    FALSE = "false"
    ZERO = "z"
    NOT_ZERO = "nz"
    # The result is zero and so was the last one: for values of two words.
    BOTH_ZERO = "xz"
    NOT_BOTH_ZERO = "xnz"
    PLUS = "pl"
    MAX = "max"
    SMALL = "small"
    LESS_SIGNED = "lts"
    LESS_EQUAL_SIGNED = "les"
    GREATER_SIGNED = "gts"
    GREATER_EQUAL_SIGNED = "ges"
    LESS_UNSIGNED = "ltu"
    LESS_EQUAL_UNSIGNED = "leu"
    GREATER_UNSIGNED = "gtu"
    GREATER_EQUAL_UNSIGNED = "geu"

    @property
    def negated(self) -> Condition | None:
        """The condition that holds exactly if this one does not; None if there is none."""
        return _NEGATED.get(self)

    @property
    def swapped(self) -> Condition | None:
        """The same comparison with its operands exchanged; None if this is no comparison."""
        return _SWAPPED.get(self)

    @property
    def reads_zero_flag(self) -> bool:
        """True if the condition depends on the zero flag of the instruction before."""
        return self in (Condition.BOTH_ZERO, Condition.NOT_BOTH_ZERO)


def _both_ways(*pairs: tuple[Condition, Condition]) -> dict[Condition, Condition]:
    return dict(pairs) | {second: first for first, second in pairs}


_NEGATED = _both_ways(
    (Condition.ZERO, Condition.NOT_ZERO),
    (Condition.BOTH_ZERO, Condition.NOT_BOTH_ZERO),
    (Condition.LESS_SIGNED, Condition.GREATER_EQUAL_SIGNED),
    (Condition.LESS_UNSIGNED, Condition.GREATER_EQUAL_UNSIGNED),
    (Condition.GREATER_SIGNED, Condition.LESS_EQUAL_SIGNED),
    (Condition.GREATER_UNSIGNED, Condition.LESS_EQUAL_UNSIGNED),
)
_SWAPPED = _both_ways(
    (Condition.LESS_SIGNED, Condition.GREATER_SIGNED),
    (Condition.LESS_UNSIGNED, Condition.GREATER_UNSIGNED),
    (Condition.LESS_EQUAL_SIGNED, Condition.GREATER_EQUAL_SIGNED),
    (Condition.LESS_EQUAL_UNSIGNED, Condition.GREATER_EQUAL_UNSIGNED),
)


class LabelKind(StrEnum):
    """Kinds of the keys of labels."""

    # An address of the linked RISC-V file.
    CODE = "code"
    # The name of an arithmetic routine, or of a part of the program.
    ROUTINE = "routine"
    PART = "part"
    # A number that makes it unique.
    LOCAL = "local"


class Label(NamedTuple):
    """A position in the code, which stays with its instruction when code moves."""

    kind: LabelKind
    key: int | str

    def __str__(self) -> str:
        return f"{self.key:#x}" if isinstance(self.key, int) else self.key


def code_label(address: int) -> Label:
    """Return the label for an address of the linked RISC-V file."""
    return Label(LabelKind.CODE, address)


# A number that is not a register is an immediate.
Operand: TypeAlias = Register | int | Condition | Label
