# SPDX-License-Identifier: BSD-3-Clause
"""Shorter control flow: jumps to jumps, jumps over jumps, and jumps to what follows anyway."""

from __future__ import annotations

from ..ir.code import ASSEMBLY, Instruction
from ..ir.operands import Label
from ..ir.rewriter import Rewriter

__all__ = ["shorten_jump"]

# Their jump is part of what they do, or of assembly.
_WAITING = frozenset(["acquire", "release", "resume", "boot", "stop", "read_run", ASSEMBLY])
_MAX_JUMPS = 8


def shorten_jump(rewriter: Rewriter, index: int) -> bool:
    """Shorten one jump, conditional or not; return whether that was possible."""
    item = rewriter.items[index]
    position = rewriter.graph.targets[index]
    if position is None or item.mnemonic in _WAITING or not rewriter.is_unchanged(index, index):
        return False

    if item.is_jump and position == index + 1:
        rewriter.change({index}, {})
        return True
    if position == index + 2 and _negate_jump(rewriter, index):
        return True
    final = rewriter.items[position] if position < len(rewriter.items) else None
    if item.is_jump and final is not None and final.is_indirect_jump:
        rewriter.change(set(), {index: [final]})
        return True

    end = _final_target(rewriter, position)
    if end is None or end == item.target:
        return False
    rewriter.change(set(), {index: [item.with_operand(len(item.operands) - 1, end)]})
    return True


def _negate_jump(rewriter: Rewriter, index: int) -> bool:
    """Replace a conditional jump over a jump by the opposite one to where that leads."""
    item, following = rewriter.items[index], rewriter.items[index + 1]
    if item.is_jump or not following.is_jump or index + 1 in rewriter.graph.entered:
        return False
    negated = item.condition(-2).negated
    if negated is None or not rewriter.is_unchanged(index + 1, index + 1):
        return False
    operands = (*item.operands[:-2], negated, following.operands[2])
    new = Instruction(item.mnemonic, item.form, operands)
    rewriter.change({index + 1}, {index: [new]})
    return True


def _final_target(rewriter: Rewriter, position: int) -> Label | None:
    """Return the last label of a chain of jumps; None if a position is no jump, or for loops."""
    end = None
    for _ in range(_MAX_JUMPS):
        if position >= len(rewriter.items) or not rewriter.items[position].is_jump:
            return end
        end, following = rewriter.items[position].target, rewriter.graph.targets[position]
        if following is None or following == position:
            return None
        position = following
    return None
