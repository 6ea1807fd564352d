# SPDX-License-Identifier: BSD-3-Clause
"""64-bit sums and differences: RISC-V compares for the carry, the DPU has a flag."""

from __future__ import annotations

from ..ir.blocks import Blocks
from ..ir.code import Instruction
from ..ir.registers import ZERO

__all__ = ["use_carry", "use_old_zero"]

_EARLIER = 24


def use_carry(blocks: Blocks, index: int) -> bool:
    """Replace low word, comparison for the carry, and high word, by two instructions.

    `add s, x, y; sub c, s, x, ltu; add h, p, q; add h, h, c` is `add s, x, y; addc h, p, q`, and
    `sub c, x, y, ltu; sub h, p, q; sub h, h, c; sub s, x, y` is `sub s, x, y; subc h, p, q`.
    """
    last = blocks.items[index]
    if last.name not in ("add:rrr", "sub:rrr"):
        return False
    high, left, right = last.values
    terms = ((left, right), (right, left)) if last.mnemonic == "add" else ((left, right),)
    for other, carry in terms:
        if isinstance(carry, int) and isinstance(other, int) and other not in (carry, ZERO):
            compare = blocks.definition(index, carry)
            if compare is not None and _joined(blocks, index, compare, other, carry, high):
                return True
    return False


def _joined(blocks: Blocks, index: int, compare: int, other: int, carry: int, high: object) -> bool:
    """Make one pair of a sum that takes a carry, if what it takes is one."""
    assert isinstance(high, int)
    if not (
        blocks.items[compare].name in ("sub:rrrc", "sub:rric")
        and blocks.items[compare].values[3] == "ltu"
        and (high == carry or blocks.is_dead(index, carry))
        and not blocks.is_read(compare, index, carry, frozenset())
    ):
        return False
    is_sum = blocks.items[index].mnemonic == "add"
    low = _sum_of(blocks, compare, index) if is_sum else _difference_of(blocks, compare, index)
    if low is None:
        return False
    name = "addc" if is_sum else "subc"
    gone = {low, compare, index}
    # The sum of the high words, if it is just for this.
    before = blocks.definition(index, other)
    if (
        before is not None
        and blocks.items[before].name == blocks.items[index].name
        and (high == other or blocks.is_dead(index, other))
        and not blocks.is_read(before, index, other, frozenset())
        and before not in gone
        and blocks.items[low].values[0] not in blocks.items[before].values[1:]
        and _place(blocks, index, low, before, frozenset(gone | {before}), name)
    ):
        return True
    return _place(blocks, index, low, None, frozenset(gone), name, other)


def _place(
    blocks: Blocks,
    index: int,
    low: int,
    before: int | None,
    gone: frozenset[int],
    name: str,
    other: int = ZERO,
) -> bool:
    """Put low and high word where the last one was, or where the low one was."""
    high = blocks.items[index].values[0]
    first = blocks.items[low]
    if before is None:
        # A difference has no room for as long a number.
        none = ("rri", (high, other, 0)) if name == "addc" else ("rrif", (high, other, 0, 0))
        new = Instruction(name, *none)
        if first.values[0] in (other, high):
            return False
    else:
        new = Instruction(name, "rrr", (high, *blocks.items[before].values[1:]))
        if first.values[0] == high:
            return False
    start, end = min(gone), max(gone)
    if not blocks.is_as_it_was(start, end):
        return False
    for place in (index, low):
        moved = [i for i in (low, before, index) if i is not None and i != place]
        if all(blocks.can_move(i, place, gone) for i in moved):
            blocks.change(set(gone - {place}), {place: [first, new]})
            return True
    return False


def _sum_of(blocks: Blocks, compare: int, index: int) -> int | None:
    """Return the addition whose carry a comparison tells."""
    _, result, operand, _ = blocks.items[compare].values
    if not isinstance(result, int):
        return None
    low = blocks.definition(compare, result)
    if low is None or blocks.items[low].name not in ("add:rrr", "add:rri"):
        return None
    _, left, right = blocks.items[low].values
    if blocks.items[compare].form == "rric":
        # What was increased by one is zero now.
        return low if operand == 1 and blocks.items[low].name == "add:rri" and right == 1 else None
    if not isinstance(operand, int) or operand == result:
        return None
    is_term = operand == left or (operand == right and blocks.items[low].form == "rrr")
    return low if is_term and blocks.is_kept(low, compare, operand) else None


def _difference_of(blocks: Blocks, compare: int, index: int) -> int | None:
    """Return the subtraction of the words that a comparison has."""
    _, left, right, _ = blocks.items[compare].values
    if blocks.items[compare].form != "rrrc":
        return None
    assert isinstance(left, int)
    assert isinstance(right, int)
    for low in range(max(compare - _EARLIER, 0), min(compare + _EARLIER, len(blocks.items))):
        item = blocks.items[low]
        if item.name != "sub:rrr" or item.values[1:] != (left, right) or low == index:
            continue
        first, last = min(low, compare), max(low, compare)
        if blocks.is_as_it_was(first, last) and all(
            # What it is computed of is the same, also if the earlier one changes it.
            not blocks.effects[first].writes >> r & 1 and blocks.is_kept(first, last, r)
            for r in (left, right)
            if r != ZERO
        ):
            return low
    return None


def use_old_zero(blocks: Blocks, index: int) -> bool:
    """Replace `xor a, p, q; xor b, r, s; or c, a, b, z` by two that look at one flag."""
    last = blocks.items[index]
    if last.name != "or:rrrci" or last.values[3] not in ("z", "nz"):
        return False
    result, left, right, condition, target = last.values
    if not isinstance(left, int) or not isinstance(right, int) or left == right:
        return False
    assert isinstance(result, int)
    first, second = blocks.definition(index, left), blocks.definition(index, right)
    if first is None or second is None or first == second:
        return False
    gone = frozenset([first, second, index])
    if not (
        blocks.is_as_it_was(min(gone), index)
        and all(blocks.items[i].name in ("xor:rrr", "xor:rri") for i in (first, second))
        and all(blocks.is_dead(index, register) for register in (result, left, right))
        and not blocks.is_read(first, index, left, gone)
        and not blocks.is_read(second, index, right, gone)
        and blocks.can_move(first, index, gone)
        and blocks.can_move(second, index, gone)
    ):
        return False
    a, b = _exclusive(blocks.items[first]), _exclusive(blocks.items[second])
    if a is None or b is None:
        return False
    form = "zrrci" if b[0] == "r" else "zrici"
    if b[0] == "i" and not -2048 <= b[2] < 2048:
        return False
    old = "xz" if condition == "z" else "xnz"
    new = Instruction("xor", form, (0, *b[1:], old, target))
    if a[0] == "r":
        test = Instruction("xor", "zrr", (0, *a[1:]))
    else:
        test = Instruction("xor", "zrif", (0, *a[1:], 0))
    blocks.change({first, second}, {index: [test, new]})
    return True


def _exclusive(item: Instruction) -> tuple[str, int, int] | None:
    """Return the operands of an exclusive or."""
    _, left, right = item.values
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if item.form == "rrr":
        return ("r", left, right)
    number = right - (1 << 32) if right >> 31 else right
    return ("i", left, number) if -(1 << 27) <= number < 1 << 27 else None
