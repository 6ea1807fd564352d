# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates expressions of C over the variables of a frame, the registers and the memories."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..dwarf.locations import Piece, Place
from ..dwarf.types import CHAR, INT, LONG, UNSIGNED, VOID, Kind, Type
from .errors import DebuggerError
from .frames import Frame
from .machine import IRAM_BASE, MRAM_BASE
from .values import Value

__all__ = ["evaluate"]

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d*(?:[eE][+-]?\d+)?[fF]?|\d+[uUlL]*)"
    r"|([A-Za-z_]\w*)|(\$\w+)|('(?:\\.|[^'\\])')"
    r"|(->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>=?:.,()\[\]]))"
)
_Compute = Callable[[Any, Any], int | float]
_BINARY: list[dict[str, _Compute]] = [
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << min(b, 64), ">>": lambda a, b: a >> b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {
        "*": lambda a, b: a * b,
        "/": lambda a, b: _quotient(a, b),
        "%": lambda a, b: a - b * _quotient(a, b),
    },
]
_COMPARISONS = frozenset(["||", "&&", "==", "!=", "<", "<=", ">", ">="])
_ON_INTEGERS = frozenset(["|", "^", "&", "<<", ">>", "%"])
_ESCAPES = {"n": 10, "t": 9, "0": 0, "r": 13}
_WORDS = frozenset(
    (
        *("const", "volatile", "unsigned", "signed", "struct", "union", "enum", "__mram_ptr"),
        *("int", "char", "short", "long", "float", "double", "void", "_Bool"),
    )
)
_MOST_TEXT = 4096
_DEEPEST = 24


def _quotient(a: Any, b: Any) -> Any:
    if b == 0:
        raise DebuggerError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def evaluate(text: str, frame: Frame) -> Value:
    """Return the value of an expression; an assignment returns what was assigned to.

    Raises
    ------
    DebuggerError
        If it has an error.
    """
    if len(text) > _MOST_TEXT:
        raise DebuggerError("the expression is too long")
    parser = _Parser(_tokens(text), frame)
    value = parser.assignment()
    if parser.token is not None:
        raise DebuggerError(f"{parser.token!r} is not expected")
    return value


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise DebuggerError(f"{text[at:].strip()[:20]!r} is not understood")
        tokens.append(match[0].strip())
        at = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[str], frame: Frame) -> None:
        self.tokens = tokens
        self.frame = frame
        self.next = 0
        self.depth = 0

    @property
    def token(self) -> str | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def take(self) -> str:
        token = self.token
        if token is None:
            raise DebuggerError("the expression is not complete")
        self.next += 1
        return token

    def accept(self, token: str) -> bool:
        if self.token != token:
            return False
        self.next += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            found = f"not {self.token!r}" if self.token is not None else "but the expression ends"
            raise DebuggerError(f"{token!r} is expected, {found}")

    def assignment(self) -> Value:
        target = self.conditional()
        if not self.accept("="):
            return target
        target.assign(self.assignment())
        return target

    def conditional(self) -> Value:
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        first = self.conditional()
        self.expect(":")
        second = self.conditional()
        return first if condition.number() else second

    def binary(self, level: int) -> Value:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.token in _BINARY[level]:
            operator = self.take()
            left = _apply(operator, _BINARY[level][operator], left, self.binary(level + 1))
        return left

    def unary(self) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise DebuggerError("the expression is nested too deeply")
        try:
            return self._unary()
        finally:
            self.depth -= 1

    def _unary(self) -> Value:
        if self.accept("*"):
            return self.unary().dereferenced()
        if self.accept("&"):
            return self._address(self.unary())
        if self.accept("-"):
            value = self.unary()
            return Value.of(_promoted(value.type), -value.number())
        if self.accept("+"):
            return self.unary()
        if self.accept("~"):
            value = self.unary()
            return Value.of(_promoted(value.type), ~value.integer())
        if self.accept("!"):
            return Value.of(INT, int(not self.unary().number()))
        if self.token == "sizeof":
            self.take()
            return Value.of(UNSIGNED, self._size())
        return self.postfix(self._primary())

    def _address(self, value: Value) -> Value:
        if value.address is None:
            raise DebuggerError("the value is in registers and has no address")
        in_mram = MRAM_BASE <= value.address < IRAM_BASE
        address = value.address - MRAM_BASE if in_mram else value.address
        pointer = Value.of(value.type.pointer(in_mram=in_mram), address)
        return Value(pointer.type, pointer.data, machine=self.frame.machine)

    def _size(self) -> int:
        start = self.next
        if self.accept("("):
            type = self._type()
            if type is not None and self.accept(")"):
                return type.size
            self.next = start
        return self.unary().type.size

    def postfix(self, value: Value) -> Value:
        while True:
            if self.accept("["):
                index = self.assignment().integer()
                self.expect("]")
                value = value.dereferenced(index)
            elif self.accept("."):
                value = value.get(self.take())
            elif self.accept("->"):
                value = value.dereferenced().get(self.take())
            else:
                return value

    def _primary(self) -> Value:
        if self.accept("("):
            type = self._type()
            if type is not None:
                self.expect(")")
                return self._cast(type, self.unary())
            value = self.assignment()
            self.expect(")")
            return value
        token = self.take()
        if token[0].isdecimal():
            return _number(token)
        if token.startswith("'"):
            code = _ESCAPES.get(token[2], ord(token[2])) if token[1] == "\\" else ord(token[1])
            return Value.of(CHAR, code)
        if token.startswith("$"):
            return self._register(token[1:])
        if token[0].isalpha() or token[0] == "_":
            return self._variable(token)
        raise DebuggerError(f"{token!r} is not expected")

    def _register(self, name: str) -> Value:
        frame = self.frame
        if name == "pc":
            return Value.of(UNSIGNED, frame.pc)
        names = {"sp": 22, "ra": 23, **{f"r{n}": n for n in range(24)}}
        if name not in names:
            raise DebuggerError(
                f"there is no register {name!r}: there are r0 to r23, sp, ra and pc"
            )
        return Value.in_frame(UNSIGNED, [Piece(Place.REGISTER, names[name])], frame)

    def _variable(self, name: str) -> Value:
        frame = self.frame
        entry = frame.find(name)
        if entry is not None:
            return Value.in_frame(frame.program.type_of(entry), frame.pieces(entry), frame)
        for type in [frame.program.types.read(e.offset) for e in frame.program.enumerations]:
            for number, enumerator in type.enumerators.items():
                if enumerator == name:
                    return Value.of(type, number)
        for symbol in frame.program.file.symbols:
            if symbol.name == name and symbol.is_defined:
                if symbol.value & IRAM_BASE:
                    function = Type(Kind.FUNCTION, f"{name} ()")
                    return Value.of(function.pointer(), (symbol.value - IRAM_BASE) // 8)
                return Value.at(UNSIGNED, symbol.value, frame.machine)
        hint = ": the program has no debug information"
        if frame.program.has_variables:
            hint = ", or the compiler has removed it: -O0 keeps all of them"
        raise DebuggerError(f"there is no variable {name!r} here{hint}")

    def _type(self) -> Type | None:
        """Take the name of a type; None, and nothing taken, if there is none."""
        start, in_mram = self.next, False
        words: list[str] = []
        while self.token is not None and (self.token in _WORDS or self._continues(words)):
            word = self.take()
            in_mram = in_mram or word == "__mram_ptr"
            if word not in ("const", "volatile", "__mram_ptr"):
                words.append(word)
        type = self._named(words)
        if type is None:
            self.next = start
            return None
        while self.accept("*"):
            type = type.pointer(in_mram=in_mram)
            in_mram = self.accept("__mram_ptr")
        return type

    def _continues(self, words: list[str]) -> bool:
        token = self.token or ""
        if words and words[-1] in ("struct", "union", "enum"):
            return True
        is_name = (token[0].isalpha() or token[0] == "_") and not words
        return is_name and self.frame.find(token) is None and self._named([token]) is not None

    def _named(self, words: list[str]) -> Type | None:
        if not words:
            return None
        if words == ["void"]:
            return VOID
        found = self.frame.program.type_named(" ".join(words))
        return found or _basic(words)

    def _cast(self, type: Type, value: Value) -> Value:
        if not (type.is_number or type.kind is Kind.POINTER):
            raise DebuggerError(f"a value cannot be cast to {type.name}")
        number = value.number() if type.kind is Kind.FLOAT else int(value.number())
        if type.kind is Kind.POINTER and value.type.kind is Kind.ARRAY and type.in_mram:
            number = int(number) - MRAM_BASE
        return Value(type, Value.of(type, number).data, machine=self.frame.machine)


def _basic(words: list[str]) -> Type | None:
    """Return a type by its keywords, also if the program does not have it."""
    if not set(words) <= _WORDS - {"struct", "union", "enum"}:
        return None
    name, is_signed = " ".join(words), "unsigned" not in words
    if "double" in words or "float" in words:
        return Type(Kind.FLOAT, name, 8 if "double" in words else 4, is_signed=True)
    if "char" in words:
        return Type(Kind.CHARACTER, name, 1, is_signed)
    size = 8 if "long" in words else 2 if "short" in words else 4
    return Type(Kind.INTEGER, name, size, is_signed)


def _number(token: str) -> Value:
    digits = token.rstrip("uUlL") if token[:2].lower() == "0x" else token.rstrip("uUlLfF")
    if "." in digits or ("e" in digits.lower() and token[:2].lower() != "0x"):
        return Value.of(Type(Kind.FLOAT, "double", 8, is_signed=True), float(digits))
    is_octal = digits[0] == "0" and digits.isdecimal()
    number = int(digits, 8 if is_octal else 0)
    if number >= 1 << 64:
        raise DebuggerError(f"{token} needs more than 64 bits")
    if number >= 1 << 32 or "l" in token.lower():
        return Value.of(LONG, number)
    return Value.of(UNSIGNED if number >> 31 or "u" in token.lower() else INT, number)


def _promoted(type: Type) -> Type:
    if type.kind is Kind.FLOAT or type.size == 8:
        return type
    return UNSIGNED if type.size == 4 and not type.is_signed and type.kind is Kind.INTEGER else INT


def _common(left: Type, right: Type) -> Type:
    """Return the type that C computes in."""
    floats = [t for t in (left, right) if t.kind is Kind.FLOAT]
    if floats:
        return max(floats, key=lambda type: type.size)
    one, other = _promoted(left), _promoted(right)
    wider = max(one, other, key=lambda type: (type.size, not type.is_signed))
    return wider


def _apply(operator: str, compute: _Compute, left: Value, right: Value) -> Value:
    for first, second in ((left, right), (right, left)):
        target = first.type.target
        if operator in ("+", "-") and first.type.kind in (Kind.POINTER, Kind.ARRAY) and target:
            return _move(operator, first, second, target)
    type = _common(left.type, right.type)
    if operator in _ON_INTEGERS and type.kind is Kind.FLOAT:
        raise DebuggerError(f"{operator} needs integers")
    one = Value.of(type, left.number()).number() if left.type.is_number else left.number()
    other = Value.of(type, right.number()).number() if right.type.is_number else right.number()
    if operator in ("<<", ">>") and not 0 <= int(other) < 64:
        raise DebuggerError("a shift by less than 0 or more than 63 bits")
    result = compute(one, other)
    return Value.of(INT if operator in _COMPARISONS else type, result)


def _move(operator: str, pointer: Value, offset: Value, target: Type) -> Value:
    size = max(1, target.size)
    start = pointer.integer()
    in_mram = pointer.type.in_mram
    if pointer.type.kind is Kind.ARRAY and MRAM_BASE <= start < IRAM_BASE:
        start, in_mram = start - MRAM_BASE, True
    if offset.type.kind in (Kind.POINTER, Kind.ARRAY):
        if operator == "+":
            raise DebuggerError("two pointers cannot be added")
        return Value.of(INT, (start - offset.integer()) // size)
    step = offset.integer() * size * (1 if operator == "+" else -1)
    type = target.pointer(in_mram=in_mram)
    return Value(type, Value.of(type, start + step).data, machine=pointer.machine)
