# SPDX-License-Identifier: BSD-3-Clause
"""Shorter ways to say the same: carries, and operations that jump by their result."""

from __future__ import annotations

from .code import Code, Instruction
from .constants import fold_constants, remove_unused, replace
from .effects import liveness
from .registers import ZERO

__all__ = ["optimise"]

_TESTED = frozenset(["add", "sub", "and", "or", "xor", "lsl", "lsr", "asr"])
_SHIFTS = frozenset(["lsl", "lsr", "asr"])
_OPPOSITE = {"lts": "ges", "ltu": "geu"}


def optimise(code: Code) -> None:
    """Make code shorter, which means the same."""
    fold_constants(code)
    while remove_unused(code):
        pass
    while _Pass(code).run():
        pass


class _Pass:
    """One look at all instructions; changes are made at its end."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.items = code.items
        self.live, self.effects = liveness(code)
        self.drop: set[int] = set()
        self.put: dict[int, Instruction] = {}
        self.joins = code.entry_positions() | {
            code.position(effect.target) for effect in self.effects if effect.target is not None
        }
        # A call comes back to the instruction after it, which must stay there.
        for index, effect in enumerate(self.effects):
            if self.items[index].mnemonic == "call" and effect.goes_on:
                self.joins.add(index + 1)

    def run(self) -> bool:
        """Change what can be; tell whether there was anything."""
        index = 0
        while index < len(self.items) - 1:
            index += self._carry(index) or self._jump(index) or 1
        if not self.drop:
            return False
        replace(self.code, self.drop, self.put)
        return True

    def _is_dead(self, index: int, register: int) -> bool:
        """Tell whether nobody reads a register after an instruction, if that does not jump."""
        return not self.live[index + 1] >> register & 1

    def _is_dead_at(self, instruction: Instruction, register: int) -> bool:
        """Tell whether nobody reads a register where an instruction jumps to."""
        target = instruction.target
        return target is not None and not self.live[self.code.position(target)] >> register & 1

    def _carry(self, index: int) -> int:
        """Replace sum, comparison of the sum with an operand, and addition of what that gives.

        `add s, x, y; sub c, s, x, ltu; add h, h, c` is `add s, x, y; addc h, h, 0`; and if what
        comes before is `add h, p, q`, it is `add s, x, y; addc h, p, q`.
        """
        if index + 2 >= len(self.items) or {index + 1, index + 2} & self.joins:
            return 0
        first, second, third = self.items[index : index + 3]
        if (first.name, second.name, third.name) != ("add:rrr", "sub:rrrc", "add:rrr"):
            return 0
        low, left, right = first.values
        carry, compared, operand, condition = second.values
        high, *terms = third.values
        if (
            condition != "ltu"
            or compared != low
            or operand == low
            or operand not in (left, right)
            or carry == low
            or terms.count(carry) != 1
        ):
            return 0
        other = terms[0] if terms[1] == carry else terms[1]
        assert isinstance(carry, int)
        assert isinstance(other, int)
        if other in (low, ZERO) or not (high == carry or self._is_dead(index + 2, carry)):
            return 0
        self.drop.add(index + 1)
        before = self._sum_before(index, other, {low, left, right})
        if before is not None and (high == other or self._is_dead(index + 2, other)):
            self.drop.add(index - 1)
            self.put[index + 2] = Instruction("addc", "rrr", (high, *before))
        else:
            self.put[index + 2] = Instruction("addc", "rri", (high, other, 0))
        return 3

    def _sum_before(self, index: int, high: int, low: set[object]) -> tuple[int, int] | None:
        """Return the terms of a sum just before, if nothing of it meets the low sum."""
        if index == 0 or index in self.joins or {index - 1} & (self.drop | self.put.keys()):
            return None
        before = self.items[index - 1]
        if before.name != "add:rrr" or before.values[0] != high or high in low:
            return None
        _, left, right = before.values
        assert isinstance(left, int)
        assert isinstance(right, int)
        first_low = self.items[index].values[0]
        return None if first_low in (left, right) else (left, right)

    def _jump(self, index: int) -> int:
        """Replace an operation and a jump if its result is or is not zero by one instruction."""
        first, second = self.items[index : index + 2]
        if (
            second.name != "sub:zrici"
            or second.values[2] != 0
            or second.values[3] not in ("z", "nz")
            or index + 1 in self.joins
            or index in self.put
            or not first.values
            or first.form[0] != "r"
            or first.values[0] != second.values[1]
        ):
            return 0
        new = self._tested(index, first, second)
        if new is None:
            return 0
        self.drop.add(index)
        self.put[index + 1] = new
        return 2

    def _tested(self, index: int, first: Instruction, second: Instruction) -> Instruction | None:
        mnemonic, form, values = first
        condition, target = second.values[3], second.values[4]
        result = values[0]
        assert isinstance(result, int)
        assert isinstance(condition, str)
        unused = self._is_dead(index + 1, result) and self._is_dead_at(second, result)
        if form == "rri" and mnemonic in ("add", "and", "or", "xor"):
            number = values[2]
            if not isinstance(number, int):
                return None
            number = number - (1 << 32) if number >> 31 else number
            if mnemonic == "and" and unused and -1024 <= number < 1024 and values[1] != ZERO:
                return Instruction("and", "zrici", (0, values[1], number, condition, target))
            if -128 <= number < 128:
                return Instruction(mnemonic, "rrici", (*values[:2], number, condition, target))
        elif form == "rrr" and mnemonic in _TESTED:
            return Instruction(mnemonic, "rrrci", (*values, condition, target))
        elif form == "rri" and mnemonic in _SHIFTS:
            return Instruction(mnemonic, "rrici", (*values, condition, target))
        elif mnemonic == "sub" and form in ("rrrc", "rric") and unused:
            return _compare_and_jump(first, second)
        return None


def _compare_and_jump(first: Instruction, second: Instruction) -> Instruction | None:
    _, left, right, compared = first.values
    if not isinstance(compared, str) or compared not in _OPPOSITE:
        return None
    condition = compared if second.values[3] == "nz" else _OPPOSITE[compared]
    if first.form == "rrrc":
        return Instruction("sub", "zrrci", (0, left, right, condition, second.values[4]))
    if isinstance(right, int) and -1024 <= right < 1024:
        return Instruction("sub", "zrici", (0, left, right, condition, second.values[4]))
    return None
