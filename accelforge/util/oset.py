# SPDX-License-Identifier: BSD-3-Clause
"""A set that is always walked through in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["fzs", "oset"]

T = TypeVar("T")


def _in_order(items: Iterable[T]) -> Iterator[T]:
    found: list[Any] = list(items)
    try:
        # Sets compare by what they contain, which puts most of them in no order.
        if not any(isinstance(item, (set, frozenset)) for item in found):
            return iter(sorted(found))
    except TypeError:
        pass
    return iter(sorted(found, key=_text))


def _text(item: Any) -> tuple[str, str]:
    """Return what stands for a member that does not compare; 1 and "1" have the same text."""
    is_set = isinstance(item, (set, frozenset))
    return str(sorted(map(_text, item)) if is_set else item), type(item).__name__


class oset(set[T]):
    """A set that is walked through in the order of its members."""

    def __iter__(self) -> Iterator[T]:
        return _in_order(set.__iter__(self))

    def __repr__(self) -> str:
        return "{" + ", ".join(repr(item) for item in self) + "}"


class fzs(frozenset[T]):
    """A frozen set that is walked through in the order of its members."""

    def __iter__(self) -> Iterator[T]:
        return _in_order(frozenset.__iter__(self))

    def __repr__(self) -> str:
        return "{" + ", ".join(repr(item) for item in self) + "}"
