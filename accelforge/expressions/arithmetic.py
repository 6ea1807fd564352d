# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the text of a field: a number, a name, or an arithmetic expression."""

from __future__ import annotations

import contextlib
import contextvars
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from accelforge.expressions.compiler import Environment, compile_expression, names_in
from accelforge.expressions.functions import FUNCTIONS
from accelforge.util.budget import budget
from accelforge.util.exceptions import EvaluationError
from accelforge.util.literal import LiteralString

__all__ = ["LiteralString", "evaluate", "evaluate_text", "is_literal_string", "user_functions"]


def is_literal_string(value: Any) -> bool:
    """Return whether a value is text that is not evaluated."""
    return isinstance(value, LiteralString)


_user: contextvars.ContextVar[Mapping[str, Callable[..., Any]] | None] = contextvars.ContextVar(
    "accelforge_functions", default=None
)


@contextlib.contextmanager
def user_functions(functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Add functions for the expressions within this context."""
    token = _user.set(functions)
    try:
        yield
    finally:
        _user.reset(token)


def to_number(value: Any) -> Any:
    """Read a number or a truth value; anything else is None.

    Numbers without a fraction become integers, as in 1e9 bits.
    """
    if isinstance(value, str):
        text = value.strip()
        if not text or text[0] not in "+-.0123456789tTfF":
            return None
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        try:
            value = int(text)
        except ValueError:
            try:
                value = float(text)
            except ValueError:
                return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e18:
        return int(value)
    return value if isinstance(value, (bool, int, float)) else None


def evaluate(value: Any, symbols: Mapping[str, Any], explain: bool = True) -> Any:
    """Evaluate the value of a field.

    Numbers are read first, then names of `symbols`, then expressions.

    Parameters
    ----------
    value : object
        Anything but text is its own value.
    symbols : mapping
        The names that expressions see, besides functions.
    explain : bool
        Whether an error needs a text.

    Raises
    ------
    EvaluationError
        The text is not an expression, or its evaluation failed.
    """
    number = to_number(value)
    if number is not None:
        return number
    if not isinstance(value, str):
        return value
    if value in symbols:
        result = symbols[value]
        return LiteralString(result) if type(result) is str else result
    return evaluate_text(value, symbols, explain)


def evaluate_text(text: str, symbols: Mapping[str, Any], explain: bool = True) -> Any:
    """Evaluate an expression; see `evaluate`."""
    extra = _user.get()
    tables = (symbols, FUNCTIONS) if not extra else (symbols, FUNCTIONS, extra)
    try:
        with budget() as paid:
            paid.spend(10)
            result = compile_expression(text)(Environment(*tables))
    except EvaluationError:
        raise
    # Functions of the specification's author may raise any exception.
    except Exception as error:
        raise EvaluationError(_explain(text, error, tables) if explain else text) from error
    return LiteralString(result) if type(result) is str else result


def _explain(text: str, error: BaseException, tables: tuple[Mapping[str, Any], ...]) -> str:
    shown = text if len(text) <= 200 else text[:200] + "..."
    cause = error.msg if isinstance(error, SyntaxError) else str(error)
    message = f'"{shown}" cannot be evaluated: {cause or type(error).__name__}.'
    values = {}
    for name in sorted(names_in(text)):
        found = next((table[name] for table in tables[:1] if name in table), None)
        if isinstance(found, (int, float, str)):
            values[name] = found
    if values:
        message += " It used " + ", ".join(f"{k} = {v!r}" for k, v in values.items()) + "."
    if isinstance(error, NameError):
        import difflib

        names = itertools.chain.from_iterable(tables)
        known = [str(name)[:100] for name in itertools.islice(names, 1000)]
        missing = next((n for n in names_in(text) if f'"{n}"' in cause), "")
        near = difflib.get_close_matches(missing, known, 3)
        message += f" Similar names: {', '.join(near)}." if near else ""
        message += " Put text that is not an expression in quotes, or use LiteralString."
    return message
