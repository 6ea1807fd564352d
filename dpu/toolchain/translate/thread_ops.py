# SPDX-License-Identifier: BSD-3-Clause
"""The DPU's own instructions as C has them: custom ones of RISC-V, opcode 0x0b.

The major function says which: 0 `ldma`, 1 `sdma`, 2 `ldmai` (S form: MRAM or IRAM address in rs2,
WRAM address in rs1, the immediate is bytes / 8 - 1); 3 acquire, 4 release (I form: address of the
bit in rs1 plus the immediate; with a result acquire tries once); 5 fault with the immediate as its
number; 6 (R form) what `_FUNCTIONS` and `_threads` have, by funct7.
"""

from __future__ import annotations

from ..errors import TranslationError
from ..ir.code import Code
from ..ir.registers import ID, SCRATCH_HIGH, SCRATCH_LOW, ZERO, register_of
from .rv32 import Rv32, sign_extend

__all__ = ["translate_custom"]

_DMA = ("ldma", "sdma", "ldmai")
_ME, _STOP, _BOOT, _RESUME, _TIME, _TIME_CFG, _NOP, _READ_RUN, _CLS = range(9)
_DIVIDE_8 = 22
# funct7 of those with a result and two operands.
_FUNCTIONS = {
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
    """Append what a custom instruction stands for."""
    first = register_of(rv.rs1)
    if rv.funct3 <= 2:
        size = sign_extend(rv.funct7 << 5 | rv.rd, 12) & 255
        memory = _in_register(code, register_of(rv.rs2), SCRATCH_HIGH)
        code.emit(_DMA[rv.funct3], "rri", first, memory, size)
    elif rv.funct3 == 3:
        _acquire(code, rv, first)
    elif rv.funct3 == 4:
        end = code.fresh()
        code.emit("release", "rici", first, rv.immediate, "nz", end)
        code.place(end)
    elif rv.funct3 == 5:
        code.emit("fault", "i", rv.word >> 20)
    elif rv.funct3 == 6:
        _threads(code, rv, first)
    else:
        raise TranslationError(f"there is no custom instruction {rv.word:#010x}")


def _in_register(code: Code, register: int, scratch: int) -> int:
    """Return a register that any operand can name."""
    if register != ZERO:
        return register
    code.put(scratch, 0)
    return scratch


def _acquire(code: Code, rv: Rv32, bit: int) -> None:
    if rv.rd == 0:
        again = code.fresh()
        code.place(again)
        code.emit("acquire", "rici", bit, rv.immediate, "nz", again)
        return
    result, end = register_of(rv.rd), code.fresh()
    code.move(SCRATCH_HIGH, bit)
    code.put(result, 1)
    code.emit("acquire", "rici", SCRATCH_HIGH, rv.immediate, "z", end)
    code.put(result, 0)
    code.place(end)


def _threads(code: Code, rv: Rv32, first: int) -> None:
    function = rv.funct7
    if function == _STOP:
        end = code.fresh()
        code.emit("stop", "ci", "true", end)
        code.place(end)
    elif function == _BOOT:
        code.emit("boot", "rici", first, 0, "false", 0)
    elif function == _RESUME:
        again = code.fresh()
        code.place(again)
        code.emit("resume", "rici", first, 0, "nz", again)
    elif function == _NOP:
        code.emit("nop", "")
    elif function == _TIME_CFG and rv.rd == 0:
        code.emit("time_cfg", "zr", 0, first)
    elif rv.rd == 0:
        raise TranslationError(f"custom instruction {function} has no result register")
    else:
        _with_result(code, rv, register_of(rv.rd), first)


def _with_result(code: Code, rv: Rv32, result: int, first: int) -> None:
    function = rv.funct7
    if function == _ME:
        code.move(result, ID)
    elif function == _TIME:
        code.emit("time", "r", result)
    elif function == _TIME_CFG:
        code.emit("time_cfg", "rr", result, first)
    elif function == _READ_RUN:
        end = code.fresh()
        code.move(SCRATCH_HIGH, first)
        code.put(result, 1)
        code.emit("read_run", "rici", SCRATCH_HIGH, 0, "nz", end)
        code.put(result, 0)
        code.place(end)
    elif function == _CLS:
        code.emit("cls", "rr", result, first)
    elif function in _FUNCTIONS:
        second = _in_register(code, register_of(rv.rs2), SCRATCH_LOW)
        code.emit(_FUNCTIONS[function], "rrr", result, first, second)
    elif function == _DIVIDE_8:
        _divide_8(code, result, first, register_of(rv.rs2))
    else:
        raise TranslationError(f"there is no custom instruction {function}")


def _divide_8(code: Code, result: int, dividend: int, divisor: int) -> None:
    """Bring down 8 more bits of a quotient: remainder * 256 + quotient of (dividend * 256)."""
    divisor = _in_register(code, divisor, SCRATCH_LOW)
    code.emit("lsl", "rri", SCRATCH_LOW, dividend, 8)
    code.put(SCRATCH_HIGH, 0)
    for step in range(7, -1, -1):
        code.emit("div_step", "rrrici", SCRATCH_HIGH, divisor, SCRATCH_HIGH, step, "false", 0)
    code.emit("lsl_add", "rrri", result, SCRATCH_HIGH, SCRATCH_LOW, 8)
