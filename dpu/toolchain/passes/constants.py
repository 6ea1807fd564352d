# SPDX-License-Identifier: BSD-3-Clause
"""What is known of registers: constants, put into the instructions that read them, and widths.

RISC-V makes an address in two halves; a DPU instruction has room for all of it. What a
multiplication becomes depends on how wide its operands are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

from ..ir.code import PRODUCTS, Code, Instruction, replace
from ..ir.effects import LOADS, STORES, effects_of, liveness
from ..ir.registers import ZERO
from .products import Width, expand_product

__all__ = ["fold_constants", "remove_unused"]

# Constants by register, and by register + _NEXT * width whether it is of that width.
_Known: TypeAlias = dict[int, int]

_NEXT = 32

_OPERATIONS = frozenset(["add", "sub", "and", "or", "xor"])
_COMMUTATIVE = frozenset(["add", "and", "or", "xor"])
_OFFSET_LIMIT = 1 << 23
# Of stores of a constant, and of addresses of atomic bits.
_SMALL_OFFSET_LIMIT, _BIT_LIMIT = 1 << 11, 1 << 15
_MASK = 0xFFFF_FFFF


# What is of the first width is of the others too.
_IMPLIED = {
    Width.U8: (Width.U8, Width.U16, Width.S16),
    Width.U16: (Width.U16,),
    Width.S8: (Width.S8, Width.S16),
    Width.S16: (Width.S16,),
}
_RANGES = {
    Width.U8: (0, 0xFF),
    Width.S8: (-0x80, 0x7F),
    Width.U16: (0, 0xFFFF),
    Width.S16: (-0x8000, 0x7FFF),
}
_LOADED = {"lbu": Width.U8, "lhu": Width.U16, "lbs": Width.S8, "lhs": Width.S16}
_EXTENDED = {"extub": Width.U8, "extuh": Width.U16, "extsb": Width.S8, "extsh": Width.S16}
_COUNTS = frozenset(["clz", "clo", "cls", "cao"])


def fold_constants(code: Code) -> set[str]:
    """Rewrite instructions whose operands are known numbers, and multiplications and divisions.

    Returns
    -------
    set of str
        The routines that are called.
    """
    routines: set[str] = set()
    expanded: dict[int, list[Instruction]] = {}
    blocks = _blocks(code)
    before = _known_before(code, blocks)
    for start, end in blocks:
        if start not in before:
            continue
        known = dict(before[start])
        for index in range(start, end):
            instruction = code.items[index]
            if instruction.mnemonic in PRODUCTS:
                expanded[index] = expand_product(
                    instruction, known.get, partial(_width_of, known), routines
                )
            else:
                code.items[index] = instruction = _rewrite(instruction, known)
            _follow(instruction, known)
    for start, end in blocks:
        if start not in before:
            # Nobody comes here.
            expanded |= {index: [] for index in range(start, end)}
    replace(code, set(), expanded)
    return routines


def _width_of(known: _Known, register: int) -> Width | None:
    return next((width for width in Width if register + _NEXT * width in known), None)


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
    widths = _widths(instruction, value, known) if writes else ()
    if writes:
        for fact in [fact for fact in known if writes >> fact % _NEXT & 1]:
            del known[fact]
    if value is not None or widths:
        result = instruction.values[1 if instruction.mnemonic in LOADS else 0]
        assert isinstance(result, int)
        for width in widths:
            known[result + _NEXT * width] = 1
        if value is not None:
            known[result] = value


def _widths(instruction: Instruction, value: int | None, known: _Known) -> Iterable[Width]:
    """Return the widths of what an instruction leaves in its first operand."""
    mnemonic, form, values = instruction
    if value is not None:
        number = value - (1 << 32) if value >> 31 else value
        return [width for width, (low, high) in _RANGES.items() if low <= number <= high]
    if mnemonic in LOADS:
        width = _LOADED.get(mnemonic)
        return _IMPLIED[width] if width is not None else ()
    if mnemonic in _EXTENDED:
        return _IMPLIED[_EXTENDED[mnemonic]]
    if mnemonic in _COUNTS or (mnemonic == "sub" and form in ("rrrc", "rric")):
        return _IMPLIED[Width.U8]
    if form != "rri" or not isinstance(values[1], int) or not isinstance(values[2], int):
        return ()
    source, number = values[1], values[2]
    if mnemonic == "or" and number == 0:
        return [width for width in Width if source + _NEXT * width in known]
    if mnemonic == "asr":
        return _IMPLIED[Width.S8] if number >= 24 else _IMPLIED[Width.S16] if number >= 16 else ()
    top = number if mnemonic == "and" else _MASK >> number if mnemonic == "lsr" else _MASK
    return _IMPLIED[Width.U8] if top <= 0xFF else _IMPLIED[Width.U16] if top <= 0xFFFF else ()


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
