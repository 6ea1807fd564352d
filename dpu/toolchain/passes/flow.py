# SPDX-License-Identifier: BSD-3-Clause
"""Control flow that is shorter: jumps to jumps, to what follows anyway, and what nobody reaches."""

from __future__ import annotations

from ..ir.blocks import Blocks
from ..ir.code import Code, Instruction, Label, Operand, replace
from ..ir.effects import effects_of
from ..ir.registers import ZERO

__all__ = ["NEGATED_DIFFERENCES", "remove_unreached", "shorten_jump"]

# Which of these an instruction has depends on its mnemonic.
_OF_ANY = {"z": "nz", "nz": "z", "xz": "xnz", "xnz": "xz"}
NEGATED_DIFFERENCES = {
    "lts": "ges",
    "ges": "lts",
    "ltu": "geu",
    "geu": "ltu",
    "gts": "les",
    "les": "gts",
    "gtu": "leu",
    "leu": "gtu",
}
# Whose jump is part of what they do.
_WAITING = frozenset(["acquire", "release", "resume", "boot", "stop", "read_run"])
_MOST_JUMPS = 8


def _is_jump(item: Instruction) -> bool:
    return item.name == "call:zri" and item.values[1] == ZERO and item.target is not None


def shorten_jump(blocks: Blocks, index: int) -> bool:
    """Take a jump to where it leads at last; turn one over another; drop one to what follows.

    What leads to a return returns.
    """
    item = blocks.items[index]
    target = item.target
    if target is None or not (_is_jump(item) or blocks.effects[index].target is not None):
        return False
    if item.mnemonic in _WAITING:
        return False
    if not blocks.is_as_it_was(index, index):
        return False
    position = blocks.code.position(target)
    if _is_jump(item) and position == index + 1:
        blocks.change({index}, {})
        return True
    following = blocks.items[index + 1] if index + 1 < len(blocks.items) else None
    if (
        following is not None
        and position == index + 2
        and _is_jump(following)
        and index + 1 not in blocks.entered
        and _opposite(item) is not None
        and blocks.is_as_it_was(index + 1, index + 1)
    ):
        values: tuple[Operand, ...] = item.values[:-2]
        values += (_opposite(item) or "", following.values[2])
        blocks.change({index + 1}, {index: [Instruction(item.mnemonic, item.form, values)]})
        return True
    final = blocks.items[position] if position < len(blocks.items) else None
    if _is_jump(item) and final is not None and final.name == "call:zri" and not final.target:
        blocks.change(set(), {index: [final]})
        return True
    end = _end_of(blocks, position)
    if end is None or end == target:
        return False
    blocks.change(set(), {index: [item._replace(values=(*item.values[:-1], end))]})
    return True


def _opposite(item: Instruction) -> str | None:
    condition = str(item.values[-2])
    known = _OF_ANY if item.mnemonic not in ("sub", "subc") else _OF_ANY | NEGATED_DIFFERENCES
    return known.get(condition)


def _end_of(blocks: Blocks, position: int) -> Label | None:
    """Return the label that jumps from a place lead to at last."""
    end = None
    for _ in range(_MOST_JUMPS):
        if position >= len(blocks.items) or not _is_jump(blocks.items[position]):
            return end
        end = blocks.items[position].target
        assert end is not None
        following = blocks.code.position(end)
        if following == position:
            return None
        position = following
    return None


def remove_unreached(code: Code) -> bool:
    """Drop what control cannot come to; tell whether there was any."""
    reached = [False] * len(code.items)
    work = [0, *code.entry_positions()]
    while work:
        position = work.pop()
        while position < len(code.items) and not reached[position]:
            reached[position] = True
            effect = effects_of(code.items[position])
            target = code.items[position].target
            if target is not None:
                work.append(code.position(target))
            if not effect.goes_on:
                break
            position += 1
    drop = {position for position, is_reached in enumerate(reached) if not is_reached}
    replace(code, drop, {})
    return bool(drop)
