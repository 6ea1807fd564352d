# SPDX-License-Identifier: BSD-3-Clause
"""Registers that are known to hold a constant, put into the instructions that read them.

RISC-V makes an address in two halves; a DPU instruction has room for all of it.
"""

from __future__ import annotations

from typing import TypeAlias

from .code import Code, Instruction
from .effects import LOADS, STORES, effects_of, liveness
from .registers import ZERO

__all__ = ["fold_constants", "remove_unused"]

_Known: TypeAlias = dict[int, int]

_OPERATIONS = frozenset(["add", "sub", "and", "or", "xor"])
_COMMUTATIVE = frozenset(["add", "and", "or", "xor"])
_OFFSET_LIMIT = 1 << 23
# Of stores of a constant, and of addresses of atomic bits.
_SMALL_OFFSET_LIMIT, _BIT_LIMIT = 1 << 11, 1 << 15
_MASK = 0xFFFF_FFFF


def fold_constants(code: Code) -> None:
    """Rewrite instructions whose register operands are known numbers."""
    blocks = _blocks(code)
    before = _known_before(code, blocks)
    for start, end in blocks:
        if start not in before:
            continue
        known = dict(before[start])
        for index in range(start, end):
            instruction = _rewrite(code.items[index], known)
            code.items[index] = instruction
            _follow(instruction, known)


def remove_unused(code: Code) -> bool:
    """Drop what only writes registers that nobody reads; tell whether there was any."""
    live, effects = liveness(code)
    drop = {
        index
        for index, effect in enumerate(effects)
        if effect.is_pure and not effect.writes & live[index + 1]
    }
    replace(code, drop, {})
    return bool(drop)


def replace(code: Code, drop: set[int], put: dict[int, Instruction]) -> None:
    """Drop instructions and put others in places of those that stay; labels follow."""
    places = []
    items: list[Instruction] = []
    for index, instruction in enumerate(code.items):
        places.append(len(items))
        if index not in drop:
            items.append(put.get(index, instruction))
    places.append(len(items))
    for label, position in code.labels.items():
        code.labels[label] = places[position]
    code.items = items


def _blocks(code: Code) -> list[tuple[int, int]]:
    starts = {0, *code.entry_positions()}
    for index, instruction in enumerate(code.items):
        effect = effects_of(instruction)
        if effect.target is not None:
            starts.add(code.position(effect.target))
        if effect.target is not None or not effect.goes_on:
            starts.add(index + 1)
    ordered = sorted(start for start in starts if start < len(code.items))
    return list(zip(ordered, [*ordered[1:], len(code.items)], strict=True))


def _known_before(code: Code, blocks: list[tuple[int, int]]) -> dict[int, _Known]:
    """Return what is known at the start of every block that is reached."""
    ends = dict(blocks)
    before: dict[int, _Known] = {start: {} for start in code.entry_positions() if start in ends}
    if blocks:
        before.setdefault(0, {})
    # Functions that are called: nothing is known of their callers.
    for instruction in code.items:
        target = instruction.target
        if instruction.mnemonic == "call" and instruction.form == "rri" and target is not None:
            before[code.position(target)] = {}
    fixed = set(before)
    work = sorted(before, reverse=True)
    while work:
        start = work.pop()
        if start not in ends:
            continue
        known = dict(before[start])
        for index in range(start, ends[start]):
            _follow(code.items[index], known)
        last = effects_of(code.items[ends[start] - 1])
        following = [ends[start]] if last.goes_on else []
        if last.target is not None:
            following.append(code.position(last.target))
        for position in following:
            if position in fixed:
                continue
            old = before.get(position)
            new = known if old is None else dict(old.items() & known.items())
            if new != old:
                before[position] = dict(new)
                work.append(position)
    return before


def _constant(instruction: Instruction, known: _Known) -> int | None:
    """Return the number that an instruction loads or computes from known ones."""
    mnemonic, form, values = instruction
    if form != "rri" or mnemonic not in ("or", "add") or not isinstance(values[2], int):
        return None
    source = values[1]
    assert isinstance(source, int)
    value = 0 if source == ZERO else known.get(source)
    if value is None:
        return None
    return (value | values[2] if mnemonic == "or" else value + values[2]) & _MASK


def _follow(instruction: Instruction, known: _Known) -> None:
    value = _constant(instruction, known)
    writes = effects_of(instruction).writes
    if writes:
        for register in [register for register in known if writes >> register & 1]:
            del known[register]
    if value is not None:
        result = instruction.values[0]
        assert isinstance(result, int)
        known[result] = value


def _rewrite(instruction: Instruction, known: _Known) -> Instruction:
    mnemonic, form, values = instruction
    value = _constant(instruction, known)
    if value is not None:
        return Instruction("or", "rri", (values[0], ZERO, value))
    numbers = [value if isinstance(value, int) else -1 for value in values]
    if mnemonic in LOADS and numbers[2] in known:
        address = known[numbers[2]] + numbers[3] & _MASK
        if address < _OFFSET_LIMIT:
            return Instruction(mnemonic, form, (*values[:2], ZERO, address))
    elif mnemonic in STORES and numbers[1] in known:
        address = known[numbers[1]] + numbers[2] & _MASK
        if address < (_SMALL_OFFSET_LIMIT if form == "erii" else _OFFSET_LIMIT):
            return Instruction(mnemonic, form, (0, ZERO, address, values[3]))
    elif mnemonic in ("acquire", "release") and numbers[0] in known:
        address = known[numbers[0]] + numbers[1]
        if 0 <= address < _BIT_LIMIT:
            return Instruction(mnemonic, form, (ZERO, address, *values[2:]))
    elif form == "rrr" and mnemonic in _OPERATIONS:
        if numbers[2] in known and mnemonic != "sub":
            return Instruction(mnemonic, "rri", (values[0], values[1], known[numbers[2]]))
        if numbers[1] in known and mnemonic in _COMMUTATIVE:
            return Instruction(mnemonic, "rri", (values[0], values[2], known[numbers[1]]))
    return instruction
