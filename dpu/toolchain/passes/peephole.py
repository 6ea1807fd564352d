# SPDX-License-Identifier: BSD-3-Clause
"""Peephole optimisation: patterns that make code shorter, applied until none matches."""

from __future__ import annotations

from ..ir.code import Code, Instruction
from ..ir.effects import CARRY
from ..ir.operands import Condition
from ..ir.rewriter import Rewriter
from .compares import compare_words
from .copies import forward_copy, retarget_source
from .dead_code import remove_dead_results, remove_unreachable
from .jumps import shorten_jump
from .wide import use_carry, use_old_zero

__all__ = ["optimise"]

_TESTED = frozenset(["add", "sub", "and", "or", "xor", "lsl", "lsr", "asr"])
_SHIFTS = frozenset(["lsl", "lsr", "asr"])
_SETS = frozenset(["rrrc", "rric"])
_EQUALITY = frozenset([Condition.ZERO, Condition.NOT_ZERO])
# The conditions of comparisons that set a register.
_COMPARED = _EQUALITY | {
    Condition.LESS_SIGNED,
    Condition.LESS_UNSIGNED,
    Condition.GREATER_EQUAL_SIGNED,
    Condition.GREATER_EQUAL_UNSIGNED,
}
_MAX_PASSES = 40


def optimise(code: Code) -> None:
    """Make code shorter without changing what it does."""
    for _ in range(_MAX_PASSES):
        graph = remove_dead_results(code)
        rewriter = Rewriter(code, graph)
        for index in range(len(rewriter.items)):
            _improve(rewriter, index)
        if not rewriter.commit() and not remove_unreachable(code, graph):
            return


def _improve(rewriter: Rewriter, index: int) -> None:
    """Apply the first pattern that matches at an instruction."""
    item = rewriter.items[index]
    if item.mnemonic == "or":
        if item.form == "rri":
            forward_copy(rewriter, index) or retarget_source(rewriter, index)
        else:
            use_old_zero(rewriter, index)
    elif item.target is not None:
        is_difference = item.mnemonic == "sub"
        if not (is_difference and (compare_words(rewriter, index) or _fuse(rewriter, index))):
            shorten_jump(rewriter, index)
    elif item.mnemonic in ("add", "sub"):
        use_carry(rewriter, index)
    elif item.form == "rr":
        forward_copy(rewriter, index)


def _fuse(rewriter: Rewriter, index: int) -> bool:
    """Replace an operation, and a jump if its result is or is not zero, by one instruction."""
    jump = rewriter.items[index]
    if jump.form != "zrici" or jump.operands[2] != 0 or jump.condition(3) not in _EQUALITY:
        return False
    tested = jump.register(1)
    start = rewriter.definition(index, tested)
    if start is None:
        return False
    first = rewriter.items[start]
    group = [start]
    if rewriter.effects[start].reads & CARRY:
        # It moves together with what the carry comes from.
        group = [start - 1, start]
    if not rewriter.is_unchanged(group[0], index) or first.operands[0] != tested:
        return False

    new = _with_jump(first, jump, is_dead=rewriter.is_dead(index, tested))
    gone = frozenset(group)
    if new is None or not all(rewriter.can_move(i, index, gone) for i in group):
        return False
    rewriter.change(set(group), {index: [*rewriter.items[group[0] : start], new]})
    return True


def _with_jump(first: Instruction, jump: Instruction, *, is_dead: bool) -> Instruction | None:
    """Return an operation that jumps by its result itself; its result register may be dead."""
    mnemonic, form, operands = first
    how = jump.operands[3:]
    if form == "rri" and mnemonic in ("add", "and", "or", "xor"):
        return _with_number_and_jump(first, jump, is_dead=is_dead)
    if form == "rrr" and mnemonic in _TESTED:
        if is_dead and mnemonic in ("and", "xor"):
            return Instruction(mnemonic, "zrrci", (0, *operands[1:], *how))
        return Instruction(mnemonic, "rrrci", (*operands, *how))
    if form == "rri" and mnemonic in _SHIFTS:
        return Instruction(mnemonic, "rrici", (*operands, *how))
    if mnemonic in ("sub", "subc") and form in _SETS and is_dead:
        return _compare_and_jump(first, jump)
    return None


def _with_number_and_jump(
    first: Instruction, jump: Instruction, *, is_dead: bool
) -> Instruction | None:
    mnemonic, operands, how = first.mnemonic, first.operands, jump.operands[3:]
    number = first.immediate(2)
    if number is None:
        return None
    number = number - (1 << 32) if number >> 31 else number
    if mnemonic in ("and", "xor") and is_dead and -1024 <= number < 1024:
        return Instruction(mnemonic, "zrici", (0, operands[1], number, *how))
    if -128 <= number < 128:
        return Instruction(mnemonic, "rrici", (*operands[:2], number, *how))
    return None


def _compare_and_jump(first: Instruction, jump: Instruction) -> Instruction | None:
    """Return the jump for a comparison whose result, 0 or 1, is all that another jump tests."""
    mnemonic, form, operands = first
    compared = first.condition(3)
    if compared not in _COMPARED or (mnemonic == "subc" and compared in _EQUALITY):
        return None
    condition = compared if jump.condition(3) is Condition.NOT_ZERO else compared.negated
    assert condition is not None
    new_operands = (0, operands[1], operands[2], condition, jump.operands[4])
    if form == "rrrc":
        return Instruction(mnemonic, "zrrci", new_operands)
    number = first.immediate(2)
    if number is not None and -1024 <= number < 1024:
        return Instruction(mnemonic, "zrici", new_operands)
    return None
