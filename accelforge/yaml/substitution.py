# SPDX-License-Identifier: BSD-3-Clause
"""Executes templates that only put numbers and text in places, without Jinja2.

To import Jinja2 and to compile a template take longer than the rest of reading a file. Most
templates have no more than ``{{name}}``, arithmetic, ``{% set %}`` with defaults, and loops over
``range()``. What is not certain to mean the same here is left to Jinja2, and so is every error.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from accelforge.expressions import functions
from accelforge.util.budget import Budget, budget

__all__ = ["cost_of_code", "substitute"]

STEPS_OF_CODE = 20
"""The cost of compiling a character within braces."""

MAX_TEXT = 8 << 20

CODE = re.compile(r"\{[{%].*?(?:[}%]\}|\Z)", re.DOTALL)

_TAG = re.compile(r"(\{\{[^{}]*\}\}|\{%[^{}]*%\})")
_LITERAL = r"""-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|"[^"'\\\n]*"|'[^"'\\\n]*'"""
_DEFAULT = re.compile(rf"\s*([A-Za-z_]\w*)\s*\|\s*default\(\s*({_LITERAL})\s*\)\s*", re.ASCII)
_SET = re.compile(r"\{%\s*set\s+([A-Za-z_]\w*)\s*=(?!=)([^%]*)%\}", re.ASCII)
_FOR = re.compile(r"\{%\s*for\s+([A-Za-z_]\w*)\s+in\s+range\(([^%]*)\)\s*%\}", re.ASCII)
_END = re.compile(r"\{%\s*endfor\s*%\}")
# Numbers as both Jinja2 and Python read them.
_ARITHMETIC = re.compile(
    r"(?:\b[A-Za-z_]\w*|\b\d(?:_?\d)*(?:\.\d+)?(?:[eE][+-]?\d+)?\b(?!\.)|[\s+*/()-])*", re.ASCII
)

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: functions.add,
    ast.Sub: operator.sub,
    ast.Mult: functions.multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
# Names that mean something else to Jinja2, or that templates have without a variable.
_RESERVED = frozenset(
    (
        *("true", "false", "none", "True", "False", "None", "self", "super", "loop", "caller"),
        *("and", "or", "not", "in", "is", "if", "else", "range", "dict", "cycler", "joiner"),
        *("namespace", "lipsum", "varargs", "kwargs", "context", "environment", "_"),
        *("add_to_path", "cwd", "find_path", "find_paths", "include", "include_all"),
        *("include_text", "path_exists", "setenv"),
    )
)

Piece = Callable[["_Run"], None]
Term = Callable[[dict[str, Any]], Any]


class _Unknown(Exception):
    """Jinja2 is needed."""


def cost_of_code(source: str) -> int:
    """Count the steps of compiling a template."""
    code = sum(len(match[0]) for match in CODE.finditer(source))
    return code * STEPS_OF_CODE + (len(source) >> 2)


def substitute(source: str, variables: dict[str, Any]) -> str | None:
    """Execute the templates of a text, if this can.

    Parameters
    ----------
    source : str
        The text.
    variables : dict
        What templates can use.

    Returns
    -------
    str, optional
        None if Jinja2 is needed, also to raise an error.
    """
    values = {name: value for name, value in variables.items() if _is_plain(value)}
    if len(values) < len(variables) or "{#" in source or "\r" in source:
        return None
    cost = cost_of_code(source)
    # Jinja2 meets errors again, and says where.
    with budget() as paid:
        if cost > paid.left:
            return None
        try:
            pieces, rest = _compile(_TAG.split(source.removesuffix("\n"))[::-1], False)
        except (_Unknown, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        assert not rest
        run = _Run(values, paid)
        try:
            paid.spend(cost)
            run.execute(pieces)
        except Exception:
            return None
    return "".join(run.parts)


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float, str)


class _Run:
    """An execution of a template.

    Parameters
    ----------
    values : dict
        The variables.
    paid : Budget
        What it is paid from.
    """

    def __init__(self, values: dict[str, Any], paid: Budget) -> None:
        self.values = values
        self.paid = paid
        self.parts: list[str] = []
        self.room = MAX_TEXT

    def execute(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            piece(self)

    def write(self, text: str) -> None:
        self.paid.spend(1 + (len(text) >> 6))
        self.room -= len(text)
        if self.room < 0:
            raise _Unknown
        self.parts.append(text)


def _compile(waiting: list[str], in_loop: bool) -> tuple[list[Piece], list[str]]:
    """Compile what is waiting, the first last, up to the end of the loop that it is in."""
    pieces: list[Piece] = []
    looped = False
    while waiting:
        text = waiting.pop()
        if text.startswith("{{"):
            pieces.append(_output(_term(text[2:-2]), len(text)))
        elif found := _FOR.fullmatch(text):
            pieces.append(_loop(_name(found[1]), _range_of(found[2]), waiting))
            looped = True
        elif _END.fullmatch(text) and in_loop:
            return pieces, waiting
        # Within a loop, a variable is set for the rest of the iteration only. After one, Jinja2 may
        # take it as not defined within that loop.
        elif (found := _SET.fullmatch(text)) and not (in_loop or looped):
            pieces.append(_assignment(_name(found[1]), _term(found[2])))
        # A brace before a tag is its first one to Jinja2.
        elif "{{" in text or "{%" in text or (text.endswith("{") and waiting):
            raise _Unknown
        elif text:
            pieces.append(_plain_text(text))
    if in_loop:
        raise _Unknown
    return pieces, waiting


def _plain_text(text: str) -> Piece:
    return lambda run: run.write(text)


def _output(term: Term, size: int) -> Piece:
    def execute(run: _Run) -> None:
        run.paid.spend(size)
        run.write(str(term(run.values)))

    return execute


def _assignment(name: str, term: Term) -> Piece:
    return lambda run: run.values.update({name: term(run.values)})


def _loop(name: str, bounds: list[Term], waiting: list[str]) -> Piece:
    start = list(waiting)
    body, rest = _compile(waiting, True)
    size = sum(map(len, start[len(rest) :]))

    def execute(run: _Run) -> None:
        known = {name: run.values[name]} if name in run.values else {}
        for value in functions.FUNCTIONS["range"](*(bound(run.values) for bound in bounds)):
            run.paid.spend(4 + (size >> 6))
            run.values[name] = value
            run.execute(body)
        run.values.pop(name, None)
        run.values.update(known)

    return execute


def _range_of(text: str) -> list[Term]:
    return [_term(part) for part in text.split(",")]


def _name(name: str) -> str:
    if name in _RESERVED:
        raise _Unknown
    return name


def _term(text: str) -> Term:
    """Compile an expression."""
    if found := _DEFAULT.fullmatch(text):
        name, value = _name(found[1]), ast.literal_eval(found[2])
        return lambda values: values.get(name, value)
    if not _ARITHMETIC.fullmatch(text):
        raise _Unknown
    return _arithmetic(ast.parse(" ".join(text.split()), mode="eval").body)


def _arithmetic(node: ast.expr) -> Term:
    if isinstance(node, ast.Name):
        name = _name(node.id)
        return operator.itemgetter(name)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        constant = node.value
        return lambda values: constant
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        function = _OPERATORS[type(node.op)]
        left, right = _arithmetic(node.left), _arithmetic(node.right)
        return lambda values: _number(function(_number(left(values)), _number(right(values))))
    raise _Unknown


def _number(value: Any) -> Any:
    if type(value) is str:
        raise _Unknown
    return value
