# SPDX-License-Identifier: BSD-3-Clause
"""Expands multiplications and divisions.

The DPU multiplies bytes. A product with a constant of few digits becomes shifts and additions, one
of operands that are known to be narrow a few products of bytes, any other a call of a routine of
`arithmetic`.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.code import Instruction
from ..ir.operands import Register
from ..ir.registers import LINK, SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2, ZERO
from .arithmetic import ROUTINES, routine_label
from .register_facts import UNKNOWN, KnownRegisters, Width

__all__ = ["expand_product"]

_MASK = 0xFFFF_FFFF
# Longer sequences are calls of a routine.
_MAX_DIGITS, _MAX_BYTE_PRODUCTS = 7, 4


class _Digit(NamedTuple):
    """A power of two that is added or subtracted."""

    shift: int
    sign: int


class _Byte(NamedTuple):
    """A byte of an operand: the name that the multiplier has for it, and its weight in bits."""

    name: str
    shift: int


_BYTES = {
    Width.U8: (_Byte("ul", 0),),
    Width.S8: (_Byte("sl", 0),),
    Width.U16: (_Byte("ul", 0), _Byte("uh", 8)),
    Width.S16: (_Byte("ul", 0), _Byte("sh", 8)),
}
_ALL_BYTES = (_Byte("ul", 0), _Byte("uh", 8), _Byte("ul", 16), _Byte("uh", 24))


def expand_product(
    instruction: Instruction, known: KnownRegisters, routines: set[str]
) -> list[Instruction]:
    """Return the instructions that compute a multiplication or division.

    Parameters
    ----------
    instruction : Instruction
        One of `PRODUCTS`, with one or two results.
    known : mapping of Register to RegisterFacts
        What is known about the operands.
    routines : set of str
        The name of the routine that is called is added.
    """
    registers = [instruction.register(position) for position in range(len(instruction.operands))]
    *results, left, right = registers
    if instruction.mnemonic == "mul" and len(results) == 1:
        short = _short_product(results[0], left, right, known)
        if short is not None:
            return short
    return _call(instruction.mnemonic, results, left, right, routines)


def _move(result: Register, source: Register) -> list[Instruction]:
    if result == source:
        return []
    return [Instruction("or", "rri", (result, source, 0))]


def _load_zero(result: Register) -> list[Instruction]:
    return [Instruction("or", "rri", (result, ZERO, 0))]


def _call(
    mnemonic: str, results: list[Register], left: Register, right: Register, routines: set[str]
) -> list[Instruction]:
    routine = ROUTINES[mnemonic]
    routines.add(routine.name)
    code = [
        *_move(routine.operand, left),
        *_move(SPARE, right),
        Instruction("call", "rri", (LINK, ZERO, routine_label(routine.name))),
    ]

    # A negative operand counts 2**32 too much in the high word of the unsigned product.
    if mnemonic in ("mulh", "mulhsu") and ZERO not in (left, right):
        code += _subtract_if_negative(left, right)
        if mnemonic == "mulh":
            code += _subtract_if_negative(right, left)

    sources = routine.pair if len(results) == 2 else (routine.result,)
    for result, source in zip(results, sources, strict=True):
        code += _move(result, source)
    return code


def _subtract_if_negative(sign: Register, value: Register) -> list[Instruction]:
    """Subtract a value from the high word if another one is negative."""
    high = ROUTINES["mulhu"].result
    return [
        Instruction("asr", "rri", (SPARE_2, sign, 31)),
        Instruction("and", "rrr", (SPARE_2, SPARE_2, value)),
        Instruction("sub", "rrr", (high, high, SPARE_2)),
    ]


def _short_product(
    result: Register, left: Register, right: Register, known: KnownRegisters
) -> list[Instruction] | None:
    """Return the shortest sequence without a call; None if there is none."""
    if ZERO in (left, right):
        return _load_zero(result)
    facts = {register: known.get(register, UNKNOWN) for register in (left, right)}
    candidates = [_byte_products(result, left, right, facts[left].width, facts[right].width)]
    for register, other in ((left, right), (right, left)):
        constant = facts[register].constant
        if constant is not None:
            candidates.append(_shifts(result, other, constant))
    found = [candidate for candidate in candidates if candidate is not None]
    return min(found, key=len) if found else None


def _digits(constant: int) -> list[_Digit]:
    """Return a number as few powers of two with signs, the lowest first."""
    digits = []
    for shift in range(32):
        if constant >> shift & 1:
            # A run of ones is the power above it less the lowest of the run.
            sign = -1 if constant >> shift & 3 == 3 else 1
            digits.append(_Digit(shift, sign))
            constant = constant - sign * (1 << shift) & _MASK
    return digits


def _shifts(result: Register, source: Register, constant: int) -> list[Instruction] | None:
    """Return a product with a constant as a sum of shifted operands."""
    digits = _digits(constant)
    if not digits:
        return _load_zero(result)
    if len(digits) > _MAX_DIGITS:
        return None

    # One that is added comes first; the last sum goes to the result.
    first, *others = sorted(digits, key=lambda digit: (-digit.sign, digit.shift))
    total = source if others and first == _Digit(0, 1) else SCRATCH_LOW if others else result
    code = _first_term(total, source, first)
    for number, (shift, sign) in enumerate(others, 1):
        to = result if number == len(others) else SCRATCH_LOW
        mnemonic = "lsl_add" if sign > 0 else "lsl_sub"
        code.append(Instruction(mnemonic, "rrri", (to, total, source, shift)))
        total = to
    return code


def _first_term(result: Register, source: Register, digit: _Digit) -> list[Instruction]:
    if digit.sign < 0:
        return [
            Instruction("lsl", "rri", (SCRATCH_LOW, source, digit.shift)),
            Instruction("sub", "rir", (result, 0, SCRATCH_LOW)),
        ]
    if digit.shift:
        return [Instruction("lsl", "rri", (result, source, digit.shift))]
    return _move(result, source)


def _byte_products(
    result: Register,
    left: Register,
    right: Register,
    left_width: Width | None,
    right_width: Width | None,
) -> list[Instruction] | None:
    """Return a product of operands, of which one at least is narrow, by products of bytes."""
    if left_width is None:
        left, right, left_width, right_width = right, left, right_width, left_width
    if left_width is None:
        return None
    is_wide = right_width is None
    seconds = _BYTES[right_width] if right_width is not None else _ALL_BYTES
    terms = [
        (first, second)
        for first in _BYTES[left_width]
        for second in seconds
        if first.shift + second.shift < 32
    ]
    if len(terms) > _MAX_BYTE_PRODUCTS:
        return None

    code: list[Instruction] = []
    if is_wide:
        code.append(Instruction("lsr", "rri", (SCRATCH_HIGH, right, 16)))
    for number, (first, second) in enumerate(terms):
        is_first, is_last = number == 0, number == len(terms) - 1
        operand = SCRATCH_HIGH if is_wide and second.shift >= 16 else right
        to = SPARE_2 if not is_first else result if is_last else SCRATCH_LOW
        code.append(_byte_product(to, (first.name, left), (second.name, operand)))
        if not is_first:
            goal = result if is_last else SCRATCH_LOW
            shift = first.shift + second.shift
            code.append(Instruction("lsl_add", "rrri", (goal, SCRATCH_LOW, SPARE_2, shift)))
    return code


def _byte_product(
    result: Register, first: tuple[str, Register], second: tuple[str, Register]
) -> Instruction:
    """Return the product of two bytes, each given by its name and the register that it is in."""
    if second[0].startswith("s") and first[0].startswith("u"):
        # The multiplier takes the signed byte first.
        first, second = second, first
    return Instruction(f"mul_{first[0]}_{second[0]}", "rrr", (result, first[1], second[1]))
