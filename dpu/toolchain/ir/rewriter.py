# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites code within basic blocks: what a pattern may ask about it, and the changes to make."""

from __future__ import annotations

from .code import Code, Instruction
from .effects import FLAGS
from .flow_graph import FlowGraph
from .operands import Label, Register

__all__ = ["Rewriter"]

# How far back a definition is looked for, in instructions.
_WINDOW = 48


class Rewriter:
    """One pass over code.

    All questions are about the code as it was before the pass, and the changes are made together at
    its end. So an instruction that is changed must take no part in a second change, which
    `is_unchanged` tells.

    Parameters
    ----------
    code : Code
        The code to change.
    graph : FlowGraph
        Its control-flow graph.
    """

    def __init__(self, code: Code, graph: FlowGraph) -> None:
        self.code = code
        self.graph = graph
        self.items = graph.instructions
        self.effects = graph.effects
        self._live = graph.live
        self._leaders = graph.leaders
        self._drop: set[int] = set()
        self._put: dict[int, list[Instruction]] = {}
        self._changed: set[int] = set()

    def change(self, drop: set[int], put: dict[int, list[Instruction]]) -> None:
        """Drop instructions, and put sequences in place of others, when the pass ends."""
        self._drop |= drop
        self._put |= put
        self._changed |= drop | put.keys()

    def commit(self) -> bool:
        """End the pass: make the changes; return whether there were any."""
        if not self._changed:
            return False
        self.code.replace(self._drop, self._put)
        return True

    def label_at(self, position: int) -> Label:
        """Return a new label for an instruction."""
        label = self.code.new_label()
        self.code.labels[label] = position
        return label

    def is_unchanged(self, first: int, last: int) -> bool:
        """Tell whether two instructions and all between are of one block and not yet changed."""
        return not (
            any(index in self._changed for index in range(first, last + 1))
            or any(index in self._leaders for index in range(first + 1, last + 1))
        )

    def definition(self, index: int, register: Register) -> int | None:
        """Return the instruction of the same block that last wrote a register before another."""
        bit = 1 << register
        for other in range(index - 1, max(index - _WINDOW, 0) - 1, -1):
            if other + 1 in self._leaders:
                return None
            if self.effects[other].writes & bit:
                return other
        return None

    def is_preserved(self, first: int, last: int, register: Register) -> bool:
        """Tell whether no instruction between two others writes a register."""
        bit = 1 << register
        return not any(self.effects[i].writes & bit for i in range(first + 1, last))

    def is_read(self, first: int, last: int, register: Register, skip: frozenset[int]) -> bool:
        """Tell whether an instruction between two others reads a register; skip some."""
        bit = 1 << register
        return any(self.effects[i].reads & bit for i in range(first + 1, last) if i not in skip)

    def is_dead(self, index: int, register: Register) -> bool:
        """Tell whether a register is dead after an instruction, on all paths."""
        bit, target = 1 << register, self.graph.targets[index]
        if target is not None and self._live[target] & bit:
            return False
        return not (self.effects[index].falls_through and self._live[index + 1] & bit)

    def can_move(self, index: int, to: int, skip: frozenset[int], *, ignore: int = 0) -> bool:
        """Tell whether an instruction can move to just before, or after, another of its block.

        It moves down to before it, or up to after it.

        Parameters
        ----------
        index, to : int
            The instruction, and the other one.
        skip : frozenset of int
            Instructions that are dropped, or move along.
        ignore : int
            A set of registers whose conflicts do not matter.
        """
        down = index < to
        first, last = (index + 1, to) if down else (to + 1, index)
        # An instruction that reads a flag directly follows the one that writes it.
        for place in (index + 1, to if down else to + 1):
            if self._live[place] & FLAGS and place not in skip:
                return False

        own = self.effects[index]
        for other in range(first, last):
            theirs = self.effects[other]
            conflict = theirs.writes & (own.reads | own.writes) | theirs.reads & own.writes
            if other not in skip and conflict & ~(FLAGS | ignore):
                return False
        return True
