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
        found.sort()
    except TypeError:
        found.sort(key=str)
    return iter(found)


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
