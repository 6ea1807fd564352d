# SPDX-License-Identifier: BSD-3-Clause
"""What instructions do to registers, and which registers are still of use where.

Sets of registers are numbers with a bit for each; the two flags count as registers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .code import PRODUCTS, Code, Instruction, Label
from .registers import (
    ARGUMENTS,
    CALL_CHANGES,
    CALL_KEEPS,
    LINK,
    RETURN,
    SCRATCH_HIGH,
    SCRATCH_LOW,
    SPARE,
    SPARE_2,
    ZERO,
)

__all__ = ["CARRY", "FLAGS", "LOADS", "STORES", "Effects", "effects_of", "liveness"]

# Far from the bits of registers.
CARRY, _ZERO_FLAG = 1 << 32, 1 << 33
FLAGS = CARRY | _ZERO_FLAG

LOADS = frozenset(["lbs", "lbu", "lhs", "lhu", "lw", "ld"])
STORES = frozenset(["sb", "sh", "sw", "sd"])
_DMA = frozenset(["ldma", "sdma", "ldmai"])
_BITS = frozenset(["acquire", "release", "boot", "resume", "read_run"])
_STEPS = frozenset(["mul_step", "div_step"])
_SUMS = frozenset(["add", "addc", "sub", "subc"])


def _bits(*registers: int) -> int:
    return sum({1 << register for register in registers if register < ZERO})


_ALL = _bits(*range(ZERO))
_RESULT = (0, 1)
_ROUTINE_WRITES = _bits(SCRATCH_HIGH, SCRATCH_LOW, LINK, SPARE, SPARE_2)
_ROUTINE_READS = _bits(SCRATCH_HIGH, SCRATCH_LOW, SPARE)


class Effects(NamedTuple):
    """Registers that an instruction writes and reads, where it may jump, whether it may go on."""

    writes: int
    reads: int
    target: Label | None
    goes_on: bool
    # Does nothing but write registers.
    is_pure: bool


@lru_cache(maxsize=65536)
def effects_of(instruction: Instruction) -> Effects:
    """Return what an instruction does."""
    mnemonic, form, values = instruction
    numbers = [value if isinstance(value, int) else 0 for value in values]
    target = instruction.target
    if mnemonic == "call":
        return _call(form, numbers, target)
    if mnemonic in PRODUCTS:
        results = len(form) - 2
        writes = _ROUTINE_WRITES | FLAGS | _bits(*numbers[:results])
        return Effects(writes, _bits(*numbers[results:]), None, True, True)
    if mnemonic in _DMA:
        return Effects(0, _bits(numbers[0], numbers[1]), None, True, False)
    if mnemonic in LOADS:
        return Effects(_some(mnemonic == "ld", numbers[1]), _bits(numbers[2]), None, True, False)
    if mnemonic in STORES:
        reads = _bits(numbers[1])
        if form == "erir":
            reads |= _some(mnemonic == "sd", numbers[3])
        return Effects(0, reads, None, True, False)
    if mnemonic in _BITS:
        return Effects(_ZERO_FLAG, _bits(numbers[0]), target, True, False)
    if mnemonic in ("stop", "nop", "fault"):
        return Effects(0, 0, target, True, False)
    if mnemonic in ("time", "time_cfg"):
        writes = _bits(numbers[0]) if form[0] == "r" else 0
        reads = _bits(numbers[1]) if mnemonic == "time_cfg" else 0
        return Effects(writes | _ZERO_FLAG, reads, None, True, False)
    if mnemonic in _STEPS:
        pair = _some(True, numbers[0])
        reads = pair | _some(True, numbers[2]) | _bits(numbers[1])
        return Effects(pair | _ZERO_FLAG, reads, target, True, False)
    writes = (_bits(numbers[0]) if form[0] == "r" else 0) | _ZERO_FLAG
    reads = _bits(*(n for n, kind in zip(numbers[1:], form[1:], strict=False) if kind == "r"))
    if mnemonic in _SUMS:
        writes |= CARRY
    if mnemonic in ("addc", "subc"):
        reads |= CARRY
    if any(isinstance(value, str) and value[0] == "x" for value in values):
        reads |= _ZERO_FLAG
    # Forms with i last after c jump; a label elsewhere is a number that is loaded.
    jumps = form.endswith("ci")
    return Effects(writes, reads, target if jumps else None, True, not jumps)


def _some(is_pair: bool, register: int) -> int:
    return _bits(register, register + 1) if is_pair else _bits(register)


def _call(form: str, numbers: list[int], target: Label | None) -> Effects:
    register = numbers[1]
    if form == "zri":
        if register == ZERO and target is not None:
            return Effects(0, 0, target, False, False)
        reads = _bits(*_RESULT, RETURN, *CALL_KEEPS) if register == RETURN else _ALL
        return Effects(0, reads, None, False, False)
    if numbers[0] == LINK:
        return Effects(_ROUTINE_WRITES | FLAGS, _ROUTINE_READS, None, True, False)
    return Effects(
        _bits(*CALL_CHANGES) | FLAGS, _bits(register, *ARGUMENTS, *CALL_KEEPS), None, True, False
    )


def liveness(code: Code) -> tuple[list[int], list[Effects]]:
    """Return the registers of use before each instruction (and at the end), and the effects."""
    effects = [effects_of(instruction) for instruction in code.items]
    targets = [
        code.position(effect.target) if effect.target is not None else None for effect in effects
    ]
    live = [0] * (len(effects) + 1)
    changed = True
    while changed:
        changed = False
        for index in range(len(effects) - 1, -1, -1):
            effect, target = effects[index], targets[index]
            after = live[index + 1] if effect.goes_on else 0
            if target is not None:
                after |= live[target]
            before = after & ~effect.writes | effect.reads
            if before != live[index]:
                live[index] = before
                changed = True
    return live, effects
