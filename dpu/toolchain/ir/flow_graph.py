# SPDX-License-Identifier: BSD-3-Clause
"""The control-flow graph of a sequence of instructions: its basic blocks and their edges.

A graph is of the code as it was when the graph was made; a pass that changes the code makes a new
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from .code import Code, Instruction
from .effects import Effects, effects_of

__all__ = ["Block", "FlowGraph"]


class Block(NamedTuple):
    """Instructions that are entered at `start` alone and left at `end` alone."""

    start: int
    end: int


class FlowGraph:
    """The control-flow graph of code.

    Parameters
    ----------
    code : Code
        The instructions and their labels.

    Attributes
    ----------
    instructions : list of Instruction
        The code that the graph is of.
    effects : list of Effects
        By instruction.
    targets : list of int or None
        The position that each instruction may jump to.
    entries : set of int
        Positions that control may enter from elsewhere: functions, and code whose address is taken.
    """

    def __init__(self, code: Code) -> None:
        self.instructions: list[Instruction] = list(code.items)
        self.effects: list[Effects] = list(map(effects_of, self.instructions))
        self.targets = [
            code.position(effect.target) if effect.target is not None else None
            for effect in self.effects
        ]
        self.entries = code.entry_positions()
        self._code = code

    @cached_property
    def entered(self) -> set[int]:
        """The entries and all targets of jumps."""
        return self.entries.union(target for target in self.targets if target is not None)

    @cached_property
    def leaders(self) -> set[int]:
        """The positions where blocks start; the end of the code may be one."""
        after_jumps = (
            index + 1
            for index, (effect, target) in enumerate(zip(self.effects, self.targets, strict=True))
            if target is not None or not effect.falls_through
        )
        return {0, *self.entered, *after_jumps}

    @cached_property
    def blocks(self) -> list[Block]:
        """The basic blocks in the order of the code."""
        end = len(self.instructions)
        starts = sorted(leader for leader in self.leaders if leader < end)
        return [Block(*ends) for ends in pairwise([*starts, end])]

    def successors(self, block: Block) -> Iterator[int]:
        """Yield the positions that may follow the last instruction of a block."""
        last = block.end - 1
        if self.effects[last].falls_through:
            yield block.end
        target = self.targets[last]
        if target is not None:
            yield target

    @cached_property
    def live(self) -> list[int]:
        """The registers that are live before each instruction, and none at the end."""
        live = [0] * (len(self.instructions) + 1)
        transfers = [(block, *self._transfer(block)) for block in reversed(self.blocks)]
        changed = True
        while changed:
            changed = False
            for block, reads, writes in transfers:
                before = self._live_after(block, live) & ~writes | reads
                if before != live[block.start]:
                    live[block.start] = before
                    changed = True

        for block in self.blocks:
            after = self._live_after(block, live)
            for index in range(block.end - 1, block.start - 1, -1):
                effect = self.effects[index]
                live[index] = after = after & ~effect.writes | effect.reads
        return live

    def _live_after(self, block: Block, live: list[int]) -> int:
        after = 0
        for position in self.successors(block):
            after |= live[position]
        return after

    def _transfer(self, block: Block) -> tuple[int, int]:
        """Return what a block reads before it writes it, and what it writes."""
        reads = writes = 0
        for effect in reversed(self.effects[block.start : block.end]):
            reads = reads & ~effect.writes | effect.reads
            writes |= effect.writes
        return reads, writes

    def unreachable(self) -> set[int]:
        """Return the positions that control cannot reach from the start or an entry.

        Calls and labels that are loaded as numbers reach what they name.
        """
        reached = [False] * len(self.instructions)
        pending = [0, *self.entries]
        while pending:
            pending += self._reach(pending.pop(), reached)
        return {position for position, is_reached in enumerate(reached) if not is_reached}

    def _reach(self, position: int, reached: list[bool]) -> Iterable[int]:
        """Mark the code from a position up to a jump; return the positions of named labels."""
        found = []
        while position < len(reached) and not reached[position]:
            reached[position] = True
            target = self.instructions[position].target
            if target is not None:
                found.append(self._code.position(target))
            if not self.effects[position].falls_through:
                break
            position += 1
        return found
