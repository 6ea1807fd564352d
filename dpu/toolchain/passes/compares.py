# SPDX-License-Identifier: BSD-3-Clause
"""64-bit comparisons: one subtraction with borrow instead of two comparisons.

RISC-V branches on equality of the high words to a comparison of the low ones, and otherwise
compares the high ones. The DPU subtracts the low words and then the high ones with the borrow, and
the second difference decides.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.code import Instruction
from ..ir.operands import Condition, Register
from ..ir.registers import ZERO
from ..ir.rewriter import Rewriter

__all__ = ["compare_words"]

_MAX_JUMPS = 8
_BRANCHES = ("sub:zrrci", "sub:zrici")
_SETS = ("sub:rrrc", "sub:rric")
_LESS = frozenset(
    [
        Condition.LESS_SIGNED,
        Condition.LESS_EQUAL_SIGNED,
        Condition.LESS_UNSIGNED,
        Condition.LESS_EQUAL_UNSIGNED,
    ]
)
# High words that are equal are decided by the borrow, whether the condition has "or equal" or not.
_STRICT = {
    Condition.LESS_EQUAL_SIGNED: Condition.LESS_SIGNED,
    Condition.LESS_EQUAL_UNSIGNED: Condition.LESS_UNSIGNED,
    Condition.GREATER_SIGNED: Condition.GREATER_EQUAL_SIGNED,
    Condition.GREATER_UNSIGNED: Condition.GREATER_EQUAL_UNSIGNED,
}


class _Comparison(NamedTuple):
    """A comparison of two words.

    It continues at `yes` or at `no`; or puts what it finds into `result` and continues at `no`.
    """

    left: Register
    right: Register | int
    condition: Condition
    yes: int
    no: int
    result: Register | None

    @property
    def swapped(self) -> _Comparison | None:
        """The same with its operands exchanged, if both are registers."""
        condition = self.condition.swapped
        if condition is None or not isinstance(self.right, Register):
            return None
        return self._replace(left=self.right, right=self.left, condition=condition)

    @property
    def negated(self) -> _Comparison | None:
        """The opposite comparison, which continues the other way."""
        condition = self.condition.negated
        if condition is None:
            return None
        return self._replace(yes=self.no, no=self.yes, condition=condition)

    @property
    def by_number(self) -> bool:
        """True if the right operand is a number."""
        return not isinstance(self.right, Register)

    def has_operands(self, left: Register, right: Register | int) -> bool:
        """Tell whether it compares two operands, in any order if both are registers."""
        if self.by_number == isinstance(right, Register):
            return False
        pair = (self.left, self.right)
        return pair == (left, right) or (not self.by_number and pair == (right, left))


def compare_words(rewriter: Rewriter, index: int) -> bool:
    """Replace a 64-bit comparison that starts at an instruction; return whether it is one."""
    first = rewriter.items[index]
    if first.name not in _BRANCHES or not rewriter.is_unchanged(index, index):
        return False
    condition, target = first.condition(3), rewriter.graph.targets[index]
    if condition not in (Condition.ZERO, Condition.NOT_ZERO) or target is None:
        return False

    equal, other = _follow_jumps(rewriter, target), _follow_jumps(rewriter, index + 1)
    if condition is Condition.NOT_ZERO:
        equal, other = other, equal
    high, low = _comparison_at(rewriter, other), _comparison_at(rewriter, equal)
    if high is None or low is None or high.result != low.result or other == equal:
        return False
    right = first.immediate(2)
    if right is None or not high.has_operands(first.register(1), right):
        return False

    new = _joined(rewriter, high, low)
    if new is None:
        return False
    rewriter.change(set(), {index: new})
    return True


def _follow_jumps(rewriter: Rewriter, position: int) -> int:
    """Return where control continues after the jumps at a position."""
    for _ in range(_MAX_JUMPS):
        if position >= len(rewriter.items) or not rewriter.items[position].is_jump:
            return position
        target = rewriter.graph.targets[position]
        assert target is not None
        position = target
    return position


def _is_same(rewriter: Rewriter, one: int, other: int) -> bool:
    """Tell whether control continues in the same way at two positions, such as two returns."""
    if one == other:
        return True
    if max(one, other) >= len(rewriter.items):
        return False
    item = rewriter.items[one]
    return item == rewriter.items[other] and item.mnemonic == "call" and item.form == "zri"


def _comparison_at(rewriter: Rewriter, position: int) -> _Comparison | None:
    if position >= len(rewriter.items) - 1 or not rewriter.is_unchanged(position, position):
        return None
    item = rewriter.items[position]
    following = _follow_jumps(rewriter, position + 1)
    if item.name in _BRANCHES:
        target = rewriter.graph.targets[position]
        assert target is not None
        yes, result = _follow_jumps(rewriter, target), None
    elif item.name in _SETS:
        yes, result = following, item.register(0)
    else:
        return None
    condition, right = item.condition(3), item.immediate(2)
    if condition.swapped is None or right is None:
        return None
    return _Comparison(item.register(1), right, condition, yes, following, result)


def _joined(rewriter: Rewriter, high: _Comparison, low: _Comparison) -> list[Instruction] | None:
    """Return the two subtractions, and the jump to where the comparison does not hold."""
    matched = _matched(rewriter, high, low)
    if matched is None:
        return None
    high, low = matched
    if any(one.right == ZERO and not one.by_number for one in matched):
        return None

    if low.by_number:
        first = Instruction("sub", "zrif", (0, low.left, low.right, 0))
    else:
        first = Instruction("sub", "zrr", (0, low.left, low.right))
    operands = (high.left, high.right, _STRICT.get(high.condition, high.condition))
    if high.result is None:
        form = "zrici" if high.by_number else "zrrci"
        second = Instruction("subc", form, (0, *operands, rewriter.label_at(high.yes)))
    else:
        form = "rric" if high.by_number else "rrrc"
        second = Instruction("subc", form, (high.result, *operands))
    jump = Instruction("call", "zri", (0, ZERO, rewriter.label_at(high.no)))
    return [first, second, jump]


def _matched(
    rewriter: Rewriter, high: _Comparison, low: _Comparison
) -> tuple[_Comparison, _Comparison] | None:
    """Turn two comparisons until both are of the same kind, and the low one is unsigned."""
    turned: _Comparison | None = low
    if not (_is_same(rewriter, high.yes, low.yes) and _is_same(rewriter, high.no, low.no)):
        if high.result is not None or (high.yes, high.no) != (low.no, low.yes):
            return None
        turned = low.negated

    # The borrow tells "less" or "not less" of unsigned words.
    if turned is not None and turned.condition in (
        Condition.GREATER_UNSIGNED,
        Condition.LESS_EQUAL_UNSIGNED,
    ):
        turned = turned.swapped
    if turned is None or turned.condition not in (
        Condition.LESS_UNSIGNED,
        Condition.GREATER_EQUAL_UNSIGNED,
    ):
        return None

    is_less = turned.condition is Condition.LESS_UNSIGNED
    if (high.condition in _LESS) != is_less:
        swapped = high.swapped
        if swapped is None:
            return None
        high = swapped
    return high, turned
