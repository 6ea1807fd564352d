# SPDX-License-Identifier: BSD-3-Clause
"""Facts about the value of a register: a constant, or how many bits it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

from ..ir.operands import Register

__all__ = ["UNKNOWN", "KnownRegisters", "RegisterFacts", "Width", "constant_facts", "width_facts"]


class Width(IntEnum):
    """How many bits a number has, unsigned or signed; in order of preference."""

    U8 = 1
    U16 = 2
    S8 = 3
    S16 = 4


_RANGES = {
    Width.U8: (0, 0xFF),
    Width.S8: (-0x80, 0x7F),
    Width.U16: (0, 0xFFFF),
    Width.S16: (-0x8000, 0x7FFF),
}


@dataclass(frozen=True, slots=True)
class RegisterFacts:
    """Facts about a register.

    Parameters
    ----------
    constant : int, optional
        Its value, if that is known.
    widths : frozenset of Width
        All the widths that its value is known to fit.
    """

    constant: int | None = None
    widths: frozenset[Width] = frozenset()

    @property
    def width(self) -> Width | None:
        """The preferred one of the widths."""
        return min(self.widths, default=None)

    def meet(self, other: RegisterFacts) -> RegisterFacts:
        """Return what holds wherever one or the other does."""
        if self is other:
            return self
        constant = self.constant if self.constant == other.constant else None
        return RegisterFacts(constant, self.widths & other.widths)


UNKNOWN = RegisterFacts()

# Registers that are missing are unknown.
KnownRegisters: TypeAlias = Mapping[Register, RegisterFacts]


@lru_cache(maxsize=4096)
def constant_facts(value: int) -> RegisterFacts:
    """Return the facts about a 32-bit constant."""
    number = value - (1 << 32) if value >> 31 else value
    fits = (width for width, (low, high) in _RANGES.items() if low <= number <= high)
    return RegisterFacts(value, frozenset(fits))


# A number of the first width has the others too.
_IMPLIED = {
    Width.U8: frozenset([Width.U8, Width.U16, Width.S16]),
    Width.U16: frozenset([Width.U16]),
    Width.S8: frozenset([Width.S8, Width.S16]),
    Width.S16: frozenset([Width.S16]),
}
_OF_WIDTH = {width: RegisterFacts(widths=implied) for width, implied in _IMPLIED.items()}


def width_facts(width: Width | None) -> RegisterFacts:
    """Return the facts about a number of a width."""
    return _OF_WIDTH[width] if width is not None else UNKNOWN
