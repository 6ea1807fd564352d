# SPDX-License-Identifier: BSD-3-Clause
"""The DPU register that each RISC-V register is mapped to.

The two registers of a pair are exchanged: RISC-V has the low word of 64 bits in the even register,
the DPU in the odd one. RISC-V registers that are not mapped are `target.RESERVED_REGISTERS`.
"""

from __future__ import annotations

from ...isa import CONSTANT_REGISTERS, REGISTER_COUNT
from ..errors import TranslationError
from .operands import Register

__all__ = [
    "ARGUMENTS",
    "CALLEE_SAVED",
    "CALLER_SAVED",
    "ID",
    "ID8",
    "LINK",
    "REGISTERS",
    "RESULTS",
    "RETURN",
    "SCRATCH_HIGH",
    "SCRATCH_LOW",
    "SPARE",
    "SPARE_2",
    "STACK_POINTER",
    "ZERO",
    "pair_of",
    "register_of",
]

REGISTERS = {
    1: Register(23),
    2: Register(22),
    5: Register(12),
    6: Register(11),
    7: Register(10),
    8: Register(15),
    9: Register(14),
    10: Register(1),
    11: Register(0),
    12: Register(3),
    13: Register(2),
    14: Register(5),
    15: Register(4),
    16: Register(7),
    17: Register(6),
    18: Register(17),
    19: Register(16),
    20: Register(19),
    21: Register(18),
}

# The translator's own: the pair of multiplication and division, the return address of a routine,
# and two more. None is live between two instructions of the compiler.
SCRATCH_HIGH, SCRATCH_LOW = Register(8), Register(9)
LINK, SPARE, SPARE_2 = Register(13), Register(21), Register(20)
STACK_POINTER, RETURN = Register(22), Register(23)
ZERO, ID, ID8 = (
    Register(REGISTER_COUNT + CONSTANT_REGISTERS.index(name)) for name in ("zero", "id", "id8")
)

ARGUMENTS = frozenset(map(Register, range(8)))
RESULTS = frozenset(map(Register, range(2)))
CALLEE_SAVED = frozenset(map(Register, (14, 15, 16, 17, 18, 19, 22)))
CALLER_SAVED = frozenset(map(Register, range(REGISTER_COUNT))) - CALLEE_SAVED


def register_of(number: int) -> Register:
    """Return the DPU register for ``x<number>``; TranslationError if it is reserved."""
    if number == 0:
        return ZERO
    if number not in REGISTERS:
        raise TranslationError(f"register x{number} is reserved, but the compiler used it")
    return REGISTERS[number]


def pair_of(number: int) -> Register:
    """Return the even register of the DPU pair for ``x<number>`` and the one after it."""
    if number % 2 or number == 2:
        raise TranslationError(f"register x{number} does not begin a pair")
    return register_of(number + 1)
