# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates DWARF expressions: where a variable is, or what its value is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple, Protocol

from .constants import Operation as Op
from .operations import Step, read_steps
from .stream import Reader

__all__ = [
    "Context",
    "Piece",
    "Place",
    "Unavailable",
    "find_in_list",
    "is_covered",
    "locate",
    "read_ranges",
]

_MASK = 0xFFFF_FFFF
_SELECTS_BASE = 0xFFFF_FFFF
_MOST_STEPS = 10_000
_DEEPEST = 256


class Unavailable(Exception):
    """A value is not known at this place, as the compiler has kept it nowhere."""


class Place(StrEnum):
    """Where a piece of a variable is."""

    MEMORY = "memory"
    REGISTER = "register"
    # Nowhere, but its value is known.
    VALUE = "value"
    BYTES = "bytes"
    UNKNOWN = "unknown"


class Piece(NamedTuple):
    """A part of a variable: an address, the number of a register, a value, or bytes.

    The size is 0 if it is all of the variable.
    """

    place: Place
    value: int | bytes = 0
    size: int = 0


class Context(Protocol):
    """Context in which expressions are evaluated: a frame."""

    def register(self, number: int) -> int:
        """Return the value of a register; Unavailable if it is not known."""

    def frame_base(self) -> int:
        """Return the address that local variables are relative to."""

    def frame_address(self) -> int:
        """Return the canonical frame address."""

    def read(self, address: int, size: int) -> bytes:
        """Read memory."""


def find_in_list(section: bytes, offset: int, base: int, address: int) -> bytes | None:
    """Return the expression of a location list for an address, None if there is none."""
    r = Reader(section, offset)
    while True:
        begin, end = r.number(4), r.number(4)
        if begin == end == 0:
            return None
        if begin == _SELECTS_BASE:
            base = end
            continue
        expression = r.bytes(r.number(2))
        if base + begin <= address < base + end:
            return expression


def read_ranges(section: bytes, offset: int, base: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a list: of each, its first address and the address after it."""
    r = Reader(section, offset)
    while True:
        begin, end = r.number(4), r.number(4)
        if begin == end == 0:
            return
        if begin == _SELECTS_BASE:
            base = end
        else:
            yield base + begin, base + end


def is_covered(section: bytes, offset: int, base: int, address: int) -> bool:
    """Tell whether a list of ranges contains an address."""
    return any(first <= address < end for first, end in read_ranges(section, offset, base))


def locate(expression: bytes, context: Context) -> list[Piece]:
    """Return the pieces that a variable consists of.

    Raises
    ------
    Unavailable
        If it cannot be known, or the expression is damaged or not supported.
    """
    try:
        return _Machine(context).run(list(read_steps(expression)))
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise Unavailable(f"the location cannot be read: {error}") from error


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


_BINARY: dict[int, Callable[[int, int], int]] = {
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
    Op.PLUS: lambda a, b: a + b,
    Op.MINUS: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: int(_signed(a) / _signed(b)),
    Op.MOD: lambda a, b: a % b,
    Op.SHL: lambda a, b: a << b if b < 32 else 0,
    Op.SHR: lambda a, b: a >> b if b < 32 else 0,
    Op.SHRA: lambda a, b: _signed(a) >> min(b, 31),
    Op.EQ: lambda a, b: int(a == b),
    Op.NE: lambda a, b: int(a != b),
    Op.LT: lambda a, b: int(_signed(a) < _signed(b)),
    Op.LE: lambda a, b: int(_signed(a) <= _signed(b)),
    Op.GT: lambda a, b: int(_signed(a) > _signed(b)),
    Op.GE: lambda a, b: int(_signed(a) >= _signed(b)),
}
_DEPTHS = {Op.DUP: 0, Op.OVER: 1}
_CONSTANTS = frozenset(
    (
        *(Op.ADDR, Op.CONST1U, Op.CONST1S, Op.CONST2U, Op.CONST2S, Op.CONST4U, Op.CONST4S),
        *(Op.CONST8U, Op.CONST8S, Op.CONSTU, Op.CONSTS),
    )
)


class _Machine:
    """The stack machine of DWARF, with words of 32 bits; constants may have 64."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.stack: list[int] = []
        self.pieces: list[Piece] = []
        self.piece: Piece | None = None
        self.is_value = False

    def run(self, steps: list[Step]) -> list[Piece]:
        positions = {step.at: index for index, step in enumerate(steps)}
        index = count = 0
        while index < len(steps):
            step, count = steps[index], count + 1
            if count > _MOST_STEPS or len(self.stack) > _DEEPEST:
                raise ValueError("it is too long")
            index += 1
            if step.operation in (Op.SKIP, Op.BRA):
                if step.operation == Op.SKIP or self.stack.pop():
                    index = positions.get(step.next + step.operands[0], len(steps))
            else:
                self._step(step)

        if self.pieces:
            return self.pieces
        return [self._take()]

    def _take(self) -> Piece:
        """Return what has been computed as a piece."""
        if self.piece is not None:
            taken, self.piece = self.piece, None
        elif not self.stack:
            taken = Piece(Place.UNKNOWN)
        else:
            taken = Piece(Place.VALUE if self.is_value else Place.MEMORY, self.stack.pop())
        self.is_value = False
        return taken

    def _step(self, step: Step) -> None:
        operation, stack = step.operation, self.stack
        if operation in _CONSTANTS:
            stack.append(step.operands[0])
        elif operation in _BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(_BINARY[operation](left, right) & _MASK)
        else:
            self._special(Op(operation), step)

    def _special(self, operation: Op, step: Step) -> None:
        stack, context = self.stack, self.context
        match operation:
            case Op.REG0 | Op.REGX:
                self.piece = Piece(Place.REGISTER, step.operands[0])
            case Op.BREG0 | Op.BREGX:
                stack.append((context.register(step.operands[0]) + step.operands[1]) & _MASK)
            case Op.FBREG:
                stack.append((context.frame_base() + step.operands[0]) & _MASK)
            case Op.CALL_FRAME_CFA:
                stack.append(context.frame_address())
            case Op.PIECE:
                self.pieces.append(self._take()._replace(size=step.operands[0]))
            case Op.STACK_VALUE:
                self.is_value = True
            case Op.IMPLICIT_VALUE:
                self.piece = Piece(Place.BYTES, step.block)
            case Op.DEREF | Op.DEREF_SIZE:
                size = step.operands[0] if operation is Op.DEREF_SIZE else 4
                stack.append(int.from_bytes(context.read(stack.pop(), size), "little"))
            case Op.PLUS_UCONST:
                stack.append((stack.pop() + step.operands[0]) & _MASK)
            case Op.DUP | Op.OVER | Op.PICK:
                depth = _DEPTHS[operation] if operation in _DEPTHS else step.operands[0]
                stack.append(stack[-1 - depth])
            case Op.DROP:
                stack.pop()
            case Op.SWAP:
                stack[-1], stack[-2] = stack[-2], stack[-1]
            case Op.ROT:
                stack[-3:] = [stack[-1], *stack[-3:-1]]
            case Op.NEG:
                stack.append(-stack.pop() & _MASK)
            case Op.NOT:
                stack.append(~stack.pop() & _MASK)
            case Op.ABS:
                stack.append(abs(_signed(stack.pop())) & _MASK)
            case Op.NOP:
                pass
            case _:
                raise Unavailable(f"the location needs {operation.name}, which is not known")
