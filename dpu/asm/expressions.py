# SPDX-License-Identifier: BSD-3-Clause
"""Tokens and expressions.

An expression is an int, or a tuple that starts with its kind: ``("symbol", name, column)``,
``("here", section, offset)``, ``("unary", operator, x)`` or ``("binary", operator, x, y)``. Its
value is a `Value`: a number, and the section that the number is relative to until the section is
placed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "Expression",
    "ExpressionError",
    "Parser",
    "Token",
    "Unknown",
    "Value",
    "evaluate",
    "tokenize",
    "unescape",
]

Expression = int | tuple[Any, ...]

# Numbers do not wrap here; no program needs larger ones than this.
_BIGGEST = 1 << 80
_DEEPEST = 100

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+(?![\w])|\d+[bf](?![\w])|\d+(?![\w.]))
    | (?P<name>[A-Za-z_.$\x80-\U0010ffff][\w.$\x80-\U0010ffff]*)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<char>'(?:[^'\\]|\\.[0-7]{0,2}|\\x[0-9a-fA-F]{2})'?)
    | (?P<operator><<|>>|<=|>=|==|!=|<>|&&|\|\||[-+*/%&|^~!()<>,=?@:\[\]{}\\#])
    )""",
    re.VERBOSE,
)

_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda x, y: int(bool(x or y))),
    "&&": (2, lambda x, y: int(bool(x and y))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda x, y: int(x == y)),
    "!=": (6, lambda x, y: int(x != y)),
    "<>": (6, lambda x, y: int(x != y)),
    "<": (7, lambda x, y: int(x < y)),
    ">": (7, lambda x, y: int(x > y)),
    "<=": (7, lambda x, y: int(x <= y)),
    ">=": (7, lambda x, y: int(x >= y)),
    "<<": (8, operator.lshift),
    ">>": (8, operator.rshift),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)),
    "%": (10, lambda x, y: abs(x) % abs(y) * (-1 if x < 0 else 1)),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda x: int(not x),
}
_ESCAPES = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "a": 7, "e": 27}


class ExpressionError(ValueError):
    """An expression is invalid or has no value; `column` is 0 if it is unknown."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.column = column


class Unknown(ExpressionError):
    """A symbol has no value (yet)."""

    def __init__(self, name: str, column: int = 0) -> None:
        super().__init__(f"undefined symbol {name!r}", column)
        self.name = name


class Token(NamedTuple):
    """A token of a statement; columns count from 1."""

    kind: str
    text: str
    column: int
    end: int


class Value(NamedTuple):
    """A number, relative to the start of a section unless that is None."""

    number: int
    section: object = None


def tokenize(text: str, first_column: int = 1) -> list[Token]:
    """Split a statement into tokens."""
    tokens = []
    position, end = 0, len(text)
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            break
        kind = match.lastgroup
        assert kind is not None
        start = match.start(kind)
        position = match.end()
        tokens.append(Token(kind, match[kind], start + first_column, position + first_column))

    rest = text[position:].lstrip()
    if rest:
        column = end - len(rest) + first_column
        if rest[0] in "\"'":
            raise ExpressionError(f"missing closing {rest[0]}", column)
        if rest[0].isdigit():
            word = re.match(r"[\w.]+", rest)
            raise ExpressionError(f"{word[0] if word else rest[0]!r} is not a number", column)
        raise ExpressionError(f"{rest[0]!r} means nothing here", column)

    return tokens


def unescape(text: str, column: int = 0) -> bytes:
    """Return the bytes of a quoted string."""
    if "\\" not in text:
        return text.encode("utf-8", "surrogateescape")
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i] != "\\":
            out += text[i].encode("utf-8", "surrogateescape")
            i += 1
            continue
        i += 1
        octal = re.compile(r"[0-7]{1,3}").match(text, i)
        hexadecimal = re.compile(r"[xX][0-9a-fA-F]+").match(text, i)
        if octal:
            out.append(int(octal[0], 8) & 0xFF)
            i = octal.end()
        elif hexadecimal:
            out.append(int(hexadecimal[0][1:], 16) & 0xFF)
            i = hexadecimal.end()
        elif i < len(text) and text[i] in _ESCAPES:
            out.append(_ESCAPES[text[i]])
            i += 1
        elif i < len(text):
            out += text[i].encode("utf-8", "surrogateescape")
            i += 1
        else:
            raise ExpressionError("a string ends after a backslash", column)

    return bytes(out)


class Parser:
    """Reads expressions from tokens.

    Parameters
    ----------
    tokens : list of Token
        A statement, or the rest of one.
    here : callable
        Returns the expression of ``.``.
    local : callable
        Returns the symbol of ``1b`` or ``1f``.
    symbol : callable
        Returns the expression of a symbol, given its name and column.
    """

    def __init__(
        self,
        tokens: list[Token],
        here: Callable[[], Expression],
        local: Callable[[str, int], str],
        symbol: Callable[[str, int], Expression],
    ) -> None:
        self.tokens = tokens
        self.at = 0
        self.here = here
        self.local = local
        self.symbol = symbol
        self.depth = 0

    @property
    def column(self) -> int:
        """Column of the next token, or after the last one."""
        if self.at < len(self.tokens):
            return self.tokens[self.at].column
        return self.tokens[-1].end if self.tokens else 0

    def peek(self) -> str:
        """Return the text of the next token, empty at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self) -> Token:
        """Consume the next token."""
        if self.at >= len(self.tokens):
            raise ExpressionError("something is missing at the end", self.column)
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, text: str) -> bool:
        """Consume the next token if it has a text; return whether it has."""
        if self.peek() != text or self.tokens[self.at].kind == "string":
            return False
        self.at += 1
        return True

    def done(self) -> bool:
        """Tell whether all tokens are consumed."""
        return self.at >= len(self.tokens)

    def expression(self, level: int = 1) -> Expression:
        """Parse an expression."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ExpressionError("this expression is nested too deeply", self.column)
        left = self._operand()
        while not self.done():
            token = self.tokens[self.at]
            if token.kind != "operator" or token.text not in _BINARY:
                break
            precedence = _BINARY[token.text][0]
            if precedence < level:
                break
            self.at += 1
            right = self.expression(precedence + 1)
            if isinstance(left, int) and isinstance(right, int):
                left = _compute(token.text, left, right, token.column)
            else:
                left = ("binary", token.text, left, right, token.column)

        self.depth -= 1
        return left

    def _operand(self) -> Expression:
        if self.done():
            raise ExpressionError("an operand is missing", self.column)
        kind, text, column, _ = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            if text[-1] in "bf" and text[:2].lower() != "0x":
                return ("symbol", self.local(text, column), column)
            return _number(text, column)

        if kind == "name":
            if text == ".":
                return self.here()
            return self.symbol(text, column)

        if kind == "char":
            body = text[1:]
            if body.endswith("'") and len(body) > 1:
                body = body[:-1]
            value = unescape(body, column)
            return int.from_bytes(value[:4], "little")

        if kind == "string":
            # Any text in quotes is a name.
            name = unescape(text[1:-1], column).decode("utf-8", "surrogateescape")
            return self.symbol(name, column)

        if text == "(":
            inner = self.expression()
            if not self.accept(")"):
                raise ExpressionError("a closing parenthesis is missing", self.column)
            return inner

        if text in _UNARY:
            self.depth += 1
            if self.depth > _DEEPEST:
                raise ExpressionError("this expression is nested too deeply", column)
            x = self._operand()
            self.depth -= 1
            return _UNARY[text](x) if isinstance(x, int) else ("unary", text, x, column)

        raise ExpressionError(f"{text!r} cannot begin an operand", column)


def _number(text: str, column: int) -> int:
    try:
        if len(text) > 1 and text[0] == "0" and text[1].isdigit():
            value = int(text, 8)
        else:
            value = int(text, 0)
    except ValueError:
        raise ExpressionError(f"{text!r} is not a number", column) from None
    if value > _BIGGEST:
        raise ExpressionError(f"{text} is too big", column)
    return value


def _compute(name: str, x: int, y: int, column: int) -> int:
    if name in ("/", "%") and y == 0:
        raise ExpressionError("division by zero", column)
    if name in ("<<", ">>") and not 0 <= y < 64:
        raise ExpressionError(f"{y} is not a valid shift count", column)
    result = _BINARY[name][1](x, y)
    if abs(result) > _BIGGEST:
        raise ExpressionError("value too large", column)
    return result


def evaluate(expression: Expression, resolve: Callable[[str, int], Value]) -> Value:
    """Evaluate an expression.

    Parameters
    ----------
    expression : Expression
        From `Parser.expression`.
    resolve : callable
        Returns the value of a symbol given its name and column; raises `Unknown` if it has none.
    """
    if isinstance(expression, int):
        return Value(expression)
    kind = expression[0]
    if kind == "symbol":
        return resolve(expression[1], expression[2])
    if kind == "here":
        section, offset = expression[1:]
        value: Value = section.value_at(offset)
        return value

    if kind == "unary":
        _, name, inner, column = expression
        number, base = evaluate(inner, resolve)
        if base is not None:
            raise ExpressionError(f"{name!r} needs a number and not an address", column)
        return Value(_UNARY[name](number))

    _, name, left, right, column = expression
    (x, x_base), (y, y_base) = evaluate(left, resolve), evaluate(right, resolve)
    if name == "+" and (x_base is None or y_base is None):
        return Value(x + y, x_base if y_base is None else y_base)
    if name == "-" and y_base is None:
        return Value(x - y, x_base)
    if x_base is not y_base:
        raise ExpressionError(f"{name!r} needs numbers, or addresses in one section", column)
    if x_base is not None and _BINARY[name][0] not in (6, 7) and name != "-":
        raise ExpressionError(f"{name!r} needs numbers and not addresses", column)
    return Value(_compute(name, x, y, column))
