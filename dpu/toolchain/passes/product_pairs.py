# SPDX-License-Identifier: BSD-3-Clause
"""Joins products of the same operands: both words of a product, or quotient and remainder."""

from __future__ import annotations

from ..ir.code import PRODUCTS, Code, Instruction
from ..ir.effects import register_set
from ..ir.flow_graph import FlowGraph
from ..ir.registers import LINK, SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2
from ..ir.rewriter import Rewriter

__all__ = ["pair_products"]

_WINDOW = 32
# Products write these, and nothing is live in them before or after.
_SCRATCH = register_set(SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2, LINK)
_PAIRS = {
    frozenset(["mul", "mulhu"]): "mulhu",
    frozenset(["mul", "mulh"]): "mulh",
    frozenset(["mul", "mulhsu"]): "mulhsu",
    frozenset(["div", "rem"]): "div",
    frozenset(["divu", "remu"]): "divu",
}
_COMMUTATIVE = frozenset(["mulh", "mulhu"])
# Their result is the second of a pair: the low word, or the remainder.
_SECOND = frozenset(["mul", "rem", "remu"])
_DIVISIONS = frozenset(["div", "divu"])


def pair_products(code: Code) -> None:
    """Give operations on the same operands one instruction with two results."""
    rewriter = Rewriter(code, FlowGraph(code))
    for index, instruction in enumerate(rewriter.items):
        if instruction.mnemonic in PRODUCTS:
            _pair(rewriter, index) or _take_remainder(rewriter, index)
    rewriter.commit()


def _pair(rewriter: Rewriter, index: int) -> bool:
    """Join a product with a later one."""
    first = rewriter.items[index]
    result, left, right = (first.register(position) for position in range(3))
    if result in (left, right):
        return False
    for other in range(index + 1, min(index + _WINDOW, len(rewriter.items))):
        if not rewriter.is_unchanged(index, other):
            return False
        second = rewriter.items[other]
        name = _joint_name(first, second)
        if name is None:
            if rewriter.effects[other].writes & register_set(left, right):
                return False
            continue

        there = second.register(0)
        if there == result:
            return False
        if not rewriter.can_move(other, index, frozenset([index]), ignore=_SCRATCH):
            return False
        results = (result, there) if second.mnemonic in _SECOND else (there, result)
        rewriter.change({other}, {index: [Instruction(name, "rrrr", (*results, left, right))]})
        return True
    return False


def _joint_name(first: Instruction, second: Instruction) -> str | None:
    """Return the operation that has the results of two; None if they do not belong together."""
    name = _PAIRS.get(frozenset([first.mnemonic, second.mnemonic]))
    left, right = first.operands[1:]
    if name is None:
        return None
    is_same = second.operands[1:] == (left, right)
    is_exchanged = second.operands[1:] == (right, left)
    return name if is_same or (name in _COMMUTATIVE and is_exchanged) else None


def _take_remainder(rewriter: Rewriter, index: int) -> bool:
    """Replace ``a - a / b * b``, which compilers make of ``a % b`` beside ``a / b``."""
    divide = rewriter.items[index]
    quotient, dividend, divisor = (divide.register(position) for position in range(3))
    if divide.mnemonic not in _DIVISIONS or quotient in (dividend, divisor):
        return False
    for last in range(index + 2, min(index + _WINDOW, len(rewriter.items))):
        if not rewriter.is_unchanged(index, last):
            return False
        multiply = _multiplication_of(rewriter, index, last)
        if multiply is not None and _is_remainder(rewriter, index, multiply, last):
            result = rewriter.items[last].register(0)
            new = Instruction(divide.mnemonic, "rrrr", (quotient, result, dividend, divisor))
            rewriter.change({multiply, last}, {index: [new]})
            return True
    return False


def _multiplication_of(rewriter: Rewriter, index: int, last: int) -> int | None:
    """Return the ``a / b * b`` that an instruction subtracts from ``a``."""
    divide, subtract = rewriter.items[index], rewriter.items[last]
    quotient, dividend, divisor = divide.operands
    if subtract.name != "sub:rrr" or subtract.operands[1] != dividend:
        return None
    middle = rewriter.definition(last, subtract.register(2))
    if middle is None or middle <= index:
        return None
    multiply = rewriter.items[middle]
    is_product = multiply.mnemonic == "mul" and {*multiply.operands[1:]} == {quotient, divisor}
    return middle if is_product else None


def _is_remainder(rewriter: Rewriter, index: int, multiply: int, last: int) -> bool:
    """Tell whether a subtraction has the remainder, and may be where the division is."""
    quotient, dividend, divisor = (rewriter.items[index].register(i) for i in range(3))
    result, _, product = (rewriter.items[last].register(i) for i in range(3))
    dropped = frozenset([multiply])
    return (
        all(
            rewriter.is_preserved(index, multiply, register)
            for register in (quotient, dividend, divisor)
        )
        and rewriter.is_preserved(multiply, last, dividend)
        and (result == product or rewriter.is_dead(last, product))
        and not rewriter.is_read(multiply, last, product, dropped)
        and result not in (quotient, divisor)
        and rewriter.can_move(last, index, dropped | {last})
    )
