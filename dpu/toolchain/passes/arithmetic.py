# SPDX-License-Identifier: BSD-3-Clause
"""Routines for multiplication and division, which the DPU has by bytes and in steps only.

The routines take their operands in r8 (r9 for division) and r21, return through r13, and preserve
all registers that compiled code uses. A program contains only those that it calls.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.code import Code
from ..ir.operands import Condition, Label, LabelKind, Register
from ..ir.registers import LINK, SCRATCH_HIGH, SCRATCH_LOW, SPARE, SPARE_2

__all__ = ["ROUTINES", "Routine", "routine_label", "write_routines"]


class Routine(NamedTuple):
    """The routine of an operation: its name, the register of its first operand, and its results.

    The result is that of the operation alone; the pair is for both words, or quotient and
    remainder.
    """

    name: str
    operand: Register
    result: Register
    pair: tuple[Register, Register]


_WORDS, _RATIO = (SCRATCH_LOW, SCRATCH_HIGH), (SCRATCH_HIGH, SCRATCH_LOW)
ROUTINES = {
    "mul": Routine("mul", SCRATCH_HIGH, SCRATCH_LOW, _WORDS),
    "mulh": Routine("mulhu", SCRATCH_HIGH, SCRATCH_LOW, _WORDS),
    "mulhsu": Routine("mulhu", SCRATCH_HIGH, SCRATCH_LOW, _WORDS),
    "mulhu": Routine("mulhu", SCRATCH_HIGH, SCRATCH_LOW, _WORDS),
    "div": Routine("div", SCRATCH_LOW, SCRATCH_HIGH, _RATIO),
    "divu": Routine("divu", SCRATCH_LOW, SCRATCH_HIGH, _RATIO),
    "rem": Routine("div", SCRATCH_LOW, SCRATCH_LOW, _RATIO),
    "remu": Routine("divu", SCRATCH_LOW, SCRATCH_LOW, _RATIO),
}
_DIVISION_BY_ZERO = 2
# Bits of the return address, above those of an instruction index, that say which signs to change.
_SIGNS = 12
_NEGATE_REMAINDER, _NEGATE_QUOTIENT = 2 << _SIGNS, 4 << _SIGNS
_UPPER = 0xFFFF_0000


def routine_label(name: str) -> Label:
    """Return the label of a routine."""
    return Label(LabelKind.ROUTINE, name)


def write_routines(code: Code, used: set[str]) -> None:
    """Append the routines of some names."""
    if "mulhu" in used:
        _write_wide_product(code)
    if "mul" in used:
        _write_product(code)
    if used & {"div", "divu"}:
        _write_division(code)
    code.entries |= {routine_label(name) for name in used}


def _return(code: Code) -> None:
    code.emit("call", "zri", 0, LINK, 0)


def _add_halves(code: Code, shift: int = 0, *, add: bool = True) -> None:
    """Add the product of the low halves of the operands to r9, or set r9 to it."""
    terms = (("ul", "ul", 0), ("uh", "ul", 8), ("ul", "uh", 8), ("uh", "uh", 16))
    for left, right, by in terms:
        if shift + by >= 32:
            continue
        mnemonic = f"mul_{left}_{right}"
        operands = (SCRATCH_HIGH, SPARE)
        if mnemonic == "mul_ul_uh":
            mnemonic, operands = "mul_uh_ul", (SPARE, SCRATCH_HIGH)
        if by == 0 and not add:
            code.emit(mnemonic, "rrr", SCRATCH_LOW, *operands)
            continue
        code.emit(mnemonic, "rrr", SPARE_2, *operands)
        if shift + by:
            code.emit("lsl_add", "rrri", SCRATCH_LOW, SCRATCH_LOW, SPARE_2, shift + by)
        else:
            code.emit("add", "rrr", SCRATCH_LOW, SCRATCH_LOW, SPARE_2)


def _write_product(code: Code) -> None:
    """Append the low word of a product: four byte products for 16-bit operands, else ten."""
    code.place(routine_label("mul"))
    wide, end = code.new_label(), code.new_label()
    code.emit("or", "rrr", SPARE_2, SCRATCH_HIGH, SPARE)
    code.emit("lsr", "rrici", SPARE_2, SPARE_2, 16, Condition.NOT_ZERO, wide)
    code.emit("mul_ul_ul", "rrrci", SCRATCH_LOW, SCRATCH_HIGH, SPARE, Condition.SMALL, end)
    _add_more_of_halves(code)
    code.place(end)
    _return(code)

    code.place(wide)
    _add_halves(code, add=False)
    code.emit("ror", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 16)
    _add_halves(code, 16)
    code.emit("ror", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 16)
    code.emit("lsr", "rri", SPARE, SPARE, 16)
    _add_halves(code, 16)
    _return(code)


def _add_more_of_halves(code: Code) -> None:
    """Add the other byte products of the low halves to that of the lowest bytes, in r9."""
    for mnemonic, left, right, shift in (
        ("mul_uh_ul", SCRATCH_HIGH, SPARE, 8),
        ("mul_uh_ul", SPARE, SCRATCH_HIGH, 8),
        ("mul_uh_uh", SCRATCH_HIGH, SPARE, 16),
    ):
        code.emit(mnemonic, "rrr", SPARE_2, left, right)
        code.emit("lsl_add", "rrri", SCRATCH_LOW, SCRATCH_LOW, SPARE_2, shift)


def _write_wide_product(code: Code) -> None:
    """Append the unsigned product of two words: the high word goes to r9, the low one to r8.

    It is the sum of four products of halves, and has five registers. The halves of r8, r13 and r21
    that are done with hold 16 bits of the result each, since neither the multiplier nor jumps read
    them.
    """
    code.place(routine_label("mulhu"))
    wide = code.new_label()
    code.emit("or", "rrr", SPARE_2, SCRATCH_HIGH, SPARE)
    code.emit("lsr", "rrici", SPARE_2, SPARE_2, 16, Condition.NOT_ZERO, wide)
    _add_halves(code, add=False)
    code.move(SCRATCH_HIGH, SCRATCH_LOW)
    code.load_immediate(SCRATCH_LOW, 0)
    _return(code)

    code.place(wide)
    _add_halves(code, add=False)
    code.emit("lsl_add", "rrri", LINK, LINK, SCRATCH_LOW, 16)
    code.emit("lsr", "rri", SCRATCH_LOW, SCRATCH_LOW, 16)
    # The sum of a middle product and the carry into it has 32 bits.
    code.emit("ror", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 16)
    _add_halves(code)
    code.emit("ror", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 16)
    code.emit("lsr", "rri", SPARE, SPARE, 16)
    code.emit("lsr", "rri", SPARE_2, SCRATCH_LOW, 16)
    code.emit("lsl_add", "rrri", SPARE, SPARE, SPARE_2, 16)
    code.emit("and", "rri", SCRATCH_LOW, SCRATCH_LOW, 0xFFFF)
    _add_halves(code)
    code.emit("lsr", "rri", SCRATCH_HIGH, SCRATCH_HIGH, 16)
    code.emit("lsl_add", "rrri", SCRATCH_HIGH, SCRATCH_HIGH, SCRATCH_LOW, 16)
    code.emit("lsr", "rri", SCRATCH_LOW, SCRATCH_LOW, 16)
    code.emit("lsr_add", "rrri", SCRATCH_LOW, SCRATCH_LOW, SPARE, 16)
    _add_halves(code)
    code.emit("and", "rri", SCRATCH_HIGH, SCRATCH_HIGH, _UPPER)
    code.emit("lsr_add", "rrri", SCRATCH_HIGH, SCRATCH_HIGH, LINK, 16)
    _return(code)


def _write_division(code: Code) -> None:
    """Append signed division, which divides the magnitudes, and unsigned division."""
    by_zero, smaller, end = code.new_label(), code.new_label(), code.new_label()
    _write_magnitudes(code)
    _write_steps(code, by_zero, smaller, end)
    _write_signs(code, by_zero)

    code.place(smaller)
    code.load_immediate(SCRATCH_HIGH, 0)
    code.jump(end)


def _write_magnitudes(code: Code) -> None:
    """Negate negative operands, and note in the return address which results to negate."""
    positive, unsigned = code.new_label(), routine_label("divu")
    code.place(routine_label("div"))
    code.emit("or", "rrrci", SPARE_2, SCRATCH_LOW, SPARE, Condition.PLUS, unsigned)
    code.jump_if(Condition.GREATER_EQUAL_SIGNED, SCRATCH_LOW, 0, positive)
    code.emit("sub", "rir", SCRATCH_LOW, 0, SCRATCH_LOW)
    code.emit("or", "rri", LINK, LINK, _NEGATE_REMAINDER | _NEGATE_QUOTIENT)
    code.jump_if(Condition.GREATER_EQUAL_SIGNED, SPARE, 0, unsigned)

    code.place(positive)
    code.emit("sub", "rir", SPARE, 0, SPARE)
    code.emit("xor", "rri", LINK, LINK, _NEGATE_QUOTIENT)


def _write_steps(code: Code, by_zero: Label, smaller: Label, end: Label) -> None:
    """Append one step for each bit of the quotient."""
    last, first = code.new_label(), code.new_label()
    code.place(routine_label("divu"))
    code.emit("clz", "rrci", SCRATCH_HIGH, SPARE, Condition.MAX, by_zero)
    code.emit("clz", "rr", SPARE_2, SCRATCH_LOW)
    code.emit("sub", "rrrci", SPARE_2, SPARE_2, SCRATCH_HIGH, Condition.GREATER_SIGNED, smaller)
    code.load_immediate(SCRATCH_HIGH, 0)

    # As many steps before the last one as the divisor has more leading zeros.
    code.emit("call", "zri", 0, SPARE_2, last)
    code.place(first)
    code.entries.add(first)
    for step in range(31, -1, -1):
        if step == 0:
            code.place(last)
        code.emit("div_step", "rrrici", SCRATCH_HIGH, SPARE, SCRATCH_HIGH, step, Condition.FALSE, 0)
    code.place(end)


def _write_signs(code: Code, by_zero: Label) -> None:
    """Append the return, with a negation of the results that the return address asks for."""
    done = code.new_label()
    code.emit("lsr", "rrici", SPARE_2, LINK, _SIGNS, Condition.ZERO, done)
    code.emit("call", "zri", 0, SPARE_2, done)

    # Twice the bits that say which results to negate is the distance from here.
    code.place(done)
    _return(code)
    code.place(by_zero)
    code.emit("fault", "i", _DIVISION_BY_ZERO)
    for registers in ((SCRATCH_LOW,), (SCRATCH_HIGH,), (SCRATCH_LOW, SCRATCH_HIGH)):
        change = code.new_label()
        code.place(change)
        code.entries.add(change)
        for register in registers:
            code.emit("sub", "rir", register, 0, register)
        _return(code)
