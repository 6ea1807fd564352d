# SPDX-License-Identifier: BSD-3-Clause
"""Encodes instructions."""

from __future__ import annotations

from collections.abc import Callable

from .. import _isa
from ..elf.format import IRAM_BASE
from ..isa import CONSTANT_REGISTERS, REGISTER_COUNT
from .expressions import ExpressionError, Value, evaluate
from .forms import Candidate, condition_code
from .unit import InstructionFixup

__all__ = ["encode"]

Resolve = Callable[[str, int], Value]


def encode(fixup: InstructionFixup, resolve: Resolve) -> int:
    """Encode an instruction.

    Parameters
    ----------
    fixup : InstructionFixup
        The instruction.
    resolve : callable
        Returns the values of symbols, as for `evaluate`.

    Raises
    ------
    ExpressionError
        If a symbol has no value, or no form takes the operands.
    """
    values: list[int | None] = []
    for operand in fixup.operands:
        values.append(operand if isinstance(operand, int) else None)
    for candidate in fixup.candidates:
        numbers = _numbers(candidate, fixup, values, resolve)
        if numbers is None:
            continue
        word = _isa.encode(candidate.form.index, numbers)
        if word is not None:
            return word
    raise _explain(fixup, values, resolve)


def _numbers(
    candidate: Candidate,
    fixup: InstructionFixup,
    values: list[int | None],
    resolve: Resolve,
) -> list[int] | None:
    """Return the operands of a form, None if it does not have the condition."""
    numbers = []
    for slot, operand in zip(candidate.slots, candidate.form.operands, strict=True):
        if not isinstance(slot, int):
            numbers.append(slot[0])
            continue
        value = values[slot]
        if operand.name == "cc":
            code = condition_code(candidate.form, fixup.operands[slot][1])  # type: ignore[index]
            if code is None:
                return None
            value = code
        elif value is None:
            value = values[slot] = evaluate(fixup.operands[slot], resolve).number
        if value >= IRAM_BASE and (
            operand.name == "pc" or (operand.name == "off" and candidate.form.mnemonic == "call")
        ):
            # An address, as disassemblers print it.
            if value % 8:
                raise ExpressionError(
                    f"{value:#x} is not the address of an instruction", fixup.columns[slot]
                )
            value = (value - IRAM_BASE) // 8
        numbers.append(value)
    return numbers


def _explain(
    fixup: InstructionFixup, values: list[int | None], resolve: Resolve
) -> ExpressionError:
    """Return why no form accepts the operands."""
    reasons: dict[tuple[str, int], None] = {}
    for candidate in fixup.candidates:
        form = candidate.form
        numbers = _numbers(candidate, fixup, values, resolve)
        for index, (slot, operand) in enumerate(zip(candidate.slots, form.operands, strict=True)):
            if not isinstance(slot, int):
                continue
            column = fixup.columns[slot]
            if operand.name == "cc":
                expression = fixup.operands[slot]
                name = expression[1] if isinstance(expression, tuple) else str(expression)
                if condition_code(form, name) is None:
                    known = ", ".join(form.conditions)
                    reasons[f"{name!r} is not a condition of it: {known}", column] = None
            elif numbers is not None and not operand.is_register:
                number = numbers[index]
                if not operand.low <= number <= operand.high:
                    text = (
                        f"{number} ({number:#x}) does not fit: {operand.name} is "
                        f"{operand.low} to {operand.high}"
                    )
                    reasons[text, column] = None
            elif numbers is not None and operand.name == "ra":
                number = numbers[index]
                if number >= REGISTER_COUNT and len(fixup.candidates) == 1:
                    name = CONSTANT_REGISTERS[number - REGISTER_COUNT]
                    reasons[f"{name!r} cannot be here", column] = None

    if not reasons:
        return ExpressionError(f"{fixup.mnemonic!r} cannot have these operands", fixup.columns[-1])
    column = next(iter(reasons))[1]
    texts = [text for text, at in reasons if at == column]
    return ExpressionError(f"{fixup.mnemonic!r}: " + "; or ".join(texts), column)
