# SPDX-License-Identifier: BSD-3-Clause
"""The operations that a DWARF expression consists of, and their operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .constants import Operation as Op
from .stream import Reader, uleb

__all__ = ["Step", "read_steps", "registers_of", "with_new_places"]

_UNSIGNED = {Op.CONST1U: 1, Op.CONST2U: 2, Op.CONST4U: 4, Op.CONST8U: 8, Op.PICK: 1, Op.ADDR: 4}
_SIGNED = {Op.CONST1S: 1, Op.CONST2S: 2, Op.CONST4S: 4, Op.CONST8S: 8, Op.BRA: 2, Op.SKIP: 2}
_ULEB = {Op.CONSTU, Op.PLUS_UCONST, Op.REGX, Op.PIECE, Op.CONVERT, Op.GNU_CONVERT}
_SLEB = {Op.CONSTS, Op.FBREG}
_ENTRY_VALUES = (Op.ENTRY_VALUE, Op.GNU_ENTRY_VALUE)
_WITH_BLOCK = (Op.IMPLICIT_VALUE, *_ENTRY_VALUES)
_REGISTERS = 32


class Step(NamedTuple):
    """An operation; the registers of a range are its first operand.

    REG0 + n is REG0 with n, BREG0 + n is BREG0 with n and an offset, LIT0 + n is CONSTU with n.
    """

    operation: int
    operands: tuple[int, ...] = ()
    block: bytes = b""
    at: int = 0
    next: int = 0


def read_steps(expression: bytes) -> Iterator[Step]:
    """Yield the operations of an expression; ValueError or IndexError if it is damaged."""
    r = Reader(expression)
    while not r.is_at_end:
        at, step = r.at, _read_step(r)
        yield step._replace(at=at, next=r.at)


def _read_step(r: Reader) -> Step:
    code = r.number(1)
    if code in _UNSIGNED:
        return Step(code, (r.number(_UNSIGNED[Op(code)]),))
    if code in _SIGNED:
        size = _SIGNED[Op(code)]
        return Step(code, (int.from_bytes(r.bytes(size), "little", signed=True),))
    if code in _ULEB:
        return Step(code, (r.uleb(),))
    if code in _SLEB:
        return Step(code, (r.sleb(),))
    if Op.LIT0 <= code < Op.LIT0 + 32:
        return Step(Op.CONSTU, (code - Op.LIT0,))
    if Op.REG0 <= code < Op.REG0 + _REGISTERS:
        return Step(Op.REG0, (code - Op.REG0,))
    if Op.BREG0 <= code < Op.BREG0 + _REGISTERS:
        return Step(Op.BREG0, (code - Op.BREG0, r.sleb()))
    if code in (Op.BREGX, Op.BIT_PIECE):
        return Step(code, (r.uleb(), r.sleb() if code == Op.BREGX else r.uleb()))
    if code == Op.DEREF_SIZE:
        return Step(code, (r.number(1),))
    if code in _WITH_BLOCK:
        return Step(code, (), r.bytes(r.uleb()))
    # Those without operands; ValueError for what is none.
    return Step(Op(code))


def with_new_places(
    expression: bytes, address: Callable[[int], int], register: Callable[[int], int]
) -> bytes:
    """Return an expression of the same length with other addresses and registers.

    Parameters
    ----------
    expression : bytes
        The expression.
    address : callable
        Returns the new address for an old one.
    register : callable
        Returns the new number of a register, less than 32; ValueError if there is none.
    """
    data = bytearray(expression)
    for step in read_steps(expression):
        match step.operation:
            case Op.ADDR:
                new = address(step.operands[0]).to_bytes(4, "little")
                data[step.at + 1 : step.next] = new
            case Op.REG0 | Op.BREG0:
                data[step.at] = step.operation + register(step.operands[0])
            case Op.REGX | Op.BREGX:
                number = uleb(register(step.operands[0]))
                data[step.at + 1 : step.at + 1 + len(uleb(step.operands[0]))] = number
            case Op.ENTRY_VALUE | Op.GNU_ENTRY_VALUE:
                inner = with_new_places(step.block, address, register)
                data[step.next - len(inner) : step.next] = inner
    return bytes(data)


def registers_of(expression: bytes) -> Iterator[int]:
    """Yield the registers that an expression reads now, and not at the entry of the function."""
    for step in read_steps(expression):
        if step.operation in (Op.REG0, Op.BREG0, Op.REGX, Op.BREGX):
            yield step.operands[0]
