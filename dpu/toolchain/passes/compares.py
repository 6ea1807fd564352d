# SPDX-License-Identifier: BSD-3-Clause
"""64-bit comparisons: of the high words, and if they are equal of the low ones, in one go.

RISC-V branches on equality of the high words to a comparison of the low ones, and otherwise
compares the high ones. The DPU subtracts the low words and then the high ones with the borrow, and
the last difference tells.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.blocks import Blocks
from ..ir.code import Instruction, Label
from ..ir.registers import ZERO
from .flow import NEGATED_DIFFERENCES

__all__ = ["compare_words"]

_SWAPPED = {
    "lts": "gts",
    "gts": "lts",
    "ltu": "gtu",
    "gtu": "ltu",
    "les": "ges",
    "ges": "les",
    "leu": "geu",
    "geu": "leu",
}


class _Test(NamedTuple):
    """A comparison: where it leads if it is so and if not; or to what register, and then where."""

    left: int
    right: int
    by_number: bool
    condition: str
    yes: int
    no: int
    result: int | None

    def swapped(self) -> _Test | None:
        """Return the same with its operands in the other order."""
        if self.by_number:
            return None
        return self._replace(left=self.right, right=self.left, condition=_SWAPPED[self.condition])


def compare_words(blocks: Blocks, index: int) -> bool:
    """Replace a comparison of 64 bits that begins at an instruction."""
    first = blocks.items[index]
    if first.name not in ("sub:zrrci", "sub:zrici") or first.values[3] not in ("z", "nz"):
        return False
    if not blocks.is_as_it_was(index, index):
        return False
    label = first.values[4]
    assert isinstance(label, Label)
    target = _resolved(blocks, blocks.code.position(label))
    following = _resolved(blocks, index + 1)
    equal, other = (target, following) if first.values[3] == "z" else (following, target)
    high, low = _test_at(blocks, other), _test_at(blocks, equal)
    if high is None or low is None or high.result != low.result or other == equal:
        return False
    by_number = first.form == "zrici"
    pair = (first.values[1], first.values[2])
    if high.by_number != by_number or not (
        (high.left, high.right) == pair or (not by_number and (high.right, high.left) == pair)
    ):
        return False
    new = _joined(blocks, high, low)
    if new is None:
        return False
    blocks.change(set(), {index: new})
    return True


def _resolved(blocks: Blocks, position: int) -> int:
    """Return where a place leads, through jumps."""
    for _ in range(8):
        if position >= len(blocks.items):
            return position
        item = blocks.items[position]
        target = item.target
        if item.name != "call:zri" or item.values[1] != ZERO or target is None:
            return position
        position = blocks.code.position(target)
    return position


def _is_same(blocks: Blocks, one: int, other: int) -> bool:
    """Tell whether two places go on in the same way, as returns do."""
    if one == other:
        return True
    if max(one, other) >= len(blocks.items):
        return False
    item = blocks.items[one]
    return item == blocks.items[other] and item.mnemonic == "call" and item.form == "zri"


def _test_at(blocks: Blocks, position: int) -> _Test | None:
    if position >= len(blocks.items) - 1 or not blocks.is_as_it_was(position, position):
        return None
    item = blocks.items[position]
    if item.mnemonic != "sub" or len(item.values) < 4:
        return None
    following = _resolved(blocks, position + 1)
    result, left, right, condition, *targets = item.values
    if item.name in ("sub:zrrci", "sub:zrici"):
        assert isinstance(targets[0], Label)
        yes, result = _resolved(blocks, blocks.code.position(targets[0])), -1
    elif item.name in ("sub:rrrc", "sub:rric"):
        yes = following
    else:
        return None
    if condition not in _SWAPPED:
        return None
    assert isinstance(left, int)
    assert isinstance(right, int)
    assert isinstance(condition, str)
    assert isinstance(result, int)
    by_number = item.form in ("zrici", "rric")
    into = result if result >= 0 else None
    return _Test(left, right, by_number, condition, yes, following, into)


def _joined(blocks: Blocks, high: _Test, low: _Test) -> list[Instruction] | None:
    """Return the two instructions, and the jump to where it is not so."""
    if not (_is_same(blocks, high.yes, low.yes) and _is_same(blocks, high.no, low.no)):
        if high.result is not None or (high.yes, high.no) != (low.no, low.yes):
            return None
        low = low._replace(yes=low.no, no=low.yes, condition=NEGATED_DIFFERENCES[low.condition])
    # The borrow tells less or not less.
    if low.condition in ("gtu", "leu"):
        swapped = low.swapped()
        if swapped is None:
            return None
        low = swapped
    if low.condition not in ("ltu", "geu"):
        return None
    is_less = low.condition == "ltu"
    if (high.condition[0] == "l") != is_less:
        turned = high.swapped()
        if turned is None:
            return None
        high = turned
    # High words that are equal are settled by the borrow: no matter whether it says "or equal".
    condition = ("lt" if is_less else "ge") + high.condition[-1]
    if low.by_number:
        first = Instruction("sub", "zrif", (0, low.left, low.right, 0))
    elif low.right == ZERO:
        return None
    else:
        first = Instruction("sub", "zrr", (0, low.left, low.right))
    operands = (high.left, high.right, condition)
    if high.right == ZERO and not high.by_number:
        return None
    if high.result is None:
        form = "zrici" if high.by_number else "zrrci"
        second = Instruction("subc", form, (0, *operands, blocks.label_at(high.yes)))
    else:
        form = "rric" if high.by_number else "rrrc"
        second = Instruction("subc", form, (high.result, *operands))
    jump = Instruction("call", "zri", (0, ZERO, blocks.label_at(high.no)))
    return [first, second, jump]
