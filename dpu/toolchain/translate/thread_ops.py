# SPDX-License-Identifier: BSD-3-Clause
"""Translates instructions that only the DPU has, which C writes as custom ones of RISC-V.

Their opcode is 0x0b, and funct3 says which they are:

0, 1, 2
    `ldma`, `sdma`, `ldmai`, in S format: the MRAM or IRAM address is in rs2, the WRAM address in
    rs1, and the immediate is bytes / 8 - 1.
3, 4
    `acquire`, `release`, in I format: the bit's address is rs1 plus the immediate. With a result
    register, `acquire` tries once.
5
    `fault`, with the immediate as its number.
6
    R format: what `_Function` and `_BINARY` list, by funct7.
7
    An instruction of assembly (`assembly.py`).
"""

from __future__ import annotations

from enum import IntEnum

from ..errors import TranslationError
from ..ir.code import Code
from ..ir.operands import Condition, Register
from ..ir.registers import ID, SCRATCH_HIGH, SCRATCH_LOW, ZERO, register_of
from .rv32 import Rv32, sign_extend

__all__ = ["translate_custom"]

_DMA = ("ldma", "sdma", "ldmai")


class _Function(IntEnum):
    """funct7 of the R format."""

    ME = 0
    STOP = 1
    BOOT = 2
    RESUME = 3
    TIME = 4
    TIME_CFG = 5
    NOP = 6
    READ_RUN = 7
    CLS = 8
    DIVIDE_8 = 22


# funct7 of instructions with a result and two operands.
_BINARY = {
    9: "hash",
    10: "cmpb4",
    16: "mul_ul_ul",
    17: "mul_ul_uh",
    18: "mul_uh_ul",
    19: "mul_uh_uh",
    20: "lsrx",
    21: "lslx",
}


def translate_custom(code: Code, rv: Rv32) -> None:
    """Append the translation of a custom instruction."""
    first = register_of(rv.rs1)
    if rv.funct3 <= 2:
        size = sign_extend(rv.funct7 << 5 | rv.rd, 12) & 255
        memory = _in_register(code, register_of(rv.rs2), SCRATCH_HIGH)
        code.emit(_DMA[rv.funct3], "rri", first, memory, size)
    elif rv.funct3 == 3:
        _acquire(code, rv, first)
    elif rv.funct3 == 4:
        end = code.new_label()
        code.emit("release", "rici", first, rv.immediate, Condition.NOT_ZERO, end)
        code.place(end)
    elif rv.funct3 == 5:
        code.emit("fault", "i", rv.word >> 20)
    elif rv.funct3 == 6:
        _threads(code, rv, first)
    else:
        raise TranslationError(f"unknown custom instruction {rv.word:#010x}")


def _in_register(code: Code, register: Register, scratch: Register) -> Register:
    """Return a register that every operand can name: a scratch register for zero."""
    if register != ZERO:
        return register
    code.load_immediate(scratch, 0)
    return scratch


def _acquire(code: Code, rv: Rv32, bit: Register) -> None:
    if rv.rd == 0:
        again = code.new_label()
        code.place(again)
        code.emit("acquire", "rici", bit, rv.immediate, Condition.NOT_ZERO, again)
        return
    result, end = register_of(rv.rd), code.new_label()
    code.move(SCRATCH_HIGH, bit)
    code.load_immediate(result, 1)
    code.emit("acquire", "rici", SCRATCH_HIGH, rv.immediate, Condition.ZERO, end)
    code.load_immediate(result, 0)
    code.place(end)


def _threads(code: Code, rv: Rv32, first: Register) -> None:
    function = rv.funct7
    if function == _Function.STOP:
        end = code.new_label()
        code.emit("stop", "ci", Condition.TRUE, end)
        code.place(end)
    elif function == _Function.BOOT:
        code.emit("boot", "rici", first, 0, Condition.FALSE, 0)
    elif function == _Function.RESUME:
        again = code.new_label()
        code.place(again)
        code.emit("resume", "rici", first, 0, Condition.NOT_ZERO, again)
    elif function == _Function.NOP:
        code.emit("nop", "")
    elif function == _Function.TIME_CFG and rv.rd == 0:
        code.emit("time_cfg", "zr", 0, first)
    elif rv.rd == 0:
        raise TranslationError(f"custom instruction {function} has no result register")
    else:
        _with_result(code, rv, register_of(rv.rd), first)


def _with_result(code: Code, rv: Rv32, result: Register, first: Register) -> None:
    function = rv.funct7
    if function == _Function.ME:
        code.move(result, ID)
    elif function == _Function.TIME:
        code.emit("time", "r", result)
    elif function == _Function.TIME_CFG:
        code.emit("time_cfg", "rr", result, first)
    elif function == _Function.READ_RUN:
        end = code.new_label()
        code.move(SCRATCH_HIGH, first)
        code.load_immediate(result, 1)
        code.emit("read_run", "rici", SCRATCH_HIGH, 0, Condition.NOT_ZERO, end)
        code.load_immediate(result, 0)
        code.place(end)
    elif function == _Function.CLS:
        code.emit("cls", "rr", result, first)
    elif function in _BINARY:
        second = _in_register(code, register_of(rv.rs2), SCRATCH_LOW)
        code.emit(_BINARY[function], "rrr", result, first, second)
    elif function == _Function.DIVIDE_8:
        _divide_8(code, result, first, register_of(rv.rs2))
    else:
        raise TranslationError(f"unknown custom instruction, funct7 {function}")


def _divide_8(code: Code, result: Register, dividend: Register, divisor: Register) -> None:
    """Append 8 steps of a division: remainder * 256 + quotient of (dividend * 256)."""
    divisor = _in_register(code, divisor, SCRATCH_LOW)
    code.emit("lsl", "rri", SCRATCH_LOW, dividend, 8)
    code.load_immediate(SCRATCH_HIGH, 0)
    for step in range(7, -1, -1):
        code.emit(
            "div_step", "rrrici", SCRATCH_HIGH, divisor, SCRATCH_HIGH, step, Condition.FALSE, 0
        )
    code.emit("lsl_add", "rrri", result, SCRATCH_HIGH, SCRATCH_LOW, 8)
