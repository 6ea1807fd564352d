# SPDX-License-Identifier: BSD-3-Clause
"""Multiplication and division, which the DPU has in steps only.

The routines take their operands in r8 (r9 for division) and r21, are called through r13 and change
no register that compiled code has. They leave the product in r9, the quotient in r8 and the
remainder in r9. A program has those that it uses.
"""

from __future__ import annotations

from .code import Code, Label
from .registers import LINK, SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2, ZERO, register_of

__all__ = ["OPERATIONS", "routine_label", "translate_product", "write_routines"]

# By funct3: name of the operation, routine, first operand, result.
OPERATIONS = {
    0: ("mul", "mul", SCRATCH_HIGH, SCRATCH_LOW),
    1: ("mulh", "mulhu", SCRATCH_HIGH, SCRATCH_LOW),
    2: ("mulhsu", "mulhu", SCRATCH_HIGH, SCRATCH_LOW),
    3: ("mulhu", "mulhu", SCRATCH_HIGH, SCRATCH_LOW),
    4: ("div", "div", SCRATCH_LOW, SCRATCH_HIGH),
    5: ("divu", "divu", SCRATCH_LOW, SCRATCH_HIGH),
    6: ("rem", "div", SCRATCH_LOW, SCRATCH_LOW),
    7: ("remu", "divu", SCRATCH_LOW, SCRATCH_LOW),
}
_DIVISION_BY_ZERO = 2
# Bits of the return address, above that of any instruction, that keep what signs to change.
_NEGATE_REMAINDER, _NEGATE_QUOTIENT = 12, 13


def routine_label(name: str) -> Label:
    """Return the label of a routine."""
    return Label("routine", name)


def translate_product(code: Code, funct3: int, rd: int, rs1: int, rs2: int) -> str:
    """Append a multiplication or division and return the routine that it needs."""
    operation, routine, operand, result = OPERATIONS[funct3]
    left, right = register_of(rs1), register_of(rs2)
    code.move(operand, left)
    code.move(SPARE, right)
    code.emit("call", "rri", LINK, ZERO, routine_label(routine))
    # A negative operand counts 2**32 too much in the unsigned product.
    if operation in ("mulh", "mulhsu") and ZERO not in (left, right):
        _less_if_negative(code, left, right)
        if operation == "mulh":
            _less_if_negative(code, right, left)
    code.move(register_of(rd), result)
    return routine


def _less_if_negative(code: Code, sign: int, value: int) -> None:
    code.emit("asr", "rri", SCRATCH_HIGH, sign, 31)
    code.emit("and", "rrr", SCRATCH_HIGH, SCRATCH_HIGH, value)
    code.emit("sub", "rrr", SCRATCH_LOW, SCRATCH_LOW, SCRATCH_HIGH)


def write_routines(code: Code, used: set[str]) -> None:
    """Append the routines that are used."""
    if "mulhu" in used:
        _write_high_product(code)
    if "mul" in used:
        _write_product(code)
    if used & {"div", "divu"}:
        _write_division(code)
    for name in ("mul", "mulhu", "div", "divu"):
        if routine_label(name) in code.labels:
            code.entries.add(routine_label(name))


def _return(code: Code) -> None:
    code.emit("call", "zri", 0, LINK, 0)


def _write_product(code: Code) -> None:
    """Products of bytes if both operands have 16 bits, else a step for every bit of the lesser."""
    code.place(routine_label("mul"))
    wide, ordered, end = code.fresh(), code.fresh(), code.fresh()
    code.emit("or", "rrr", SPARE_2, SCRATCH_HIGH, SPARE)
    code.emit("lsr", "rrici", SPARE_2, SPARE_2, 16, "nz", wide)
    code.emit("mul_ul_ul", "rrrci", SCRATCH_LOW, SCRATCH_HIGH, SPARE, "small", end)
    for mnemonic, left, right, shift in (
        ("mul_uh_ul", SCRATCH_HIGH, SPARE, 8),
        ("mul_uh_ul", SPARE, SCRATCH_HIGH, 8),
        ("mul_uh_uh", SCRATCH_HIGH, SPARE, 16),
    ):
        code.emit(mnemonic, "rrr", SPARE_2, left, right)
        code.emit("lsl_add", "rrri", SCRATCH_LOW, SCRATCH_LOW, SPARE_2, shift)
    _return(code)
    code.place(wide)
    code.emit("sub", "zrrci", 0, SPARE, SCRATCH_HIGH, "geu", ordered)
    code.move(SCRATCH_LOW, SCRATCH_HIGH)
    code.move(SCRATCH_HIGH, SPARE)
    code.move(SPARE, SCRATCH_LOW)
    code.place(ordered)
    code.put(SCRATCH_LOW, 0)
    for step in range(32):
        code.emit("mul_step", "rrrici", SCRATCH_HIGH, SPARE, SCRATCH_HIGH, step, "z", end)
    code.place(end)
    _return(code)


def _write_high_product(code: Code) -> None:
    """High word of the unsigned product, a bit of one operand a turn."""
    code.place(routine_label("mulhu"))
    loop, even, turn = code.fresh(), code.fresh(), code.fresh()
    code.put(SCRATCH_LOW, 0)
    code.put(SPARE_2, 32)
    code.place(loop)
    code.emit("and", "zrici", 0, SCRATCH_HIGH, 1, "z", even)
    code.emit("add", "rrrci", SCRATCH_LOW, SCRATCH_LOW, SPARE, "nc", even)
    code.emit("lsr", "rri", SCRATCH_LOW, SCRATCH_LOW, 1)
    code.emit("or", "rri", SCRATCH_LOW, SCRATCH_LOW, 0x8000_0000)
    code.jump(turn)
    code.place(even)
    code.emit("lsr", "rri", SCRATCH_LOW, SCRATCH_LOW, 1)
    code.place(turn)
    code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 1)
    code.emit("add", "rrici", SPARE_2, SPARE_2, -1, "nz", loop)
    _return(code)


def _write_division(code: Code) -> None:
    """Divide with signs by dividing without; then a step for every bit of the quotient."""
    code.place(routine_label("div"))
    positive, both, by_zero = code.fresh(), code.fresh(), code.fresh()
    end, last, keep, done = code.fresh(), code.fresh(), code.fresh(), code.fresh()
    code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_LOW, 31)
    code.emit("lsl_add", "rrri", LINK, LINK, SCRATCH_HIGH, _NEGATE_REMAINDER)
    code.emit("xor", "rrr", SCRATCH_HIGH, SCRATCH_LOW, SPARE)
    code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 31)
    code.emit("lsl_add", "rrri", LINK, LINK, SCRATCH_HIGH, _NEGATE_QUOTIENT)
    for register, label in ((SCRATCH_LOW, positive), (SPARE, both)):
        code.jump_if("ges", register, 0, label)
        code.emit("sub", "rir", register, 0, register)
        code.place(label)
    code.place(routine_label("divu"))
    code.jump_if("z", SPARE, 0, by_zero)
    code.emit("clz", "rr", SCRATCH_HIGH, SPARE)
    code.emit("clz", "rr", SPARE_2, SCRATCH_LOW)
    code.emit("sub", "rrr", SPARE_2, SPARE_2, SCRATCH_HIGH)
    code.put(SCRATCH_HIGH, 0)
    code.jump_if("gts", SPARE_2, 0, end)
    # As many steps before the last one as the divisor has more leading zeros.
    code.emit("call", "zri", 0, SPARE_2, last)
    first = code.fresh()
    code.place(first)
    code.entries.add(first)
    for step in range(31, -1, -1):
        if step == 0:
            code.place(last)
        code.emit("div_step", "rrrici", SCRATCH_HIGH, SPARE, SCRATCH_HIGH, step, "false", 0)
    code.place(end)
    code.emit("lsr", "rrici", SPARE_2, LINK, _NEGATE_REMAINDER, "z", done)
    code.emit("and", "rri", SPARE_2, SPARE_2, 1 << _NEGATE_QUOTIENT - _NEGATE_REMAINDER)
    code.jump_if("z", SPARE_2, 0, keep)
    code.emit("sub", "rir", SCRATCH_HIGH, 0, SCRATCH_HIGH)
    code.place(keep)
    code.emit("and", "rri", SPARE_2, LINK, 1 << _NEGATE_REMAINDER)
    code.jump_if("z", SPARE_2, 0, done)
    code.emit("sub", "rir", SCRATCH_LOW, 0, SCRATCH_LOW)
    code.place(done)
    _return(code)
    code.place(by_zero)
    code.emit("fault", "i", _DIVISION_BY_ZERO)
