# SPDX-License-Identifier: BSD-3-Clause
"""Description of a DPU for gdb: its registers, as those of an architecture that gdb knows.

gdb has no DPU. Its RISC-V with 32 bits has the registers that the compiler uses, under other names;
those of the DPU follow. An address of code is the index of the instruction, as it is in registers
and on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..debugger.machine import IRAM_BASE, ThreadState
from ..toolchain.ir.registers import REGISTERS

__all__ = [
    "PC",
    "REGISTER_COUNT",
    "code_address",
    "description",
    "register_value",
    "with_register",
]

_CORE = 32
PC = 32
_FIRST = 33
_OWN = 24
_FLAGS = ("zero_flag", "carry_flag")
REGISTER_COUNT = _FIRST + _OWN + len(_FLAGS)
_ALIASES = {1: "ra", 2: "sp", 3: "gp", 4: "tp", 8: "fp"}


def description() -> str:
    """Return the target description."""
    core = [
        f'<reg name="{_name(n)}" bitsize="32" type="{_type(n)}" regnum="{n}"/>'
        for n in range(_CORE)
    ]
    own = [
        f'<reg name="r{n}" bitsize="32" type="int" regnum="{_FIRST + n}" group="dpu"/>'
        for n in range(_OWN)
    ]
    own += [
        f'<reg name="{name}" bitsize="32" type="int" regnum="{_FIRST + _OWN + n}" group="dpu"/>'
        for n, name in enumerate(_FLAGS)
    ]
    return "\n".join(
        [
            '<?xml version="1.0"?>',
            '<!DOCTYPE target SYSTEM "gdb-target.dtd">',
            '<target version="1.0">',
            "<architecture>riscv:rv32</architecture>",
            # For Linux, which gdb guesses, it steps by breakpoints behind RISC-V instructions.
            "<osabi>none</osabi>",
            '<feature name="org.gnu.gdb.riscv.cpu">',
            *core,
            f'<reg name="pc" bitsize="32" type="code_ptr" regnum="{PC}"/>',
            "</feature>",
            '<feature name="offchip.dpu">',
            *own,
            "</feature>",
            "</target>",
            "",
        ]
    )


def _name(number: int) -> str:
    if number == 0:
        return "zero"
    if number in _ALIASES:
        return _ALIASES[number]
    if number <= 7:
        return f"t{number - 5}"
    if number == 9:
        return "s1"
    if number <= 17:
        return f"a{number - 10}"
    if number <= 27:
        return f"s{number - 16}"
    return f"t{number - 25}"


def _type(number: int) -> str:
    return "data_ptr" if number in (2, 3, 4, 8) else "code_ptr" if number == 1 else "int"


def code_address(address: int) -> int:
    """Return the address in the program of an address of code as gdb has it."""
    return address if address >= IRAM_BASE else IRAM_BASE + 8 * address


def register_value(state: ThreadState, number: int) -> int | None:
    """Return a register by gdb's number, None if the DPU has no counterpart."""
    if number == PC:
        return state.pc
    if number == 0:
        return 0
    if number in REGISTERS:
        return state.registers[REGISTERS[number]]
    if _FIRST <= number < _FIRST + _OWN:
        return state.registers[number - _FIRST]
    if number < REGISTER_COUNT and number >= _FIRST:
        return int((state.zero, state.carry)[number - _FIRST - _OWN])
    return None


def with_register(state: ThreadState, number: int, value: int) -> ThreadState:
    """Return a state with another value of a register; as it is if there is no counterpart."""
    if number == PC:
        return state._replace(pc=value)
    if number == _FIRST + _OWN:
        return state._replace(zero=bool(value))
    if number == _FIRST + _OWN + 1:
        return state._replace(carry=bool(value))
    own = REGISTERS.get(number) if number < _CORE else number - _FIRST
    if own is None or not 0 <= own < _OWN:
        return state
    registers: Sequence[int] = [
        value if index == own else old for index, old in enumerate(state.registers)
    ]
    return state._replace(registers=tuple(registers))
