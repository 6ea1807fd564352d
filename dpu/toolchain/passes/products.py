# SPDX-License-Identifier: BSD-3-Clause
"""Multiplications and divisions: which belong together, and what each becomes.

The DPU multiplies bytes. A product with a constant of few digits becomes shifts and additions, one
of operands that are known to be narrow a few products of bytes, any other a call of a routine of
`arithmetic`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from ..ir.blocks import Blocks
from ..ir.code import PRODUCTS, Code, Instruction, Operand
from ..ir.registers import LINK, SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2, ZERO
from .arithmetic import ROUTINES, routine_label

__all__ = ["Width", "expand_product", "pair_products"]

_MASK = 0xFFFF_FFFF
# Up to here a sequence is preferred to a call.
_MOST_DIGITS, _MOST_PRODUCTS = 7, 4
_WINDOW = 32
# Of no use before or after any of these.
_SCRATCH = sum(1 << r for r in (SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2, LINK))


class Width(IntEnum):
    """What is known of a number: how many bits it has, without or with a sign."""

    U8 = 1
    U16 = 2
    S8 = 3
    S16 = 4


# Bytes of an operand: which half of the multiplier's 16 bits, and by how much it counts.
_BYTES = {
    Width.U8: (("ul", 0),),
    Width.S8: (("sl", 0),),
    Width.U16: (("ul", 0), ("uh", 8)),
    Width.S16: (("ul", 0), ("sh", 8)),
}
_ALL_BYTES = (("ul", 0), ("uh", 8), ("ul", 16), ("uh", 24))
_PAIRS = {
    frozenset(["mul", "mulhu"]): "mulhu",
    frozenset(["mul", "mulh"]): "mulh",
    frozenset(["mul", "mulhsu"]): "mulhsu",
    frozenset(["div", "rem"]): "div",
    frozenset(["divu", "remu"]): "divu",
}
_COMMUTATIVE = frozenset(["mulh", "mulhu"])
_REMAINDERS = {"div": "rem", "divu": "remu"}


def pair_products(code: Code) -> None:
    """Compute in one what comes of the same operands: both words of a product; a remainder."""
    blocks = Blocks(code)
    for index, instruction in enumerate(code.items):
        if instruction.mnemonic in PRODUCTS:
            _pair(blocks, index) or _take_remainder(blocks, index)
    blocks.commit()


def _pair(blocks: Blocks, index: int) -> bool:
    first = blocks.items[index]
    result, left, right = first.values
    if result in (left, right):
        return False
    for other in range(index + 1, min(index + _WINDOW, len(blocks.items))):
        if not blocks.is_as_it_was(index, other):
            return False
        second = blocks.items[other]
        name = _PAIRS.get(frozenset([first.mnemonic, second.mnemonic]))
        same = second.values[1:] == (left, right) or (
            name in _COMMUTATIVE and second.values[1:] == (right, left)
        )
        if first.mnemonic == second.mnemonic or name is None or not same:
            if blocks.effects[other].writes & _bits(left, right):
                return False
            continue
        there = second.values[0]
        assert isinstance(there, int)
        if there == result:
            return False
        if not blocks.can_move(other, index, frozenset([index]), ignore=_SCRATCH):
            return False
        high = result if second.mnemonic in ("mul", "rem", "remu") else there
        low = there if high == result else result
        # Quotient and remainder, or high and low word.
        new = Instruction(name, "rrrr", (high, low, left, right))
        blocks.change({other}, {index: [new]})
        return True
    return False


def _bits(*registers: Operand) -> int:
    return sum({1 << register for register in registers if isinstance(register, int)})


def _take_remainder(blocks: Blocks, index: int) -> bool:
    """Replace a - (a / b) * b, which compilers make of a % b if they need a / b too."""
    divide = blocks.items[index]
    quotient, dividend, divisor = divide.values
    if divide.mnemonic not in _REMAINDERS or quotient in (dividend, divisor):
        return False
    for last in range(index + 2, min(index + _WINDOW, len(blocks.items))):
        if not blocks.is_as_it_was(index, last):
            return False
        subtract = blocks.items[last]
        if subtract.name != "sub:rrr" or subtract.values[1] != dividend:
            continue
        result, _, product = subtract.values
        assert isinstance(product, int)
        assert isinstance(result, int)
        middle = blocks.definition(last, product)
        if middle is None or middle <= index:
            continue
        multiply = blocks.items[middle]
        if multiply.mnemonic != "mul" or {*multiply.values[1:]} != {quotient, divisor}:
            continue
        used = [r for r in (quotient, dividend, divisor) if isinstance(r, int)]
        skip = frozenset([middle])
        if (
            all(blocks.is_kept(index, middle, register) for register in used)
            and blocks.is_kept(middle, last, used[1])
            and (result == product or blocks.is_dead(last, product))
            and not blocks.is_read(middle, last, product, skip)
            and result not in (quotient, divisor)
            and blocks.can_move(last, index, skip | {last})
        ):
            new = Instruction(divide.mnemonic, "rrrr", (quotient, result, dividend, divisor))
            blocks.change({middle, last}, {index: [new]})
            return True
    return False


def expand_product(
    instruction: Instruction,
    constant_of: Callable[[int], int | None],
    width_of: Callable[[int], Width | None],
    used: set[str],
) -> list[Instruction]:
    """Return what a multiplication or division becomes.

    Parameters
    ----------
    instruction : Instruction
        One of `PRODUCTS`.
    constant_of, width_of : callable
        What is known of a register.
    used : set of str
        The names of routines that are called are added.
    """
    mnemonic, form, values = instruction
    *results, left, right = (value for value in values if isinstance(value, int))
    if mnemonic == "mul" and form == "rrr":
        short = _short_product(results[0], left, right, constant_of, width_of)
        if short is not None:
            return short
    return _call(mnemonic, results, left, right, used)


def _move(result: int, source: int) -> list[Instruction]:
    if result == source:
        return []
    return [Instruction("or", "rri", (result, source, 0))]


def _call(
    mnemonic: str, results: list[int], left: int, right: int, used: set[str]
) -> list[Instruction]:
    routine = ROUTINES[mnemonic]
    used.add(routine.name)
    code = [
        *_move(routine.operand, left),
        *_move(SPARE, right),
        Instruction("call", "rri", (LINK, ZERO, routine_label(routine.name))),
    ]
    # A negative operand counts 2**32 too much in the high word of the unsigned product.
    if mnemonic in ("mulh", "mulhsu") and ZERO not in (left, right):
        code += _less_if_negative(left, right)
        if mnemonic == "mulh":
            code += _less_if_negative(right, left)
    if len(results) == 1:
        return code + _move(results[0], routine.result)
    return code + _move(results[0], routine.pair[0]) + _move(results[1], routine.pair[1])


def _less_if_negative(sign: int, value: int) -> list[Instruction]:
    high = ROUTINES["mulhu"].result
    return [
        Instruction("asr", "rri", (SPARE_2, sign, 31)),
        Instruction("and", "rrr", (SPARE_2, SPARE_2, value)),
        Instruction("sub", "rrr", (high, high, SPARE_2)),
    ]


def _short_product(
    result: int,
    left: int,
    right: int,
    constant_of: Callable[[int], int | None],
    width_of: Callable[[int], Width | None],
) -> list[Instruction] | None:
    if ZERO in (left, right):
        return [Instruction("or", "rri", (result, ZERO, 0))]
    candidates = [_byte_products(result, left, right, width_of(left), width_of(right))]
    for register, other in ((left, right), (right, left)):
        constant = constant_of(register)
        if constant is not None:
            candidates.append(_shifts(result, other, constant))
    found = [candidate for candidate in candidates if candidate is not None]
    return min(found, key=len) if found else None


def _digits(constant: int) -> list[tuple[int, int]]:
    """Return a number as few powers of two with signs: shift and sign, the lowest first."""
    digits = []
    for shift in range(32):
        if constant >> shift & 1:
            # A run of ones is the power above it less the lowest of the run.
            sign = -1 if constant >> shift & 3 == 3 else 1
            digits.append((shift, sign))
            constant = constant - sign * (1 << shift) & _MASK
    return digits


def _shifts(result: int, source: int, constant: int) -> list[Instruction] | None:
    digits = _digits(constant)
    if not digits:
        return [Instruction("or", "rri", (result, ZERO, 0))]
    if len(digits) > _MOST_DIGITS:
        return None
    # One that is added comes first; the last sum goes to the result.
    digits.sort(key=lambda digit: (-digit[1], digit[0]))
    code: list[Instruction] = []
    total = source
    for position, (shift, sign) in enumerate(digits):
        to = result if position == len(digits) - 1 else SCRATCH_LOW
        if position == 0 and sign < 0:
            code.append(Instruction("lsl", "rri", (SCRATCH_LOW, source, shift)))
            code.append(Instruction("sub", "rir", (to, 0, SCRATCH_LOW)))
        elif position == 0 and shift:
            code.append(Instruction("lsl", "rri", (to, source, shift)))
        elif position == 0:
            if len(digits) == 1:
                code += _move(to, source)
            continue
        else:
            mnemonic = "lsl_add" if sign > 0 else "lsl_sub"
            code.append(Instruction(mnemonic, "rrri", (to, total, source, shift)))
        total = to
    return code


def _byte_products(
    result: int, left: int, right: int, left_width: Width | None, right_width: Width | None
) -> list[Instruction] | None:
    wide = left_width is None or right_width is None
    if left_width is None and right_width is None:
        return None
    if left_width is None:
        left, right, left_width, right_width = right, left, right_width, left_width
    code: list[Instruction] = []
    firsts = _BYTES[left_width] if left_width is not None else ()
    seconds = _BYTES[right_width] if right_width is not None else _ALL_BYTES
    terms = []
    for name, shift in firsts:
        for other, further in seconds:
            if shift + further < 32:
                terms.append((name, left, other, right, shift + further, further >= 16))
    if len(terms) > _MOST_PRODUCTS:
        return None
    if wide:
        code.append(Instruction("lsr", "rri", (SCRATCH_HIGH, right, 16)))
    for position, (name, first, other, second, shift, is_high) in enumerate(terms):
        operand = SCRATCH_HIGH if is_high and wide else second
        # The signed one is the first of two.
        names, operands = (name, other), (first, operand)
        if other[0] == "s" and name[0] == "u":
            names, operands = (other, name), (operand, first)
        last = position == len(terms) - 1
        to = SCRATCH_LOW if position == 0 else SPARE_2
        if last and position == 0:
            to = result
        code.append(Instruction(f"mul_{names[0]}_{names[1]}", "rrr", (to, *operands)))
        if position:
            goal = result if last else SCRATCH_LOW
            code.append(Instruction("lsl_add", "rrri", (goal, SCRATCH_LOW, SPARE_2, shift)))
    return code
