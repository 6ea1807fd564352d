# SPDX-License-Identifier: BSD-3-Clause
"""64-bit sums and differences: RISC-V compares for the carry, the DPU has a flag."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.code import Instruction
from ..ir.operands import Condition, Register
from ..ir.registers import ZERO
from ..ir.rewriter import Rewriter

__all__ = ["use_carry", "use_old_zero"]

# How far the low word's difference is from its comparison, in instructions.
_WINDOW = 24


class _WideSum(NamedTuple):
    """The instructions of a 64-bit sum or difference.

    Parameters
    ----------
    low, compare, last : int
        The low word, the comparison for its carry, and what adds the carry to the high word.
    high_operand : Register
        What the carry is added to.
    """

    low: int
    compare: int
    last: int
    high_operand: Register


def use_carry(rewriter: Rewriter, index: int) -> bool:
    """Replace low word, comparison for the carry, and high word, by two instructions.

    ``add s, x, y; sub c, s, x, ltu; add h, p, q; add h, h, c`` becomes
    ``add s, x, y; addc h, p, q``, and ``sub c, x, y, ltu; sub h, p, q; sub h, h, c; sub s, x, y``
    becomes ``sub s, x, y; subc h, p, q``.
    """
    last = rewriter.items[index]
    if last.name not in ("add:rrr", "sub:rrr"):
        return False
    left, right = last.register(1), last.register(2)
    terms = ((left, right), (right, left)) if last.mnemonic == "add" else ((left, right),)
    for other, carry in terms:
        if other in (carry, ZERO):
            continue
        compare = rewriter.definition(index, carry)
        if compare is not None and _join(rewriter, index, compare, other, carry):
            return True
    return False


def _join(rewriter: Rewriter, index: int, compare: int, other: Register, carry: Register) -> bool:
    """Replace a sum of three terms if one of them is the carry of the low words."""
    last, comparison = rewriter.items[index], rewriter.items[compare]
    high = last.register(0)
    if not (
        comparison.name in ("sub:rrrc", "sub:rric")
        and comparison.condition(3) is Condition.LESS_UNSIGNED
        and (high == carry or rewriter.is_dead(index, carry))
        and not rewriter.is_read(compare, index, carry, frozenset())
    ):
        return False
    if last.mnemonic == "add":
        low = _sum_of(rewriter, compare)
    else:
        low = _difference_of(rewriter, compare, index)
    if low is None:
        return False

    wide = _WideSum(low, compare, index, other)
    before = _high_words(rewriter, wide)
    if before is not None and _place_with_high_words(rewriter, wide, before):
        return True
    return _place_alone(rewriter, wide)


def _high_words(rewriter: Rewriter, wide: _WideSum) -> int | None:
    """Return the sum of the high words that the carry is added to, if it is just for that."""
    low, last = rewriter.items[wide.low], rewriter.items[wide.last]
    before = rewriter.definition(wide.last, wide.high_operand)
    if (
        before is None
        or before in (wide.low, wide.compare, wide.last)
        or rewriter.items[before].name != last.name
    ):
        return None
    is_used_once = (
        last.register(0) == wide.high_operand or rewriter.is_dead(wide.last, wide.high_operand)
    ) and not rewriter.is_read(before, wide.last, wide.high_operand, frozenset())
    reads_low = low.operands[0] in rewriter.items[before].operands[1:]
    return before if is_used_once and not reads_low else None


def _place_with_high_words(rewriter: Rewriter, wide: _WideSum, before: int) -> bool:
    low, last = rewriter.items[wide.low], rewriter.items[wide.last]
    if low.operands[0] == last.operands[0]:
        return False
    operands = (last.operands[0], *rewriter.items[before].operands[1:])
    return _place(rewriter, wide, Instruction(_with_carry(last), "rrr", operands), before)


def _place_alone(rewriter: Rewriter, wide: _WideSum) -> bool:
    low, last = rewriter.items[wide.low], rewriter.items[wide.last]
    name, high = _with_carry(last), last.register(0)
    if low.operands[0] in (wide.high_operand, high):
        return False
    if name == "addc":
        new = Instruction(name, "rri", (high, wide.high_operand, 0))
    else:
        # A difference has no room for as long a number.
        new = Instruction(name, "rrif", (high, wide.high_operand, 0, 0))
    return _place(rewriter, wide, new, None)


def _with_carry(item: Instruction) -> str:
    return "addc" if item.mnemonic == "add" else "subc"


def _place(rewriter: Rewriter, wide: _WideSum, new: Instruction, before: int | None) -> bool:
    """Put low and high word where the last one was, or where the low one was."""
    own = [i for i in (wide.low, before, wide.last) if i is not None]
    gone = frozenset([*own, wide.compare])
    if not rewriter.is_unchanged(min(gone), max(gone)):
        return False
    for place in (wide.last, wide.low):
        if all(rewriter.can_move(i, place, gone) for i in own if i != place):
            low = rewriter.items[wide.low]
            rewriter.change(set(gone - {place}), {place: [low, new]})
            return True
    return False


def _sum_of(rewriter: Rewriter, compare: int) -> int | None:
    """Return the addition whose carry a comparison computes."""
    comparison = rewriter.items[compare]
    result = comparison.register(1)
    low = rewriter.definition(compare, result)
    if low is None or rewriter.items[low].name not in ("add:rrr", "add:rri"):
        return None
    addition = rewriter.items[low]
    if comparison.form == "rric":
        # The word that was increased by one is zero now.
        is_increment = addition.form == "rri" and addition.operands[2] == 1
        return low if comparison.operands[2] == 1 and is_increment else None

    operand = comparison.register(2)
    if operand == result:
        return None
    terms = addition.operands[1:] if addition.form == "rrr" else addition.operands[1:2]
    return low if operand in terms and rewriter.is_preserved(low, compare, operand) else None


def _difference_of(rewriter: Rewriter, compare: int, index: int) -> int | None:
    """Return the subtraction of the same words as a comparison."""
    comparison = rewriter.items[compare]
    if comparison.form != "rrrc":
        return None
    left, right = comparison.register(1), comparison.register(2)
    for low in range(max(compare - _WINDOW, 0), min(compare + _WINDOW, len(rewriter.items))):
        item = rewriter.items[low]
        if item.name != "sub:rrr" or item.operands[1:] != (left, right) or low == index:
            continue
        first, last = min(low, compare), max(low, compare)
        if rewriter.is_unchanged(first, last) and all(
            # Their values are the same at both, even if the earlier one changes one of them.
            not rewriter.effects[first].writes >> register & 1
            and rewriter.is_preserved(first, last, register)
            for register in (left, right)
            if register != ZERO
        ):
            return low

    return None


class _ExclusiveOr(NamedTuple):
    """The operands of an exclusive or; the right one is a register or a signed number."""

    left: Register
    right: int

    @property
    def by_number(self) -> bool:
        """True if the right operand is a number."""
        return not isinstance(self.right, Register)


def use_old_zero(rewriter: Rewriter, index: int) -> bool:
    """Replace ``xor a, p, q; xor b, r, s; or c, a, b, z`` by two that share one flag."""
    last = rewriter.items[index]
    if last.name != "or:rrrci" or last.condition(3) not in (Condition.ZERO, Condition.NOT_ZERO):
        return False
    result, left, right = (last.register(position) for position in range(3))
    if left == right:
        return False
    first, second = rewriter.definition(index, left), rewriter.definition(index, right)
    if first is None or second is None or first == second:
        return False
    gone = frozenset([first, second, index])
    if not (
        rewriter.is_unchanged(min(gone), index)
        and all(rewriter.is_dead(index, register) for register in (result, left, right))
        and not rewriter.is_read(first, index, left, gone)
        and not rewriter.is_read(second, index, right, gone)
    ):
        return False

    one, other = _exclusive_or(rewriter.items[first]), _exclusive_or(rewriter.items[second])
    if one is None or other is None or (other.by_number and not -2048 <= other.right < 2048):
        return False
    if not (rewriter.can_move(first, index, gone) and rewriter.can_move(second, index, gone)):
        return False
    rewriter.change({first, second}, {index: _both_zero(one, other, last)})
    return True


def _both_zero(one: _ExclusiveOr, other: _ExclusiveOr, last: Instruction) -> list[Instruction]:
    """Return two that jump as another one does if the results of both are zero."""
    if one.by_number:
        test = Instruction("xor", "zrif", (0, *one, 0))
    else:
        test = Instruction("xor", "zrr", (0, *one))
    is_zero = last.condition(3) is Condition.ZERO
    condition = Condition.BOTH_ZERO if is_zero else Condition.NOT_BOTH_ZERO
    form = "zrici" if other.by_number else "zrrci"
    return [test, Instruction("xor", form, (0, *other, condition, last.operands[4]))]


def _exclusive_or(item: Instruction) -> _ExclusiveOr | None:
    """Return the operands of an exclusive or whose number, if it has one, is short enough."""
    if item.name == "xor:rrr":
        return _ExclusiveOr(item.register(1), item.register(2))
    number = item.immediate(2) if item.name == "xor:rri" else None
    if number is None:
        return None
    number = number - (1 << 32) if number >> 31 else number
    return _ExclusiveOr(item.register(1), number) if -(1 << 27) <= number < 1 << 27 else None
