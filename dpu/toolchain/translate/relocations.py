# SPDX-License-Identifier: BSD-3-Clause
"""Relocation types of RISC-V ELF files, by the names of the psABI, and what they refer to."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..errors import TranslationError
from ..ir.operands import Label

__all__ = ["CALLS", "RESOLVED_IN_DATA", "RESOLVED_IN_TEXT", "Reference", "Relocation", "type_of"]


class Relocation(IntEnum):
    """Relocation types that linked code and data of C for the DPU can have."""

    NONE = 0
    WORD = 1
    BRANCH = 16
    JAL = 17
    CALL = 18
    CALL_PLT = 19
    PCREL_HI20 = 23
    PCREL_LO12_I = 24
    PCREL_LO12_S = 25
    HI20 = 26
    LO12_I = 27
    LO12_S = 28
    RELAX = 51
    SET8 = 54


CALLS = frozenset([Relocation.CALL, Relocation.CALL_PLT])
# Distances that the linker has put into instructions, which are also translated from there.
RESOLVED_IN_TEXT = frozenset([Relocation.BRANCH, Relocation.JAL, Relocation.RELAX])
# The low byte of an atomic bit's address is the same on the DPU.
RESOLVED_IN_DATA = frozenset([Relocation.SET8])


def type_of(number: int) -> Relocation:
    """Return the relocation type of a number; TranslationError if it is not supported."""
    try:
        return Relocation(number)
    except ValueError:
        raise TranslationError(f"relocation type {number} is not supported") from None


class Reference(NamedTuple):
    """Reference of an instruction: a label in the code, or the address of data."""

    kind: Relocation
    value: int | Label
