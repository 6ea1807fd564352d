# SPDX-License-Identifier: BSD-3-Clause
"""What passes over code need to know: where blocks begin, what is of use, what may be moved."""

from __future__ import annotations

from .code import Code, Instruction, Label, replace
from .effects import FLAGS, liveness

__all__ = ["Blocks"]

# How far one looks for what belongs together, in instructions.
_WINDOW = 48


class Blocks:
    """Code before a pass, and the changes that the pass makes at its end.

    What was looked at is as it was before: an instruction that is changed takes no part in further
    changes of the same pass.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.items = code.items
        self.live, self.effects = liveness(code)
        # Where control comes from elsewhere, and where else blocks begin.
        self.entered = code.entry_positions()
        self.leaders = set(self.entered)
        for index, effect in enumerate(self.effects):
            if effect.target is not None:
                position = code.position(effect.target)
                self.leaders.add(position)
                self.entered.add(position)
            if effect.target is not None or not effect.goes_on:
                self.leaders.add(index + 1)
        self._drop: set[int] = set()
        self._put: dict[int, list[Instruction]] = {}
        self._touched: set[int] = set()

    def change(self, drop: set[int], put: dict[int, list[Instruction]]) -> None:
        """Drop instructions and put others in places, at the end of the pass."""
        self._drop |= drop
        self._put |= put
        self._touched |= drop | put.keys()

    def commit(self) -> bool:
        """Make the changes; tell whether there were any."""
        if not self._touched:
            return False
        replace(self.code, self._drop, self._put)
        return True

    def label_at(self, position: int) -> Label:
        """Return a new label of an instruction."""
        label = self.code.fresh()
        self.code.labels[label] = position
        return label

    def is_as_it_was(self, first: int, last: int) -> bool:
        """Tell whether instructions are of one block and none of them is changed."""
        return not (
            any(index in self._touched for index in range(first, last + 1))
            or any(index in self.leaders for index in range(first + 1, last + 1))
        )

    def definition(self, index: int, register: int) -> int | None:
        """Return what wrote, before an instruction and in its block, a register last."""
        bit = 1 << register
        for other in range(index - 1, max(index - _WINDOW, 0) - 1, -1):
            if other + 1 in self.leaders:
                return None
            if self.effects[other].writes & bit:
                return other
        return None

    def is_kept(self, first: int, last: int, register: int) -> bool:
        """Tell whether nothing writes a register from after one instruction to before another."""
        bit = 1 << register
        return not any(self.effects[i].writes & bit for i in range(first + 1, last))

    def is_read(self, first: int, last: int, register: int, skip: frozenset[int]) -> bool:
        """Tell whether any between two instructions reads a register."""
        bit = 1 << register
        return any(self.effects[i].reads & bit for i in range(first + 1, last) if i not in skip)

    def is_dead(self, index: int, register: int) -> bool:
        """Tell whether nobody reads a register after an instruction, wherever that leads."""
        bit, target = 1 << register, self.effects[index].target
        if target is not None and self.live[self.code.position(target)] & bit:
            return False
        return not (self.effects[index].goes_on and self.live[index + 1] & bit)

    def can_move(self, index: int, to: int, skip: frozenset[int], *, ignore: int = 0) -> bool:
        """Tell whether an instruction may stand just before, or after, another of its block.

        Before it if it moves down, after it if it moves up. Those in `skip` will not be there, or
        are moved with it. Registers to ignore are given as bits.
        """
        down = index < to
        first, last = (index + 1, to) if down else (to + 1, index)
        # Whoever reads a flag stands right after who wrote it.
        for place in (index + 1, to if down else to + 1):
            if self.live[place] & FLAGS and place not in skip:
                return False
        own = self.effects[index]
        for other in range(first, last):
            theirs = self.effects[other]
            meet = theirs.writes & (own.reads | own.writes) | theirs.reads & own.writes
            if other not in skip and meet & ~(FLAGS | ignore):
                return False
        return True
