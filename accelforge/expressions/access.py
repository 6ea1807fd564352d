# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a value that expressions may access: fields, items, and a few methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from accelforge.util.budget import spend

__all__ = ["attribute", "callable_value", "item", "union_or_set"]

# Methods of builtin types; none of them changes its object or makes a large one.
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        ("startswith", "endswith", "lower", "upper", "strip", "split", "count", "find", "index")
    ),
    dict: frozenset(("get", "keys", "values", "items")),
    list: frozenset(("index", "count")),
    tuple: frozenset(("index", "count")),
    int: frozenset(("bit_length", "real", "imag")),
    float: frozenset(("is_integer", "real", "imag")),
}


def attribute(value: Any, name: str) -> Any:
    """Get the attribute after a dot.

    ``_expression_names`` of a class lists the methods and properties that expressions may use;
    fields of a model are always allowed.
    """
    if name.startswith("_"):
        raise AttributeError(f'"{name}" begins with an underscore, and is private')
    cls = type(value)
    allowed = getattr(cls, "_expression_names", None)
    if allowed is not None and (name in allowed or name in getattr(value, "_field_names", ())):
        return getattr(value, name)
    for base, names in _METHODS.items():
        if issubclass(cls, base) and name in names:
            found = getattr(value, name)
            return _paid(found, value) if callable(found) else found
    raise AttributeError(f'{cls.__name__} has no "{name}" that expressions can use')


def _paid(method: Callable[..., Any], value: Any) -> Callable[..., Any]:
    """Make each call pay for walking through the object and through what it is given."""

    def call(*args: Any) -> Any:
        spend(1 + sum(len(part) >> 4 for part in (value, *args) if hasattr(part, "__len__")))
        return method(*args)

    return call


def item(value: Any, index: Any) -> Any:
    """Get an item of a sequence, a dictionary or a model."""
    if isinstance(value, (list, tuple, str, dict, range)):
        return value[index]
    if hasattr(type(value), "_expression_names"):
        if isinstance(index, str) and index.startswith("_"):
            raise KeyError(f'"{index}" begins with an underscore, and is private')
        return value[index]
    raise TypeError(f"{type(value).__name__} has no items")


def callable_value(value: Any) -> Callable[..., Any]:
    """Make sure that a value is callable, and not a class except one of numbers or sequences."""
    if isinstance(value, type) and value not in (
        bool,
        enumerate,
        float,
        int,
        list,
        map,
        str,
        tuple,
        zip,
    ):
        raise TypeError(f"{value.__name__} is a class, which expressions cannot call")
    if not callable(value):
        raise TypeError(f"{type(value).__name__} is not a function")
    return value  # type: ignore[no-any-return]


def union_or_set(items: list[Any]) -> Any:
    """Make a set; of sets of a specification, their union."""
    if items and all(hasattr(item, "full_space") for item in items):
        return reduce(or_, items)
    return set(items)
