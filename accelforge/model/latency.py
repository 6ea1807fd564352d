# SPDX-License-Identifier: BSD-3-Clause
"""Translates expressions for ``total_latency`` into the engine's formulas.

The expression is evaluated once with terms in place of the counts of actions; what a term
remembers, a postfix list of numbers and words, is the translation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, ClassVar

from accelforge.expressions import FUNCTIONS, evaluate_text
from accelforge.expressions.arithmetic import to_number
from accelforge.expressions.compiler import names_in
from accelforge.fields import EvalableList
from accelforge.frontend.arch.component import DEFAULT_LATENCY, Component
from accelforge.util.exceptions import EvaluationError

__all__ = ["translate_latency"]


def _operator(word: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """Make an operator of terms that appends to the list."""

    def apply(self: Any, other: Any) -> Any:
        if swapped and word == "+" and type(other) is int and other == 0:
            # A sum begins with 0.
            return self
        left, right = (other, self) if swapped else (self, other)
        return _Term([*_postfix(left), *_postfix(right), word])

    return apply


class _Term:
    """A number that the engine will know, or something computed from such numbers."""

    __slots__ = ("postfix",)

    def __init__(self, postfix: list[Any]) -> None:
        self.postfix = postfix

    __add__ = _operator("+")
    __radd__ = _operator("+", swapped=True)
    __sub__ = _operator("-")
    __rsub__ = _operator("-", swapped=True)
    __mul__ = _operator("*")
    __rmul__ = _operator("*", swapped=True)
    __truediv__ = _operator("/")
    __rtruediv__ = _operator("/", swapped=True)
    __floordiv__ = _operator("floordiv")
    __rfloordiv__ = _operator("floordiv", swapped=True)
    __mod__ = _operator("mod")
    __rmod__ = _operator("mod", swapped=True)
    __pow__ = _operator("pow")
    __rpow__ = _operator("pow", swapped=True)

    def __neg__(self) -> _Term:
        return _Term([*self.postfix, "neg"])

    def __pos__(self) -> _Term:
        return self

    def __abs__(self) -> _Term:
        return _Term([*self.postfix, "abs"])

    def _refuse(self, other: Any = None) -> Any:
        raise TypeError(
            "the counts of actions are not known before a mapping is evaluated, so they cannot be "
            "compared; use min() and max()"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __eq__ = __ne__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _postfix(value: Any) -> list[Any]:
    if isinstance(value, _Term):
        return value.postfix
    if not isinstance(value, (int, float)):
        raise TypeError(f"{type(value).__name__} is not a number")
    if not isfinite(value):
        raise TypeError(f"{value} is not finite")
    return [float(value)]


class _Action:
    """An action as expressions see it."""

    _expression_names: ClassVar[frozenset[str]] = frozenset(
        ("n_calls", "energy", "throughput", "latency", "name")
    )

    def __init__(self, action: Any) -> None:
        self.name = action.name
        self.n_calls = _Term([["calls", action.name]])
        self.energy = _Term([["energy", action.name]])
        self.throughput = _Term([["throughput", action.name]])
        self._action = action
        self._field_names = action._field_names

    @property
    def latency(self) -> Any:
        """Seconds of one action."""
        return 1 / self.throughput

    def __getattr__(self, name: str) -> Any:
        return getattr(self._action, name)


def _folded(word: str, plain: Callable[[Any], Any]) -> Callable[..., Any]:
    """Make ``max`` and its like, for numbers and terms, given one by one or as a list."""

    def fold(*args: Any) -> Any:
        single = len(args) == 1 and isinstance(args[0], Iterable)
        items: list[Any] = list(args[0] if single else args)
        if not any(isinstance(item, _Term) for item in items):
            return plain(items)
        return functools.reduce(lambda a, b: _Term([*_postfix(a), *_postfix(b), word]), items)

    return fold


def _applied(name: str) -> Callable[[Any], Any]:
    """Make a function of one number or term."""

    def apply(value: Any) -> Any:
        if isinstance(value, _Term):
            return _Term([*value.postfix, name])
        return FUNCTIONS[name](value)

    return apply


_TERM_FUNCTIONS: dict[str, Any] = {
    "max": _folded("max", max),
    "min": _folded("min", min),
    "sum": _folded("+", sum),
    **{name: _applied(name) for name in ("abs", "ceil", "floor", "sqrt", "exp", "log")},
}

# Translations of expressions that use nothing but these names.
_CACHEABLE = frozenset((*_TERM_FUNCTIONS, "actions", "a", "n_calls", "throughput", "for", "in"))
_cache: dict[tuple[str, tuple[str, ...]], list[Any]] = {}


def translate_latency(component: Component, symbols: dict[str, Any]) -> list[Any] | None:
    """Translate the expression of a component.

    Parameters
    ----------
    component : Component
        Evaluated.
    symbols : dict
        What the expression can use besides the fields of the component.

    Returns
    -------
    list or None
        Numbers, words, and ``["calls", action]`` and its like; None stands for the sum over the
        actions of calls divided by throughput.
    """
    text = component.total_latency
    if text == DEFAULT_LATENCY:
        return None
    number = to_number(text)
    if number is not None and isfinite(number):
        return [float(number)]
    key = (str(text), tuple(action.name for action in component.actions))
    if key in _cache:
        return list(_cache[key])
    scope = {**symbols, **component.shallow_model_dump(include_None=True), **_TERM_FUNCTIONS}
    scope["actions"] = EvalableList(_Action(action) for action in component.actions)
    for action in scope["actions"]:
        # Names that specifications of accelforge 1.0 before May 2026 use.
        scope.setdefault(f"{action.name}_actions", action.n_calls)
        scope.setdefault(f"{action.name}_latency", action.n_calls * action.latency)
    try:
        postfix = list(_postfix(evaluate_text(str(text), scope)))
    except (EvaluationError, TypeError) as error:
        if not isinstance(error, EvaluationError):
            error = EvaluationError(f'"{text}" is not a number of seconds: {error}')
        for part in ("total_latency", component.name, "nodes"):
            error.add_field(part)
        error.locate(component._place)
        raise error from None

    if names_in(str(text)) <= _CACHEABLE and len(_cache) < 1000:
        _cache[key] = list(postfix)
    return postfix
