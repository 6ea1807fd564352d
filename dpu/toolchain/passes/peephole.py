# SPDX-License-Identifier: BSD-3-Clause
"""Shorter ways to say the same, tried one after the other until none is left."""

from __future__ import annotations

from ..ir.blocks import Blocks
from ..ir.code import Code, Instruction
from ..ir.effects import CARRY
from .compares import compare_words
from .constants import remove_unused
from .copies import forward_copy, retarget_source
from .flow import remove_unreached, shorten_jump
from .wide import use_carry, use_old_zero

__all__ = ["optimise"]

_TESTED = frozenset(["add", "sub", "and", "or", "xor", "lsl", "lsr", "asr"])
_SHIFTS = frozenset(["lsl", "lsr", "asr"])
_SET = frozenset(["rrrc", "rric"])
_OPPOSITE = {"lts": "ges", "ltu": "geu", "ges": "lts", "geu": "ltu", "z": "nz", "nz": "z"}
_MOST_PASSES = 40


def optimise(code: Code) -> None:
    """Make code shorter, which means the same."""
    for _ in range(_MOST_PASSES):
        while remove_unused(code):
            pass
        blocks = Blocks(code)
        for index in range(len(code.items)):
            _improve(blocks, index)
        if not blocks.commit() and not remove_unreached(code):
            return


def _improve(blocks: Blocks, index: int) -> None:
    item = blocks.items[index]
    if item.mnemonic == "or":
        if item.form == "rri":
            forward_copy(blocks, index) or retarget_source(blocks, index)
        else:
            use_old_zero(blocks, index)
    elif item.target is not None:
        is_difference = item.mnemonic == "sub"
        if not (is_difference and (compare_words(blocks, index) or _fuse(blocks, index))):
            shorten_jump(blocks, index)
    elif item.mnemonic in ("add", "sub"):
        use_carry(blocks, index)
    elif item.form == "rr":
        forward_copy(blocks, index)


def _fuse(blocks: Blocks, index: int) -> bool:
    """Replace an operation and a jump if its result is or is not zero by one instruction."""
    jump = blocks.items[index]
    _, tested, number, condition, _ = jump.values
    if jump.form != "zrici" or number != 0 or condition not in ("z", "nz"):
        return False
    assert isinstance(tested, int)
    start = blocks.definition(index, tested)
    if start is None:
        return False
    first = blocks.items[start]
    unused = blocks.is_dead(index, tested)
    group = [start]
    if blocks.effects[start].reads & CARRY:
        # It moves together with what the carry comes from.
        group = [start - 1, start]
    gone = frozenset(group)
    if not blocks.is_as_it_was(group[0], index) or first.values[0] != tested:
        return False
    new = _tested(first, jump, unused=unused)
    if new is None or not all(blocks.can_move(i, index, gone) for i in group):
        return False
    blocks.change(set(group), {index: [*blocks.items[group[0] : start], new]})
    return True


def _tested(first: Instruction, jump: Instruction, *, unused: bool) -> Instruction | None:
    mnemonic, form, values = first
    condition, target = jump.values[3], jump.values[4]
    if form == "rri" and mnemonic in ("add", "and", "or", "xor"):
        number = values[2]
        if not isinstance(number, int):
            return None
        number = number - (1 << 32) if number >> 31 else number
        if mnemonic in ("and", "xor") and unused and -1024 <= number < 1024:
            return Instruction(mnemonic, "zrici", (0, values[1], number, condition, target))
        if -128 <= number < 128:
            return Instruction(mnemonic, "rrici", (*values[:2], number, condition, target))
    elif form == "rrr" and mnemonic in _TESTED:
        if unused and mnemonic in ("and", "xor"):
            return Instruction(mnemonic, "zrrci", (0, *values[1:], condition, target))
        return Instruction(mnemonic, "rrrci", (*values, condition, target))
    elif form == "rri" and mnemonic in _SHIFTS:
        return Instruction(mnemonic, "rrici", (*values, condition, target))
    elif mnemonic in ("sub", "subc") and form in _SET and unused:
        return _compare_and_jump(first, jump)
    return None


def _compare_and_jump(first: Instruction, jump: Instruction) -> Instruction | None:
    mnemonic = first.mnemonic
    _, left, right, compared = first.values
    if not isinstance(compared, str) or compared not in _OPPOSITE:
        return None
    if mnemonic == "subc" and compared in ("z", "nz"):
        return None
    condition = compared if jump.values[3] == "nz" else _OPPOSITE[compared]
    if first.form == "rrrc":
        return Instruction(mnemonic, "zrrci", (0, left, right, condition, jump.values[4]))
    if isinstance(right, int) and -1024 <= right < 1024:
        return Instruction(mnemonic, "zrici", (0, left, right, condition, jump.values[4]))
    return None
