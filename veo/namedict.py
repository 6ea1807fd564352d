# SPDX-License-Identifier: BSD-3-Clause
"""Dictionaries whose keys are names, looked up as str or as bytes."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["NameDict"]


def _name(key: Any) -> Any:
    return os.fsdecode(key) if isinstance(key, bytes) else key


class NameDict(dict[str, Any]):
    """A dict that treats ``b"x"`` as ``"x"``; its keys are str."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_name(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_name(key), value)

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(_name(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_name(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_name(key), default)

    def pop(self, key: Any, *default: Any) -> Any:
        return super().pop(_name(key), *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return super().setdefault(_name(key), default)

    def update(self, *args: Any, **kwargs: Any) -> None:
        super().update({_name(key): value for key, value in dict(*args, **kwargs).items()})
