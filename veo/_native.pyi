# SPDX-License-Identifier: BSD-3-Clause
import os
from typing import Any, NoReturn, SupportsIndex

from typing_extensions import disjoint_base

__all__ = ["Library", "library_info", "use_library"]

@disjoint_base
class Library:
    path: str
    kind: str
    found_via: str
    version: str
    api_version: int
    missing: tuple[str, ...]
    refused: tuple[Any, ...]
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn: ...
    @property
    def is_soft(self) -> bool: ...
    @property
    def devices(self) -> list[int]: ...

_LibraryLike = str | os.PathLike[str] | Library

def use_library(library: _LibraryLike) -> Library: ...
def library_info(library: _LibraryLike | None = None) -> dict[str, Any]: ...
