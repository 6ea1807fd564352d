# SPDX-License-Identifier: BSD-3-Clause
"""Lists and dictionaries of a specification."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, SupportsIndex, TypeVar, overload

__all__ = ["EvalableDict", "EvalableList"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def _name(item: Any) -> Any:
    return item.get("name") if isinstance(item, dict) else getattr(item, "name", None)


class EvalableList(list[T], Generic[T]):
    """A list whose items can also be found by their ``name``."""

    _expression_names: ClassVar[frozenset[str]] = frozenset(("index", "count"))

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> EvalableList[T]: ...
    def __getitem__(self, key: Any) -> Any:
        """Get an item by number or by name."""
        if isinstance(key, slice):
            return type(self)(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [item for item in self if _name(item) == key]
        if len(found) > 1:
            raise ValueError(f'{len(found)} items have the name "{key}"')
        if not found:
            names = ", ".join(str(_name(item)) for item in self if _name(item) is not None)
            raise KeyError(f'no item has the name "{key}"; there are: {names or "none"}')
        return found[0]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and any(_name(item) == key for item in self):
            return True
        return super().__contains__(key)

    def get_by_name(self, name: str, default: Any = None) -> Any:
        """Get the first item that has a name, or `default`."""
        return next((item for item in self if _name(item) == name), default)


class EvalableDict(dict[K, V], Generic[K, V]):
    """A dictionary whose values are evaluated."""
