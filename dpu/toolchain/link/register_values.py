# SPDX-License-Identifier: BSD-3-Clause
"""Where registers have, in optimised code, the values that the compiler put into them.

The passes drop copies, compute later what a jump tests, and compute at once in the register that
a copy would go to. So at some instructions a register has not yet, or no longer, the value that
debug information promises.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.code import Code, Instruction
from ..ir.effects import effects_of
from ..ir.flow_graph import FlowGraph
from ..ir.operands import Label, LabelKind

__all__ = ["RegisterValues", "Snapshot"]


class Snapshot:
    """The code before the passes, which has what the compiler wrote.

    Parameters
    ----------
    code : Code
        The code; the passes change it afterwards.
    """

    def __init__(self, code: Code) -> None:
        self.code = Code()
        self.code.items = list(code.items)
        self.code.labels = dict(code.labels)
        self.code.entries = set(code.entries)


class RegisterValues:
    """Compares what instructions of the compiler write before and after the passes.

    Parameters
    ----------
    before : Snapshot
        The code before the passes.
    after : Code
        The code after them.
    """

    def __init__(self, before: Snapshot, after: Code) -> None:
        addresses = sorted(
            label.key
            for label in before.code.labels
            if label.kind is LabelKind.CODE and isinstance(label.key, int)
        )
        old = _writes(addresses, before.code.labels, before.code.items)
        new = _writes(addresses, after.labels, after.items)
        self._wrong = _propagate(before.code, addresses, old, new)

    def are_right(self, address: int, registers: int) -> bool:
        """Tell whether registers have the compiler's values before an instruction.

        Parameters
        ----------
        address : int
            The address that the linker gave the instruction.
        registers : int
            A set of registers.
        """
        return not self._wrong.get(address, 0) & registers


def _writes(
    addresses: list[int], labels: Mapping[Label, int], items: list[Instruction]
) -> dict[int, int]:
    """Return what is written by what each instruction of the compiler became."""
    found = {}
    for index, address in enumerate(addresses):
        following = addresses[index + 1] if index + 1 < len(addresses) else address
        writes = 0
        for place in range(
            labels[Label(LabelKind.CODE, address)], labels[Label(LabelKind.CODE, following)]
        ):
            writes |= effects_of(items[place]).writes
        found[address] = writes
    return found


def _propagate(
    before: Code, addresses: list[int], old: Mapping[int, int], new: Mapping[int, int]
) -> dict[int, int]:
    """Follow the code; return the registers with other values before each instruction."""
    graph = FlowGraph(before)
    starting: dict[int, list[int]] = {}
    for address in addresses:
        starting.setdefault(before.labels[Label(LabelKind.CODE, address)], []).append(address)

    # Of a register: written later than the compiler has it, and written earlier; both if it is
    # one or the other.
    states: dict[int, tuple[int, int]] = {}
    blocks = {block.start: block for block in graph.blocks}
    pending = [block.start for block in reversed(graph.blocks)]
    wrong: dict[int, int] = {}
    while pending:
        block = blocks[pending.pop()]
        late, early = states.get(block.start, (0, 0))
        for index in range(block.start, block.end):
            for address in starting.get(index, ()):
                wrong[address] = late | early
                late, early = _after(late, early, old[address], new[address])
        for successor in graph.successors(block):
            known = states.get(successor, (0, 0))
            joined = known[0] | late, known[1] | early
            if joined != known and successor in blocks:
                states[successor] = joined
                pending.append(successor)
    return wrong


def _after(late: int, early: int, old: int, new: int) -> tuple[int, int]:
    dropped, added = old & ~new, new & ~old
    both = late & early
    is_late = late & ~added & ~(old & new) | dropped & ~early
    is_early = early & ~dropped & ~(old & new) | added & ~late
    return is_late | both & ~(old & new), is_early | both & ~(old & new)
