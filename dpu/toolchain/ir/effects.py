# SPDX-License-Identifier: BSD-3-Clause
"""Effects of an instruction: registers that it reads and writes, and where control goes after it.

Sets of registers are integers with one bit per register; the two flags count as registers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ...isa import FORMS_BY_NAME
from .code import ASSEMBLY, PRODUCTS, Instruction
from .operands import Condition, Label, Register
from .registers import (
    ARGUMENTS,
    CALLEE_SAVED,
    CALLER_SAVED,
    LINK,
    RESULTS,
    RETURN,
    SCRATCH_HIGH,
    SCRATCH_LOW,
    SPARE,
    SPARE_2,
    ZERO,
)

__all__ = ["CARRY", "FLAGS", "LOADS", "STORES", "Effects", "effects_of", "register_set"]

# Beyond the bits of all registers.
CARRY, _ZERO_FLAG = 1 << 32, 1 << 33
FLAGS = CARRY | _ZERO_FLAG

LOADS = frozenset(["lbs", "lbu", "lhs", "lhu", "lw", "ld"])
STORES = frozenset(["sb", "sh", "sw", "sd"])
_SUMS = frozenset(["add", "addc", "sub", "subc"])


def register_set(*registers: Register) -> int:
    """Return a set of registers; constant registers are never in one."""
    return sum({1 << register for register in registers if register < ZERO})


_ALL = register_set(*map(Register, range(ZERO)))
_ROUTINE_WRITES = register_set(SCRATCH_HIGH, SCRATCH_LOW, LINK, SPARE, SPARE_2)
_ROUTINE_READS = register_set(SCRATCH_HIGH, SCRATCH_LOW, SPARE)
_CALL_WRITES = register_set(*CALLER_SAVED)
_CALL_READS = register_set(*ARGUMENTS, *CALLEE_SAVED)
_RETURN_READS = register_set(*RESULTS, RETURN, *CALLEE_SAVED)


class Effects(NamedTuple):
    """Effects of an instruction besides computing.

    Parameters
    ----------
    writes, reads : int
        Sets of registers.
    target : Label, optional
        Where it may jump.
    falls_through : bool
        Whether the next instruction may follow.
    is_pure : bool
        Whether writing registers is all that it does.
    """

    writes: int = 0
    reads: int = 0
    target: Label | None = None
    falls_through: bool = True
    is_pure: bool = False


@lru_cache(maxsize=65536)
def effects_of(instruction: Instruction) -> Effects:
    """Return the effects of an instruction."""
    return _EFFECTS.get(instruction.mnemonic, _arithmetic)(instruction)


def _arithmetic(instruction: Instruction) -> Effects:
    mnemonic, form, operands = instruction
    writes = _ZERO_FLAG
    if form[0] == "r":
        writes |= register_set(instruction.register(0))
    reads = register_set(
        *(
            instruction.register(position)
            for position in range(1, min(len(form), len(operands)))
            if form[position] == "r"
        )
    )

    if mnemonic in _SUMS:
        writes |= CARRY
    if mnemonic in ("addc", "subc"):
        reads |= CARRY
    if any(isinstance(operand, Condition) and operand.reads_zero_flag for operand in operands):
        reads |= _ZERO_FLAG

    # Forms with i last after c jump; in any other form a label is a number to load.
    jumps = form.endswith("ci")
    return Effects(writes, reads, instruction.target if jumps else None, is_pure=not jumps)


def _call(instruction: Instruction) -> Effects:
    register = instruction.register(1)
    if instruction.is_jump:
        return Effects(target=instruction.target, falls_through=False)
    if instruction.form == "zri":
        return Effects(reads=_RETURN_READS if register == RETURN else _ALL, falls_through=False)
    if instruction.register(0) == LINK:
        return Effects(_ROUTINE_WRITES | FLAGS, _ROUTINE_READS)
    return Effects(_CALL_WRITES | FLAGS, _CALL_READS | register_set(register))


def _product(instruction: Instruction) -> Effects:
    result_count = len(instruction.form) - 2
    registers = [instruction.register(position) for position in range(len(instruction.form))]
    results, factors = registers[:result_count], registers[result_count:]
    writes = _ROUTINE_WRITES | FLAGS | register_set(*results)
    return Effects(writes, register_set(*factors), is_pure=True)


def _load(instruction: Instruction) -> Effects:
    result, base = instruction.register(1), instruction.register(2)
    return Effects(_accessed(instruction, result), register_set(base))


def _store(instruction: Instruction) -> Effects:
    reads = register_set(instruction.register(1))
    if instruction.form == "erir":
        reads |= _accessed(instruction, instruction.register(3))
    return Effects(reads=reads)


def _accessed(instruction: Instruction, register: Register) -> int:
    """Return the registers that a load or store transfers."""
    if instruction.mnemonic in ("ld", "sd"):
        return _pair(register)
    return register_set(register)


def _pair(register: Register) -> int:
    return register_set(register, Register(register + 1))


def _dma(instruction: Instruction) -> Effects:
    return Effects(reads=register_set(instruction.register(0), instruction.register(1)))


def _atomic(instruction: Instruction) -> Effects:
    reads = register_set(instruction.register(0))
    return Effects(_ZERO_FLAG, reads, instruction.target)


def _control(instruction: Instruction) -> Effects:
    return Effects(target=instruction.target)


def _time(instruction: Instruction) -> Effects:
    writes = _ZERO_FLAG
    if instruction.form[0] == "r":
        writes |= register_set(instruction.register(0))
    configures = instruction.mnemonic == "time_cfg"
    return Effects(writes, register_set(instruction.register(1)) if configures else 0)


def _step(instruction: Instruction) -> Effects:
    """Return the effects of one step of a multiplication or division, on a pair of registers."""
    pair = _pair(instruction.register(0))
    reads = pair | register_set(instruction.register(1)) | _pair(instruction.register(2))
    return Effects(pair | _ZERO_FLAG, reads, instruction.target)


def _assembly(instruction: Instruction) -> Effects:
    """Return the effects of an instruction of assembly, by the names of its operands."""
    form = FORMS_BY_NAME[instruction.form]
    writes = reads = 0
    for operand, value in zip(form.operands, instruction.operands, strict=True):
        if not isinstance(value, Register):
            continue
        used = _pair(value) if operand.name in ("dc", "db") else register_set(value)
        if operand.name in ("rc", "dc"):
            writes |= used
        else:
            reads |= used

    if form.mnemonic == "call":
        return _assembly_call(instruction, reads)
    if form.mnemonic in _SUMS:
        writes |= CARRY
    return Effects(writes, reads | FLAGS, instruction.target)


def _assembly_call(instruction: Instruction, reads: int) -> Effects:
    """Return the effects of a jump, or of a call, whose registers are not known."""
    is_jump = instruction.form.startswith("call:z")
    if is_jump and instruction.target is not None and not reads:
        return Effects(target=instruction.target, falls_through=False)
    if is_jump:
        return Effects(reads=_ALL | FLAGS, falls_through=False)
    return Effects(_ALL | FLAGS, _ALL | FLAGS)


_EFFECTS: dict[str, Callable[[Instruction], Effects]] = {
    ASSEMBLY: _assembly,
    "call": _call,
    **dict.fromkeys(PRODUCTS, _product),
    **dict.fromkeys(LOADS, _load),
    **dict.fromkeys(STORES, _store),
    **dict.fromkeys(["ldma", "sdma", "ldmai"], _dma),
    **dict.fromkeys(["acquire", "release", "boot", "resume", "read_run"], _atomic),
    **dict.fromkeys(["stop", "nop", "fault"], _control),
    **dict.fromkeys(["time", "time_cfg"], _time),
    **dict.fromkeys(["mul_step", "div_step"], _step),
}
