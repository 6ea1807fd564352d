# SPDX-License-Identifier: BSD-3-Clause
"""Which register of the DPU stands for which of RISC-V.

The two of a pair change places: RISC-V has the low word of 64 bits in the even register, the DPU in
the odd one. What is not here is reserved, and the compiler is told so.
"""

from __future__ import annotations

from ...isa import CONSTANT_REGISTERS, REGISTER_COUNT
from ..errors import TranslationError

__all__ = [
    "ARGUMENTS",
    "CALL_CHANGES",
    "CALL_KEEPS",
    "ID",
    "ID8",
    "LINK",
    "REGISTERS",
    "RETURN",
    "SCRATCH_HIGH",
    "SCRATCH_LOW",
    "SPARE",
    "SPARE_2",
    "ZERO",
    "pair_of",
    "register_of",
]

REGISTERS = {
    1: 23,
    2: 22,
    5: 12,
    6: 11,
    7: 10,
    8: 15,
    9: 14,
    10: 1,
    11: 0,
    12: 3,
    13: 2,
    14: 5,
    15: 4,
    16: 7,
    17: 6,
    18: 17,
    19: 16,
    20: 19,
    21: 18,
}

# The pair of multiplication and division, and what else the translator needs for itself.
SCRATCH_HIGH, SCRATCH_LOW, LINK, SPARE, SPARE_2 = 8, 9, 13, 21, 20
RETURN = 23
ZERO, ID, ID8 = (REGISTER_COUNT + CONSTANT_REGISTERS.index(name) for name in ("zero", "id", "id8"))

ARGUMENTS = frozenset(range(8))
CALL_KEEPS = frozenset((14, 15, 16, 17, 18, 19, 22))
CALL_CHANGES = frozenset(range(REGISTER_COUNT)) - CALL_KEEPS


def register_of(number: int) -> int:
    """Return the DPU's register for ``x<number>``; TranslationError if it is reserved."""
    if number == 0:
        return ZERO
    if number not in REGISTERS:
        raise TranslationError(f"register x{number} is reserved, but the compiler used it")
    return REGISTERS[number]


def pair_of(number: int) -> int:
    """Return the even register of the DPU's pair for ``x<number>`` and the one after it."""
    if number % 2 or number == 2:
        raise TranslationError(f"register x{number} does not begin a pair")
    return register_of(number + 1)
