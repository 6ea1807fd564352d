# SPDX-License-Identifier: BSD-3-Clause
"""Constant propagation, and expansion of products by what is known about their operands.

RISC-V makes an address in two halves; a DPU instruction has room for all of it. What a
multiplication becomes depends on how wide its operands are.
"""

from __future__ import annotations

from ..ir.code import PRODUCTS, Code, Instruction
from ..ir.effects import LOADS, STORES, effects_of
from ..ir.flow_graph import Block, FlowGraph
from ..ir.operands import Register
from ..ir.registers import ZERO
from .products import expand_product
from .register_facts import (
    UNKNOWN,
    KnownRegisters,
    RegisterFacts,
    Width,
    constant_facts,
    width_facts,
)

__all__ = ["fold_constants"]

_OPERATIONS = frozenset(["add", "sub", "and", "or", "xor"])
_COMMUTATIVE = frozenset(["add", "and", "or", "xor"])
_OFFSET_LIMIT = 1 << 23
# Of stores of a constant, and of addresses of atomic bits.
_SMALL_OFFSET_LIMIT, _BIT_LIMIT = 1 << 11, 1 << 15
_MASK = 0xFFFF_FFFF

_LOADED = {"lbu": Width.U8, "lhu": Width.U16, "lbs": Width.S8, "lhs": Width.S16}
_EXTENDED = {"extub": Width.U8, "extuh": Width.U16, "extsb": Width.S8, "extsh": Width.S16}
_COUNTS = frozenset(["clz", "clo", "cls", "cao"])


def fold_constants(code: Code) -> set[str]:
    """Put constants into the instructions that read them, and expand products.

    Returns
    -------
    set of str
        The arithmetic routines that the expansions call.
    """
    graph = FlowGraph(code)
    before = _propagate(graph, _functions(code))
    routines: set[str] = set()
    put: dict[int, list[Instruction]] = {}
    for block in graph.blocks:
        if block.start not in before:
            # Control never reaches it.
            put |= {index: [] for index in range(block.start, block.end)}
            continue
        known = dict(before[block.start])
        for index in range(block.start, block.end):
            instruction = graph.instructions[index]
            if instruction.mnemonic in PRODUCTS:
                put[index] = expand_product(instruction, known, routines)
            else:
                new = _folded(instruction, known)
                if new is not instruction:
                    put[index] = [new]
                    instruction = new
            _follow(instruction, known)

    code.replace(set(), put)
    return routines


def _functions(code: Code) -> set[int]:
    """Return the positions that are called: nothing is known about their callers' registers."""
    return {
        code.position(instruction.target)
        for instruction in code.items
        if instruction.mnemonic == "call"
        and instruction.form == "rri"
        and instruction.target is not None
    }


def _propagate(graph: FlowGraph, functions: set[int]) -> dict[int, KnownRegisters]:
    """Return what is known at the start of each block that control reaches."""
    blocks = {block.start: block for block in graph.blocks}
    before: dict[int, KnownRegisters] = {
        start: {} for start in {0, *functions, *graph.entries} if start in blocks
    }
    fixed = set(before)
    pending = sorted(before, reverse=True)
    while pending:
        block = blocks[pending.pop()]
        known = _known_after(graph, block, before[block.start])
        for start in graph.successors(block):
            if start in fixed or start not in blocks:
                continue
            old = before.get(start)
            new = known if old is None else _meet(old, known)
            if new != old:
                before[start] = new
                pending.append(start)

    return before


def _known_after(graph: FlowGraph, block: Block, before: KnownRegisters) -> KnownRegisters:
    known = dict(before)
    for index in range(block.start, block.end):
        _follow(graph.instructions[index], known)
    return known


def _meet(one: KnownRegisters, other: KnownRegisters) -> KnownRegisters:
    """Return what is known in both cases."""
    both = {
        register: facts.meet(other[register])
        for register, facts in one.items()
        if register in other
    }
    return {register: facts for register, facts in both.items() if facts != UNKNOWN}


def _constant_of(known: KnownRegisters, register: Register) -> int | None:
    return known[register].constant if register in known else None


def _result(instruction: Instruction, known: KnownRegisters) -> int | None:
    """Return the constant that an instruction loads, or computes from a known one."""
    mnemonic, form, _ = instruction
    if form != "rri" or mnemonic not in ("or", "add"):
        return None
    source, number = instruction.register(1), instruction.immediate(2)
    value = 0 if source == ZERO else _constant_of(known, source)
    if value is None or number is None:
        return None
    return (value | number if mnemonic == "or" else value + number) & _MASK


def _follow(instruction: Instruction, known: dict[Register, RegisterFacts]) -> None:
    """Change what is known to what is known after an instruction."""
    writes = effects_of(instruction).writes
    if not writes:
        return
    facts = _result_facts(instruction, known)
    for register in [register for register in known if writes >> register & 1]:
        del known[register]
    if facts is not UNKNOWN:
        known[instruction.register(1 if instruction.mnemonic in LOADS else 0)] = facts


def _result_facts(instruction: Instruction, known: KnownRegisters) -> RegisterFacts:
    """Return the facts about what an instruction leaves in its result register."""
    value = _result(instruction, known)
    if value is not None:
        return constant_facts(value)
    mnemonic, form, _ = instruction
    if mnemonic in LOADS:
        return width_facts(_LOADED.get(mnemonic))
    if mnemonic in _EXTENDED:
        return width_facts(_EXTENDED[mnemonic])
    if mnemonic in _COUNTS or (mnemonic == "sub" and form in ("rrrc", "rric")):
        return width_facts(Width.U8)

    number = instruction.immediate(2) if form == "rri" else None
    if number is None:
        return UNKNOWN
    if mnemonic == "or" and number == 0:
        return known.get(instruction.register(1), UNKNOWN)
    return width_facts(_masked_width(mnemonic, number))


def _masked_width(mnemonic: str, number: int) -> Width | None:
    """Return the width that a mask or a shift to the right leaves."""
    if mnemonic == "asr":
        return Width.S8 if number >= 24 else Width.S16 if number >= 16 else None
    top = number if mnemonic == "and" else _MASK >> number if mnemonic == "lsr" else _MASK
    return Width.U8 if top <= 0xFF else Width.U16 if top <= 0xFFFF else None


def _folded(instruction: Instruction, known: KnownRegisters) -> Instruction:
    """Return an instruction with what is known in place of registers."""
    value = _result(instruction, known)
    if value is not None:
        return Instruction("or", "rri", (instruction.operands[0], ZERO, value))
    mnemonic, form, _ = instruction
    if mnemonic in LOADS or mnemonic in STORES:
        return _folded_access(instruction, known)
    if mnemonic in ("acquire", "release"):
        return _folded_bit(instruction, known)
    if form == "rrr" and mnemonic in _OPERATIONS:
        return _folded_operation(instruction, known)
    return instruction


def _folded_access(instruction: Instruction, known: KnownRegisters) -> Instruction:
    """Put a known base address into the offset of a load or store."""
    place = 2 if instruction.mnemonic in LOADS else 1
    base, offset = (
        _constant_of(known, instruction.register(place)),
        instruction.immediate(place + 1),
    )
    if base is None or offset is None:
        return instruction
    address = base + offset & _MASK
    if address >= (_SMALL_OFFSET_LIMIT if instruction.form == "erii" else _OFFSET_LIMIT):
        return instruction
    return instruction.with_operand(place, ZERO).with_operand(place + 1, address)


def _folded_bit(instruction: Instruction, known: KnownRegisters) -> Instruction:
    """Put a known register into the address of an atomic bit."""
    base, offset = _constant_of(known, instruction.register(0)), instruction.immediate(1)
    if base is None or offset is None or not 0 <= base + offset < _BIT_LIMIT:
        return instruction
    return instruction.with_operand(0, ZERO).with_operand(1, base + offset)


def _folded_operation(instruction: Instruction, known: KnownRegisters) -> Instruction:
    """Put a known operand into an operation as an immediate."""
    mnemonic = instruction.mnemonic
    result, left, right = (instruction.register(position) for position in range(3))
    number = _constant_of(known, right)
    if number is not None and mnemonic != "sub":
        return Instruction(mnemonic, "rri", (result, left, number))
    number = _constant_of(known, left)
    if number is not None and mnemonic in _COMMUTATIVE:
        return Instruction(mnemonic, "rri", (result, right, number))
    return instruction
